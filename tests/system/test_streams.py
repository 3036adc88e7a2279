"""A hundred open streams: every message at every follower once and in order; one that does not read harms nobody."""

from __future__ import annotations

import asyncio
import socket
from urllib.parse import urlsplit

import httpx

from apps.client.operator import OperatorClient
from tools.load import Site, arguments_read
from tools.load_streams import short_of, streams
from tools.stack import Stack

STREAMS = 100


def silent_follower(stack: Stack) -> socket.socket:
    """Return the connection of a stream whose reader has stopped reading."""
    with OperatorClient(stack.url, stack.demo["api_key"]) as operator:
        table = operator.tables()["tables"][0]["id"]
    headers = {"Authorization": f"Bearer {stack.demo['api_key']}"}
    answer = httpx.get(f"{stack.url}/v1/tables/{table}/stream", headers=headers, follow_redirects=False)
    address = urlsplit(answer.headers["location"])
    connection = socket.create_connection((str(address.hostname), int(address.port or 80)))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.sendall(f"GET {address.path}?{address.query} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
    return connection


class TestStreams:
    def test_a_hundred_followers_get_every_message_once_and_in_order(self, stack: Stack) -> None:
        options = arguments_read(["--streams", str(STREAMS), "--tables", "2", "--seats", "3", "--seconds", "5"])
        silent = [silent_follower(stack) for _ in range(3)]
        try:
            followers = asyncio.run(streams(Site(stack.url, stack.demo["api_key"]), options))
        finally:
            for connection in silent:
                connection.close()
        assert len(followers) == STREAMS
        assert [follower.ended for follower in followers if follower.ended] == []
        assert all(follower.entries for follower in followers)
        assert sum(follower.disorder for follower in followers) == 0
        assert short_of(followers) == 0
