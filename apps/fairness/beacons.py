"""Fetching of beacon signatures from relays, for the rounds that wait for one.

Implements docs/fairness/protocol.md, section 4: a relay's word is no evidence, so a signature is verified as BLS before
it is stored.  Off unless SEALDECK_BEACON_URLS names relays.  Never asks the network inside of a transaction.
"""

from __future__ import annotations

import httpx
import structlog

from apps.fairness import conf
from apps.fairness.models import BeaconValue, FairRound, Stage
from apps.fairness.protocol import beacon as beacon_rules
from apps.fairness.protocol.errors import BeaconError

FETCHES_MAX = 20
"""Beacon rounds of one run at most."""
TIMEOUT_S = 2.0
ANSWER_BYTES_MAX = 4096

log = structlog.get_logger(__name__)


def due(*, now_ms: int) -> list[int]:
    """Return the beacon rounds that closed rounds wait for and whose time has come."""
    known = BeaconValue.objects.filter(chain=beacon_rules.QUICKNET).values("beacon_round")
    waiting = FairRound.objects.filter(stage=Stage.CLOSE, beacon_round__isnull=False).exclude(beacon_round__in=known)
    numbers = waiting.order_by("beacon_round").values_list("beacon_round", flat=True).distinct()[:FETCHES_MAX]
    return [number for number in numbers if number is not None and 1000 * beacon_rules.round_time_s(number) <= now_ms]


def fetch_due(*, now_ms: int) -> int:
    """Fetch, verify and store what is due; return how many came."""
    numbers = due(now_ms=now_ms)
    came = 0
    with httpx.Client(timeout=TIMEOUT_S, follow_redirects=False, trust_env=False) as client:
        for number in numbers:
            signature = _fetch(client, number)
            if signature is None:
                continue
            beacon_store(number=number, signature=signature, now_ms=now_ms)
            came += 1
    return came


def beacon_store(*, number: int, signature: bytes, now_ms: int) -> None:
    """Store a beacon signature, once.

    Raises:
        BeaconError: it is not the signature of this round.
    """
    beacon_rules.verify(beacon_rules.QUICKNET, number, signature)
    row = BeaconValue(chain=beacon_rules.QUICKNET, beacon_round=number, signature=signature, received_at_ms=now_ms)
    BeaconValue.objects.bulk_create([row], ignore_conflicts=True)


def _fetch(client: httpx.Client, number: int) -> bytes | None:
    """Return the verified signature from the first relay that has it."""
    for base in conf.beacon_urls():
        url = f"{base}/{beacon_rules.QUICKNET.hex()}/public/{number}"
        try:
            answer = client.get(url)
            if answer.status_code != httpx.codes.OK or len(answer.content) > ANSWER_BYTES_MAX:
                raise BeaconError(f"the relay answered {answer.status_code}")
            signature = bytes.fromhex(answer.json()["signature"])
            beacon_rules.verify(beacon_rules.QUICKNET, number, signature)
        except (httpx.HTTPError, BeaconError, KeyError, TypeError, ValueError) as problem:
            log.warning("beacon_relay_failed", relay=base, beacon_round=number, problem=type(problem).__name__)
        else:
            return signature
    return None
