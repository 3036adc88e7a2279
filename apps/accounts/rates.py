"""Buckets of requests in Redis, one for each key or player and policy.

A bucket holds ``quota`` requests and fills evenly over ``window_s`` seconds (generic cell rate algorithm: one number
per bucket, one script call per request, on Redis's clock).  Losing Redis loses the counts and nothing else: while it is
away every request passes, and a metric says so.

Source: docs/operators/rate-limits.md.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import redis

from apps.accounts import conf, metrics
from apps.accounts.callers import Rate
from apps.core import redis as core_redis

QUOTAS = {"read": (6_000, 60), "write": (6_000, 60), "money": (6_000, 60), "player": (1_200, 60)}
"""Policy to requests and seconds, where the settings say nothing else."""
AWAY_S = 1.0
"""After a failure Redis is not asked again for this long, so that one that hangs does not slow every request."""

_SCRIPT = """
local told = redis.call('TIME')
local now = told[1] * 1000000 + told[2]
local window, step = tonumber(ARGV[1]), tonumber(ARGV[2])
local full_at = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + step
if full_at - now > window then
    return {0, full_at - now - window, full_at - now - step}
end
redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', math.ceil((full_at - now) / 1000))
return {1, 0, full_at - now}
"""
"""Returns whether the request passes, how long until it would, and how long until the bucket is full; microseconds."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a request passes; ``retry_after_s`` is 0 if it does."""

    rate: Rate
    is_allowed: bool
    retry_after_s: int


_away_until_s = 0.0


def rate_take(*, policy: str, owner: str) -> Verdict | None:
    """Take one request out of the owner's bucket; None where the policy sets no limit or Redis is away."""
    global _away_until_s
    quota, window_s = conf.rate_limits().get(policy) or QUOTAS[policy]
    if quota == 0 or time.monotonic() < _away_until_s:
        return None
    window_us = window_s * 1_000_000
    step_us = window_us // quota
    try:
        passed, wait_us, full_in_us = _script()(keys=[f"rate:{policy}:{owner}"], args=[window_us, step_us])
    except redis.RedisError:
        _away_until_s = time.monotonic() + AWAY_S
        metrics.RATE_UNAVAILABLE.inc()
        return None
    if not passed:
        metrics.RATE_LIMITED.labels(policy=policy).inc()
    rate = Rate(
        policy=policy,
        quota=quota,
        window_s=window_s,
        remaining=(window_us - full_in_us) // step_us if passed else 0,
        reset_s=-(-full_in_us // 1_000_000),
    )
    return Verdict(rate, bool(passed), -(-wait_us // 1_000_000))


@cache
def _registered(client: redis.Redis) -> Any:
    return client.register_script(_SCRIPT)


def _script() -> Any:
    return _registered(core_redis.client())
