"""The receiver on loopback, which what is sent to is tested with."""

from tests.webhooks.conftest import receiver

__all__ = ["receiver"]
