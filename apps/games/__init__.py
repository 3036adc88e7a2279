"""The games: one contract, one registry, one pure rules package per game."""
