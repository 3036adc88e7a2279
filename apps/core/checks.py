"""System checks of core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register


@register(Tags.compatibility)
def assertions_are_on(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse ``python -O``: an assertion that does not run lets wrong money through."""
    if __debug__:
        return []
    return [Error("Assertions are off: start Python without -O and without PYTHONOPTIMIZE.", id="core.E001")]
