"""Following a table over connections that break: every message once, in order."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from apps.client.calls import Retries
from apps.client.errors import ApiError, StreamInvalid, StreamLost
from apps.client.player import AsyncPlayerClient, PlayerClient
from apps.client.streams import Message, follow, follow_async, poll
from tests.client.server import Reply, Seen, serving

MESSAGES: list[dict[str, Any]] = [
    {"type": "table", "table": {}},
    *({"type": "entry", "seq": seq, "entry": {}} for seq in range(6)),
]
FAST = Retries(attempts_max=4, wait_first_s=0.001, wait_max_s=0.002)


def events(seen: Seen, most: int = 100) -> bytes:
    """Return the stream from the cursor that was asked for."""
    after = parse_qs(urlsplit(seen.target).query).get("after", ["0"])[0]
    told = b": still here\n\n"
    for number in range(int(after), min(int(after) + most, len(MESSAGES))):
        message = MESSAGES[number]
        told += f"id: {number + 1}\nevent: {message['type']}\ndata: {json.dumps(message)}\n\n".encode()
    return told


def stream(seen: Seen) -> Reply:
    """Answer with two messages and end."""
    return Reply(200, events(seen, 2), {"Content-Type": "text/event-stream"})


def broken(seen: Seen) -> Reply:
    """Answer with one message and half of the next, and break off."""
    first, both = events(seen, 1), events(seen, 2)
    return Reply(200, both[: (len(first) + len(both)) // 2], {"Content-Type": "text/event-stream"}, cut=True)


def problem(status: int, code: str) -> Reply:
    """Return a problem document."""
    return Reply(status, json.dumps({"code": code}).encode(), {"Content-Type": "application/problem+json"})


class TestFollow:
    @pytest.mark.parametrize("served", [stream, broken])
    def test_goes_on_where_the_connection_broke(self, served: Any) -> None:
        with serving(served) as script, PlayerClient(script.url, "pt_x") as client:
            told = list(itertools.islice(follow(client, "t", retries=FAST), len(MESSAGES)))
        assert [message.data for message in told] == MESSAGES
        assert [message.cursor for message in told] == [str(n + 1) for n in range(len(MESSAGES))]
        assert len(script.seen) > 1
        assert script.seen[0].headers["authorization"] == "Bearer pt_x"
        assert script.seen[0].headers["accept"] == "text/event-stream"

    def test_begins_after_a_cursor(self) -> None:
        with serving(stream) as script, PlayerClient(script.url, "pt_x") as client:
            assert next(follow(client, "t", after="5")).data == MESSAGES[5]
        assert script.seen[0].target == "/v1/tables/t/stream?after=5"

    def test_follows_the_redirect_without_credentials(self) -> None:
        with serving(stream) as streaming:
            to = Reply(307, b"", {"Location": f"{streaming.url}/v1/tables/t/stream?ticket=x&after=3"})
            with serving(to) as api, PlayerClient(api.url, "pt_x") as client:
                assert next(follow(client, "t", after="3")).data == MESSAGES[3]
        assert "authorization" not in streaming.seen[0].headers
        assert len(api.seen) == len(streaming.seen) == 1

    @pytest.mark.parametrize("first", [Reply(0), problem(503, "streams_full"), problem(429, "rate_limited")])
    def test_waits_for_a_server_that_is_busy_or_away(self, first: Reply) -> None:
        with serving(first, first, stream) as script, PlayerClient(script.url, "pt_x") as client:
            assert next(follow(client, "t", retries=FAST)).type == "table"
        assert len(script.seen) == 3

    @pytest.mark.parametrize(
        "refusal", [problem(403, "spectators_not_allowed"), problem(404, "x"), problem(401, "token_invalid")]
    )
    def test_stops_where_it_is_refused(self, refusal: Reply) -> None:
        with serving(refusal) as script, PlayerClient(script.url, "pt_x") as client, pytest.raises(ApiError):
            next(follow(client, "t", retries=FAST))
        assert len(script.seen) == 1

    def test_gives_up_in_the_end(self) -> None:
        with serving(Reply(0)) as script, PlayerClient(script.url, "pt_x") as client, pytest.raises(StreamLost):
            next(follow(client, "t", retries=FAST))
        assert len(script.seen) == FAST.attempts_max

    def test_gives_up_on_a_stream_that_never_says_anything(self) -> None:
        empty = Reply(200, b": hello\n\n", {"Content-Type": "text/event-stream"})
        with serving(empty) as script, PlayerClient(script.url, "pt_x") as client, pytest.raises(StreamLost):
            next(follow(client, "t", retries=FAST))
        assert len(script.seen) == FAST.attempts_max

    @pytest.mark.parametrize("data", [b"x", b"[]", b'{"seq":1}'])
    def test_refuses_what_is_no_message(self, data: bytes) -> None:
        reply = Reply(200, b"data: " + data + b"\n\n", {"Content-Type": "text/event-stream"})
        with serving(reply) as script, PlayerClient(script.url, "pt_x") as client, pytest.raises(StreamInvalid):
            next(follow(client, "t", retries=FAST))

    def test_is_the_same_as_coroutine(self) -> None:
        async def first(told: AsyncIterator[Message], count: int) -> list[Message]:
            found = []
            async for message in told:
                found.append(message)
                if len(found) == count:
                    break
            return found

        async def run(url: str) -> list[Message]:
            async with AsyncPlayerClient(url, "pt_x") as client:
                return await first(follow_async(client, "t", retries=FAST), len(MESSAGES))

        with serving(Reply(0), broken) as script:
            assert [message.data for message in asyncio.run(run(script.url))] == MESSAGES


class TestPoll:
    def test_asks_again_from_the_next_cursor(self) -> None:
        answers = [
            {"messages": MESSAGES[:2], "next": "2"},
            {"messages": [], "next": "2"},
            {"messages": MESSAGES[2:3], "next": "3"},
        ]
        replies = [Reply(200, json.dumps(answer).encode()) for answer in answers]
        with serving(*replies) as script, PlayerClient(script.url, "pt_x", retries=FAST) as client:
            told = list(itertools.islice(poll(client, "t", wait_s=1), 3))
        assert [message.data for message in told] == MESSAGES[:3]
        # Whoever stops within an answer goes on from its beginning.
        assert [message.cursor for message in told] == ["", "2", "3"]
        assert [seen.target for seen in script.seen] == [
            "/v1/tables/t/events?wait=1",
            "/v1/tables/t/events?after=2&wait=1",
            "/v1/tables/t/events?after=2&wait=1",
        ]
