"""``sealdeck-witness``: the command with which a regulator, a club or a player cosigns the checkpoints of public logs.

Protocol: docs/fairness/protocol.md, section 11 (C2SP tlog-witness and tlog-cosignature v1).  Needs no Django and no
server of ours: Python and cryptography are enough.  Never cosigns a tree that is smaller than, or inconsistent with,
one that it cosigned before.
"""
