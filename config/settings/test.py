"""The test suite: `make test` provides the servers."""

from __future__ import annotations

from config.settings.base import *  # noqa: F403

SECRET_KEY = "test-only-not-secret"  # noqa: S105
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
