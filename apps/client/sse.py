"""Reading Server-Sent Events out of bytes as they arrive.

Follows the event stream format of the HTML standard: any line ending, comments, fields in any order, chunks cut
anywhere.  Never reads a network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from apps.client.errors import StreamInvalid

EVENT_MAX_BYTES = 4 * 1024 * 1024
"""An event, or a line, that is longer ends the stream."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event; ``id`` is that of the stream so far, to go on from."""

    id: str
    event: str
    data: str


class EventParser:
    """Turns bytes into events."""

    def __init__(self) -> None:
        self.retry_ms: int | None = None
        """How long to wait before connecting again, if the server said so."""
        self._rest = b""
        self._is_first = True
        self._ends_in_cr = False
        self._size = 0
        self._id = ""
        self._event = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Give the events that are complete with this chunk.

        Raises:
            StreamInvalid: an event is longer than EVENT_MAX_BYTES, or is not UTF-8.
        """
        if self._ends_in_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # The second half of a CR LF that was cut in two.
        if chunk:
            self._ends_in_cr = chunk.endswith(b"\r")
        data = self._rest + chunk
        if self._is_first and len(data) >= 3:
            data = data.removeprefix(b"\xef\xbb\xbf")
            self._is_first = False
        *lines, self._rest = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        if len(self._rest) > EVENT_MAX_BYTES:
            raise StreamInvalid("a line of the stream is too long")
        for line in lines:
            event = self._line(line)
            if event is not None:
                yield event

    def _line(self, line: bytes) -> ServerEvent | None:
        if not line:
            return self._dispatched()
        self._size += len(line)
        if self._size > EVENT_MAX_BYTES:
            raise StreamInvalid("an event of the stream is too long")
        try:
            name, _, value = line.decode().partition(":")
        except UnicodeDecodeError:
            raise StreamInvalid("the stream is not UTF-8") from None
        value = value.removeprefix(" ")
        match name:
            case "data":
                self._data.append(value)
            case "event":
                self._event = value
            case "id" if "\0" not in value:
                self._id = value
            case "retry" if value.isascii() and value.isdigit() and len(value) <= 9:
                self.retry_ms = int(value)
            case _:
                pass  # A comment, or a field that nobody has defined yet.
        return None

    def _dispatched(self) -> ServerEvent | None:
        data, event = self._data, self._event
        self._data, self._event, self._size = [], "", 0
        if not data:
            return None
        return ServerEvent(self._id, event or "message", "\n".join(data))
