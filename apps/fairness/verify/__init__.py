"""``sealdeck-verify``: the command with which anybody checks rounds and the public log.

Protocol: docs/fairness/protocol.md, sections 11 to 13.  Needs no Django and no server: Python and cryptography are
enough.  Everything that decides is in ``apps.fairness.protocol``; here are only files, addresses, processes and words.
"""
