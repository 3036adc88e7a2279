"""Where bundles come from: files, standard input and a server's address.

A file is one JSON document or JSON Lines.  Never decides whether a line is a bundle.
"""

from __future__ import annotations

import http.client
import json
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final

LINE_BYTES_MAX: Final = 64 * 1024 * 1024
"""Longest bundle that is read, in bytes."""
TIMEOUT_S: Final = 30
RESPONSE_BYTES_MAX: Final = 64 * 1024 * 1024
"""Longest single answer of a server, in bytes; tables are read line by line."""

PAGED: Final = "X-Rounds"
"""A server that sends a table's rounds in parts names with this header how many there are in each."""

_id = re.compile(r"[0-9A-Fa-f-]{32,36}", re.ASCII).fullmatch


class SourceError(Exception):
    """A file or an address cannot be read; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Line:
    """One document and where it stood."""

    source: str
    number: int
    data: bytes


def file_lines(path: str) -> Iterator[Line]:
    """Give the documents of a file, ``-`` for standard input.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        if path == "-":
            yield from stream_lines("standard input", sys.stdin.buffer)
        else:
            with Path(path).open("rb") as stream:
                yield from stream_lines(path, stream)
    except OSError as problem:
        raise SourceError(f"{path}: {problem.strerror or problem}") from problem


def stream_lines(source: str, stream: BinaryIO) -> Iterator[Line]:
    """Give the documents of a stream: one over several lines, or one on each line."""
    number = 1
    line = stream.readline(LINE_BYTES_MAX)
    while line and not line.strip():
        number += 1
        line = stream.readline(LINE_BYTES_MAX)
    if not line:
        return
    head = [line]
    if not _is_document(line):
        # Not JSON Lines, or a damaged first line: only the whole tells.
        rest = stream.read(LINE_BYTES_MAX)
        if _is_document(line + rest):
            yield Line(source, number, line + rest)
            return
        head += rest.splitlines(keepends=True)
    last = head[-1]
    if len(head) > 1 and not last.endswith(b"\n"):
        head[-1] = last + stream.readline(LINE_BYTES_MAX)
    yield from _lines(source, number, chain(head, iter(lambda: stream.readline(LINE_BYTES_MAX), b"")))


def _lines(source: str, first: int, lines: Iterable[bytes]) -> Iterator[Line]:
    for number, line in enumerate(lines, first):
        if line.strip():
            yield Line(source, number, line)


def _is_document(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def round_lines(base: str, round_: str) -> Iterator[Line]:
    """Give the bundle of one round from a server.

    Raises:
        SourceError: the server cannot be reached, or has no such bundle.
    """
    url = f"{_base(base)}/v1/fairness/rounds/{_checked_id(round_)}/bundle"
    yield Line(url, 1, fetch(url))


def table_lines(base: str, table: str) -> Iterator[Line]:
    """Give the bundles of all rounds of a table from a server, which sends them as JSON Lines, some at a time.

    Raises:
        SourceError: the server cannot be reached, or has no such table.
    """
    url = f"{_base(base)}/v1/fairness/tables/{_checked_id(table)}/bundles"
    page, before = url, -1
    while True:
        last = b""
        try:
            with _open(page) as answer:
                parts = answer.headers.get(PAGED) is not None
                for line in stream_lines(page, answer):
                    last = line.data
                    yield line
        except (OSError, http.client.HTTPException) as problem:
            raise SourceError(f"{page}: {_reason(problem)}") from problem
        index = _index(last)
        if not parts or index is None or index <= before:
            return
        page, before = f"{url}?from={index + 1}", index


def _index(line: bytes) -> int | None:
    """Return the index of a round at its table, as its bundle says."""
    try:
        index = json.loads(line)["records"][0]["body"]["index"]
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return None
    return index if type(index) is int else None


def fetch(url: str) -> bytes:
    """Return what an address answers.

    Raises:
        SourceError: it cannot be reached, answers with an error, or with too much.
    """
    try:
        with _open(url) as answer:
            data: bytes = answer.read(RESPONSE_BYTES_MAX + 1)
    except (OSError, http.client.HTTPException) as problem:
        raise SourceError(f"{url}: {_reason(problem)}") from problem
    if len(data) > RESPONSE_BYTES_MAX:
        raise SourceError(f"{url}: the answer is longer than {RESPONSE_BYTES_MAX} bytes")
    return data


def log_address(base: str, path: str) -> str:
    """Return the address of a part of the public log."""
    return f"{_base(base)}/v1/fairness/{path}"


def _open(url: str) -> Any:
    request = urllib.request.Request(url, headers={"Accept": "*/*", "User-Agent": "sealdeck-verify"})  # noqa: S310
    return urllib.request.urlopen(request, timeout=TIMEOUT_S)  # noqa: S310


def _reason(problem: Exception) -> str:
    if isinstance(problem, urllib.error.HTTPError):
        return f"the server answers {problem.code}"
    if isinstance(problem, urllib.error.URLError):
        return str(problem.reason)
    return str(problem) or type(problem).__name__


def _base(base: str) -> str:
    if not base.startswith(("http://", "https://")):
        raise SourceError(f"{base}: an address begins with https:// or http://")
    return base.rstrip("/")


def _checked_id(text: str) -> str:
    if not _id(text):
        raise SourceError(f"{text}: not the id of a round or a table")
    return text
