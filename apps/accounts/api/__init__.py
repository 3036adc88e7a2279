"""HTTP edge of accounts: who calls, what he may do, and the routes of players, sessions and keys."""
