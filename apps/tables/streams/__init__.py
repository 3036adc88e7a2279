"""Following a table: Server-Sent Events and long polls, an ASGI application in a process of its own.

``app`` speaks HTTP, ``tails`` shares one table's news between its followers, ``reading`` asks PostgreSQL.
"""
