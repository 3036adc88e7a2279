"""A server of bundles and of a log on the loopback address, over what a test house has played."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from apps.fairness.protocol.tiles import ENTRIES, TILE_WIDTH, bundle_encode, tile_path_read
from tests.fairness.protocol.house import House

LOG = "/v1/fairness/"


class Pages:
    """What is served, by path; the log's pages come from a house."""

    def __init__(self, house: House | None = None) -> None:
        self.house = house
        self.pages: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.only_full_tiles = False
        self.headers: dict[str, str] = {}

    def answer(self, path: str) -> bytes | None:
        """Return what stands at a path; None where nothing does."""
        self.asked.append(path)
        if path in self.pages:
            return self.pages[path]
        if self.house is None or not path.startswith(LOG):
            return None
        name = path.removeprefix(LOG)
        if name == "checkpoint":
            return self.house.checkpoint().encode()
        level, number, width = tile_path_read(name)
        if level != ENTRIES or (self.only_full_tiles and width != TILE_WIDTH):
            return None
        entries = self.house.entries[number * TILE_WIDTH :][:width]
        return bundle_encode(entries) if entries and (width == TILE_WIDTH or len(entries) == width) else None


@contextmanager
def serving(pages: Pages) -> Iterator[str]:
    """Serve pages and give the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = pages.answer(self.path)
            self.send_response(404 if data is None else 200)
            for name, value in pages.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
