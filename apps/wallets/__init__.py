"""The double-entry ledger: accounts, transactions, entries, holds.  The only code that moves money.

Rules L1 to L15 and invariants I1 to I19: docs/auditors/ledger.md.
"""
