"""Entry point of the stream server: it serves the messages of tables, and nothing else."""

from __future__ import annotations

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")
django.setup()

from apps.tables.streams.app import Streams  # noqa: E402  # Only after Django is set up.

application = Streams()
