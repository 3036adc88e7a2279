"""The number of a database transaction as a column.

It is not the application's to choose: its role has no right to insert into such a column, so the default here is the
only source (docs/auditors/ledger.md, rule L2).
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Func


class Xid8Field(models.Field[int, int]):
    """A PostgreSQL 64-bit transaction number."""

    def db_type(self, connection: object) -> str:
        """Return the column type."""
        return "xid8"

    def from_db_value(self, value: str | None, expression: object, connection: object) -> int | None:
        """Return the number; the driver hands it over as text."""
        return None if value is None else int(value)


class CurrentXid(Func):
    """The number of the database transaction that runs the statement."""

    template = "pg_current_xact_id()"
    output_field: models.Field[Any, Any] = Xid8Field()
