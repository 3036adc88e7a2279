"""Production."""

from __future__ import annotations

from config.settings.base import *  # noqa: F403
