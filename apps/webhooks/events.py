"""What an event looks like to its reader: the same bytes in a delivery and in the pull list.

Source: docs/operators/webhooks.md, section Events.
"""

from __future__ import annotations

import json
from typing import Any

from apps.webhooks.models import Event


def event_data(event: Event) -> dict[str, Any]:
    """Return an event as JSON values."""
    return {
        "id": f"evt_{event.public_id.hex}",
        "type": event.topic,
        "seq": event.seq,
        "created_at_ms": event.created_at_ms,
        "data": event.payload,
    }


def event_body(event: Event) -> bytes:
    """Return the body of an event's deliveries; the same bytes at every try."""
    return json.dumps(event_data(event), separators=(",", ":"), sort_keys=True).encode("ascii")
