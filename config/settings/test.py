"""The test suite: `make test` provides the servers."""

from __future__ import annotations

from config.settings.base import *  # noqa: F403
from config.settings.base import STATIC_ROOT

SECRET_KEY = "test-only-not-secret"  # noqa: S105
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
"""Static files are looked for when they are asked for: every client of a test would read the folders at its start."""
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SEALDECK_KEKS = {"test-1": "11" * 32}
SEALDECK_KEK_ID = "test-1"
SEALDECK_LOG_ORIGIN = "test.sealdeck.example/log"
