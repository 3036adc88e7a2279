"""A table whose rounds go through the real services, and a log that merges them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connections

from apps.fairness import dealer, tree
from tests.fairness.table import FairTable


@pytest.fixture(autouse=True, scope="session")
def _owner_is_not_flushed(django_db_setup: None) -> None:
    """Leave the cleaning after tests that use the owner's login to the administrator's, as for the application's."""
    connections["owner"].settings_dict["TEST"]["MIRROR"] = "default"


@pytest.fixture(autouse=True)
def _no_memory() -> Iterator[None]:
    """Let no test see what an earlier one's log left in this process."""
    dealer.forget_all()
    tree.forget_all()
    yield
    dealer.forget_all()
    tree.forget_all()


@pytest.fixture
def table(transactional_db: None) -> FairTable:
    """Return a fresh table."""
    return FairTable()
