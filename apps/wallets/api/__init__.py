"""Routes of the transfer wallet, balances and daily files."""
