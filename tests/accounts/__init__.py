"""Tests of operators, keys, players, sessions, limits and exclusions."""
