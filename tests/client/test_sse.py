"""Reading Server-Sent Events from chunks that are cut anywhere."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.client import sse
from apps.client.errors import StreamInvalid
from apps.client.sse import EventParser, ServerEvent

STREAM = (
    "\ufeff: hello\r\n"
    'id: 1.0.0\r\nevent: table\r\ndata: {"a":1}\r\n\r\n'
    "data: one\rdata: zwei ü ♠\r\r"
    "id: 2\ndata\n\n"
    ": still here\n\n"
    "retry: 1500\nunknown: x\nid: bad\0id\ndata:  two spaces\n\n"
    "event: lost\n\n"
    "data: unfinished\n"
).encode()
EVENTS = [
    ServerEvent("1.0.0", "table", '{"a":1}'),
    ServerEvent("1.0.0", "message", "one\nzwei ü ♠"),
    ServerEvent("2", "message", ""),
    ServerEvent("2", "message", " two spaces"),
]


def parsed(*chunks: bytes) -> list[ServerEvent]:
    """Return the events of a stream that arrives in these chunks."""
    parser = EventParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


class TestEventParser:
    def test_reads_every_form_of_the_standard(self) -> None:
        parser = EventParser()
        assert list(parser.feed(STREAM)) == EVENTS
        assert parser.retry_ms == 1500

    def test_reads_the_same_from_single_bytes(self) -> None:
        assert parsed(*(STREAM[i : i + 1] for i in range(len(STREAM)))) == EVENTS

    @given(st.lists(st.integers(0, len(STREAM)), max_size=6))
    def test_reads_the_same_however_the_bytes_are_cut(self, cuts: list[int]) -> None:
        edges = [0, *sorted(cuts), len(STREAM)]
        assert parsed(*(STREAM[a:b] for a, b in itertools.pairwise(edges))) == EVENTS

    def test_ends_an_event_without_an_end(self) -> None:
        with pytest.raises(StreamInvalid):
            parsed(b"data: " + b"x" * (sse.EVENT_MAX_BYTES + 1))
        lines = b"data: " + b"x" * 1_000_000 + b"\n"
        with pytest.raises(StreamInvalid):
            parsed(*[lines] * 6)

    def test_refuses_what_is_not_utf_8(self) -> None:
        with pytest.raises(StreamInvalid):
            parsed(b"data: \xff\n\n")
