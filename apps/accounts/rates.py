"""Buckets of requests in Redis, one for each key or player and policy.

A bucket holds ``quota`` requests and fills evenly over ``window_s`` seconds (generic cell rate algorithm: one number
per bucket, one script call per request, on Redis's clock).  Losing Redis loses the counts and nothing else: while it is
away every request passes, and a metric says so.

Moves are counted in the memory of the process that takes them: they come too often for a question to Redis each, and
their clocks and turns bound them already.  With several API processes a player has a bucket in each.

Source: docs/operators/rate-limits.md.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from typing import Any

import redis

from apps.accounts import conf, metrics
from apps.accounts.callers import Rate
from apps.core import redis as core_redis

QUOTAS = {"read": (6_000, 60), "write": (6_000, 60), "money": (6_000, 60), "player": (1_200, 60), "move": (1_200, 60)}
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

BUCKETS_MAX = 20_000
"""Players whose moves one process counts; the one that has rested longest is forgotten first."""
_full_at_us: OrderedDict[str, int] = OrderedDict()


def move_take(*, owner: str) -> Verdict | None:
    """Take one move out of the owner's bucket in this process; None where there is no limit."""
    quota, window_s = conf.rate_limits().get("move") or QUOTAS["move"]
    if quota == 0:
        return None
    window_us = window_s * 1_000_000
    step_us = window_us // quota
    now_us = time.monotonic_ns() // 1_000
    full_in_us = max(_full_at_us.get(owner, 0) - now_us, 0) + step_us
    passed = full_in_us <= window_us
    if passed:
        _full_at_us[owner] = now_us + full_in_us
        _full_at_us.move_to_end(owner)
        if len(_full_at_us) > BUCKETS_MAX:
            _full_at_us.popitem(last=False)
    wait_us = 0 if passed else full_in_us - window_us
    return _verdict("move", quota, window_s, passed, wait_us, full_in_us if passed else full_in_us - step_us)


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
    return _verdict(policy, quota, window_s, bool(passed), wait_us, full_in_us)


def _verdict(policy: str, quota: int, window_s: int, passed: bool, wait_us: int, full_in_us: int) -> Verdict:
    if not passed:
        metrics.RATE_LIMITED.labels(policy=policy).inc()
    step_us = window_s * 1_000_000 // quota
    rate = Rate(
        policy=policy,
        quota=quota,
        window_s=window_s,
        remaining=(window_s * 1_000_000 - full_in_us) // step_us if passed else 0,
        reset_s=-(-full_in_us // 1_000_000),
    )
    return Verdict(rate, passed, -(-wait_us // 1_000_000))


@cache
def _registered(client: redis.Redis) -> Any:
    return client.register_script(_SCRIPT)


def _script() -> Any:
    return _registered(core_redis.client())
