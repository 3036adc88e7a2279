"""Column defaults that only the database may give.

The application's role may be denied the right to insert into such a column; its default is then the only source.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Func


class DatabaseMillis(Func):
    """The database's clock at the moment of the statement, Unix milliseconds."""

    template = "(floor(extract(epoch FROM clock_timestamp()) * 1000))::bigint"
    output_field: models.Field[Any, Any] = models.BigIntegerField()
