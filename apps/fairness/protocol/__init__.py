"""The sealdeck/1 protocol, pure: bytes in, bytes or a verdict out.

Knows no Django, clock, database or random source.
"""
