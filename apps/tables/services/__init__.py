"""What can be done at a table, one module per noun: tables, seats, rounds (their life), play (their moves)."""
