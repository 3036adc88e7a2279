"""The test suite: `make test` provides the servers."""

from __future__ import annotations

from config.settings.base import *  # noqa: F403
from config.settings.base import STATIC_ROOT

SECRET_KEY = "test-only-not-secret"  # noqa: S105
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
