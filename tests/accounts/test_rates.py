"""Buckets of requests: counted on Redis's clock, told in headers, open when Redis is away."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
import redis
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from apps.accounts import conf, metrics, rates
from apps.core import redis as core_redis
from tests.accounts.conftest import Caller, Tenant


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Let no test inherit that Redis was away."""
    rates._away_until_s = 0.0
    yield
    rates._away_until_s = 0.0


@pytest.fixture
def away() -> Iterator[None]:
    """Point the product at an address where no Redis is."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        with override_settings(REDIS_URL=f"redis://127.0.0.1:{port}/0"):
            core_redis.client.cache_clear()
            yield
    core_redis.client.cache_clear()


class TestRateTake:
    @override_settings(SEALDECK_RATE_LIMITS="read=3/3600")
    def test_lets_the_quota_pass_and_no_more(self, redis_client: redis.Redis) -> None:
        verdicts = [rates.rate_take(policy="read", owner="a") for _ in range(4)]
        assert all(verdicts)
        told = [(v.is_allowed, v.rate.remaining) for v in verdicts if v]
        assert told == [(True, 2), (True, 1), (True, 0), (False, 0)]
        last = verdicts[-1]
        assert last is not None
        assert 1190 <= last.retry_after_s <= 1200
        assert 3590 <= last.rate.reset_s <= 3600
        other = rates.rate_take(policy="read", owner="b")
        assert other is not None
        assert other.is_allowed

    @override_settings(SEALDECK_RATE_LIMITS="read=2/1")
    def test_fills_evenly(self, redis_client: redis.Redis) -> None:
        passed = 0
        before = redis_client.time()
        for _ in range(200):
            verdict = rates.rate_take(policy="read", owner="a")
            assert verdict is not None
            passed += verdict.is_allowed
        after = redis_client.time()
        elapsed_s = after[0] - before[0] + (after[1] - before[1]) / 1e6
        assert 2 <= passed <= 2 + int(elapsed_s * 2) + 1

    @override_settings(SEALDECK_RATE_LIMITS="read=3/3600")
    def test_leaves_nothing_behind_for_ever(self, redis_client: redis.Redis) -> None:
        rates.rate_take(policy="read", owner="a")
        ttl_ms = redis_client.pttl("rate:read:a")
        assert 0 < int(ttl_ms) <= 1_200_000

    @override_settings(SEALDECK_RATE_LIMITS="read=0/60")
    def test_has_no_limit_at_zero(self, redis_client: redis.Redis) -> None:
        assert rates.rate_take(policy="read", owner="a") is None
        assert redis_client.keys("rate:*") == []

    def test_lets_everything_pass_while_redis_is_away_and_says_so(self, away: None) -> None:
        before = metrics.RATE_UNAVAILABLE._value.get()
        assert rates.rate_take(policy="read", owner="a") is None
        assert rates.rate_take(policy="read", owner="a") is None
        assert metrics.RATE_UNAVAILABLE._value.get() == before + 1


class TestSetting:
    def test_reads_policies(self) -> None:
        with override_settings(SEALDECK_RATE_LIMITS="read=600/60, player=0/1"):
            assert conf.rate_limits() == {"read": (600, 60), "player": (0, 1)}

    @pytest.mark.parametrize("text", ["read", "read=1", "other=1/1", "read=1/0", "read=-1/1"])
    def test_refuses_what_it_cannot_read(self, text: str) -> None:
        with override_settings(SEALDECK_RATE_LIMITS=text), pytest.raises(ImproperlyConfigured):
            conf.rate_limits()


class TestHeaders:
    @override_settings(SEALDECK_RATE_LIMITS="read=2/60,write=1/60,player=1/60")
    def test_tell_where_the_caller_stands(self, acme: Tenant, redis_client: redis.Redis) -> None:
        first = acme.call("GET", "/keys")
        assert first.headers["RateLimit-Policy"] == '"read";q=2;w=60'
        assert first.headers["RateLimit"] == '"read";r=1;t=30'
        acme.call("GET", "/keys")
        refused = acme.call("GET", "/keys")
        assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
        assert refused.json()["retryable"] is True
        assert 1 <= int(refused.headers["Retry-After"]) <= 30
        assert refused.headers["RateLimit"] == '"read";r=0;t=60'
        write = acme.call("POST", "/players", {"external_id": "u-1"})
        assert (write.status_code, write.headers["RateLimit-Policy"]) == (200, '"write";q=1;w=60')
        assert acme.call("POST", "/players", {"external_id": "u-2"}).status_code == 429

    @override_settings(SEALDECK_RATE_LIMITS="player=1/60")
    def test_count_every_player_alone(self, acme: Tenant, redis_client: redis.Redis) -> None:
        first, second = acme.player("u-1"), acme.player("u-2")
        one, other, two = acme.as_player(first), acme.as_player(first), acme.as_player(second)
        assert one("GET", f"/players/{first.pk}").headers["RateLimit-Policy"] == '"player";q=1;w=60'
        assert other("GET", f"/players/{first.pk}").status_code == 429
        assert two("GET", f"/players/{second.pk}").status_code == 200

    def test_are_absent_while_redis_is_away(self, acme: Tenant, away: None) -> None:
        answer = acme.call("GET", "/keys")
        assert answer.status_code == 200
        assert "RateLimit" not in answer.headers

    def test_are_absent_for_nobody(self, nobody: Caller) -> None:
        assert "RateLimit" not in nobody("GET", "/answer-keys").headers


class TestMoveTake:
    @pytest.fixture(autouse=True)
    def _empty(self) -> Iterator[None]:
        """Let no test inherit another's buckets."""
        rates._full_at_us.clear()
        yield
        rates._full_at_us.clear()

    @override_settings(SEALDECK_RATE_LIMITS="move=3/3600")
    def test_counts_in_this_process_and_asks_no_redis(self, away: None) -> None:
        before = metrics.RATE_UNAVAILABLE._value.get()
        verdicts = [rates.move_take(owner="a") for _ in range(4)]
        assert [(v.is_allowed, v.rate.remaining) for v in verdicts if v] == [
            (True, 2),
            (True, 1),
            (True, 0),
            (False, 0),
        ]
        last = verdicts[-1]
        assert last is not None
        assert 1190 <= last.retry_after_s <= 1200
        other = rates.move_take(owner="b")
        assert other is not None
        assert other.is_allowed
        assert metrics.RATE_UNAVAILABLE._value.get() == before

    @override_settings(SEALDECK_RATE_LIMITS="move=0/60")
    def test_has_no_limit_at_zero(self) -> None:
        assert rates.move_take(owner="a") is None

    def test_forgets_who_has_rested_longest(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rates, "BUCKETS_MAX", 2)
        for owner in ("a", "b", "a", "c"):
            rates.move_take(owner=owner)
        assert list(rates._full_at_us) == ["a", "c"]
