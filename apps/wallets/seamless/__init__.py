"""The seamless wallet: the players' money stays with the operator, and single stakes are fetched and given back.

A stake is fetched by a ``bet`` when a player gets ready and ends with exactly one ``win`` (0 for who lost) or
``rollback``.  In between it is money like any other of this ledger.  Source: docs/operators/seamless-wallet.md; why so:
docs/adr/0004-one-stake-one-row.md.
"""
