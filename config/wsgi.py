"""Entry point of the synchronous API: one process per core, one thread each."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")
application = get_wsgi_application()

from apps.core import heartbeat  # noqa: E402  # Only after Django is set up.

heartbeat.service_start()
