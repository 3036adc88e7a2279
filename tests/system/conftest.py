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


@pytest.hookimpl(tryfirst=True)  # Before pytest-xdist looks for groups.
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one worker run all tests of this folder: they share one stack, and they wait more than they compute."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("system"))
