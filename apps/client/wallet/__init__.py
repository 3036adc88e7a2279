"""An operator's side of the seamless wallet: a small wallet to run and to read, and a check of any other one.

``python -m apps.client.wallet.server`` is the reference; ``sealdeck-wallet-check`` tries every cell of the rollback
matrix on a wallet.  Neither knows anything of the server but its protocol.  Source: docs/operators/seamless-wallet.md.
"""
