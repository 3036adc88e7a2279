"""One running Sealdeck for the tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.stack import Stack

REDIS_DATABASE = 40


@pytest.fixture(scope="package")  # It takes a third of a core even where nobody plays, so it ends with this folder.
def stack(tmp_path_factory: pytest.TempPathFactory, django_db_setup: None) -> Iterator[Stack]:
    """Return the product as a sandbox, running; tests may kill its processes and must start them again."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    running = Stack(Path(tmp_path_factory.mktemp("stack")), redis_database=REDIS_DATABASE + worker, is_sandbox=True)
    try:
        running.start("api", "streams", "worker", "beat")
        yield running
    finally:
        running.stop()
