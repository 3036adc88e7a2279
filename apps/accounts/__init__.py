"""Operators, their API keys and scopes; players, player sessions, limits and exclusions.

Source: docs/operators/README.md.  Never moves money and never knows a table or a round.
"""
