"""Python client of the REST API: what bots, tests, load generators and integrators use.

``operator`` is for a platform's back end, ``player`` for a player's side, ``streams`` follows a table, ``seat`` makes a
seat's contribution, ``logview`` and ``witness`` check what the server shows, ``webhooks`` checks what it sends.  Needs
httpx and cryptography; knows no Django and nothing of the server but its public API.

Source: docs/operators/README.md.
"""
