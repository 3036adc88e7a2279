"""A developer's machine and `make run`."""

from __future__ import annotations

from config.settings.base import *  # noqa: F403
from config.settings.base import SECRET_KEY, env

SECRET_KEY = SECRET_KEY or "local-only-not-secret"
WHITENOISE_USE_FINDERS = True
"""Static files come from where they are, without collecting them first."""
WHITENOISE_AUTOREFRESH = False
SEALDECK_WEBHOOK_NETWORKS = env.list("SEALDECK_WEBHOOK_NETWORKS", default=["127.0.0.0/8", "::1/128"])
"""A receiver of webhooks or a wallet that is tried out runs on this machine too."""
