"""What happens when two callers do the same at the same time: one of each, on real connections."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from apps.accounts import selectors, services
from apps.accounts.errors import KeyLimitReached, NonceReused
from apps.accounts.limits import DAY_MS, LimitKind
from apps.accounts.models import ApiKey, LimitChange, Operator, Player, PlayerSession, RequestNonce
from apps.accounts.services import LimitWish
from apps.accounts.services.nonces import nonce_use
from apps.core.clock import now_ms

THREADS = 8

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(work: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    """Return what each thread's work returned or raised, all of them begun together."""
    start, results = threading.Barrier(count), [None] * count

    def run(number: int) -> None:
        try:
            start.wait()
            results[number] = work(number)
        except Exception as error:
            results[number] = error  # type: ignore[call-overload]  # What was raised is a result here.
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.fixture
def operator() -> Operator:
    """Return a committed operator."""
    made, _plaintext = services.operator_create(name="Acme")
    return made


class TestAtOnce:
    def test_upserts_of_one_id_make_one_player(self, operator: Operator) -> None:
        players = at_once(lambda _: services.player_upsert(operator_id=operator.pk, external_id="u-1").pk)
        assert set(players) == {Player.objects.get().pk}

    def test_person_keys_that_differ_leave_one(self, operator: Operator) -> None:
        services.player_upsert(operator_id=operator.pk, external_id="u-1")
        results = at_once(
            lambda n: services.player_upsert(operator_id=operator.pk, external_id="u-1", person_key=f"h:{n}").person_key
        )
        kept = Player.objects.get().person_key
        assert [result for result in results if isinstance(result, str)] == [kept]

    def test_operators_of_one_name_are_one(self) -> None:
        results = at_once(lambda _: services.operator_create(name="Same"))
        assert sum(isinstance(result, tuple) for result in results) == 1
        assert (Operator.objects.count(), ApiKey.objects.count()) == (1, 1)

    def test_keys_of_one_label_are_two(self, operator: Operator) -> None:
        results = at_once(lambda _: services.key_create(operator_id=operator.pk, scopes=["read"], label="x"))
        assert sum(isinstance(result, tuple) for result in results) == 2
        assert sum(isinstance(result, KeyLimitReached) for result in results) == THREADS - 2
        assert ApiKey.objects.filter(label="x", revoked_at_ms=None).count() == 2

    def test_requests_with_one_nonce_pass_once(self, operator: Operator) -> None:
        key, now = ApiKey.objects.get(), now_ms()
        results = at_once(lambda _: nonce_use(key_id=key.pk, nonce="the-only-nonce-here", now=now))
        assert results.count(None) == 1
        assert sum(isinstance(result, NonceReused) for result in results) == THREADS - 1
        assert RequestNonce.objects.count() == 1

    def test_revocations_count_the_version_up_once(self, operator: Operator) -> None:
        player = services.player_upsert(operator_id=operator.pk, external_id="u-1")
        made = services.session_create(player_id=player.pk, ttl_s=600)
        at_once(lambda _: services.session_revoke(operator_id=operator.pk, session_id=made.session_id))
        player.refresh_from_db()
        assert player.token_version == 2

    def test_a_session_made_during_a_revocation_is_either_dead_or_listed(self, operator: Operator) -> None:
        player = services.player_upsert(operator_id=operator.pk, external_id="u-1")
        first = services.session_create(player_id=player.pk, ttl_s=600)

        def work(number: int) -> Any:
            if number % 2:
                return services.session_create(player_id=player.pk, ttl_s=600)
            return services.session_revoke(operator_id=operator.pk, session_id=first.session_id)

        at_once(work)
        player.refresh_from_db()
        stale = PlayerSession.objects.filter(revoked_at_ms=None).exclude(token_version=player.token_version)
        assert not stale.exists()

    def test_wishes_of_one_person_under_many_accounts_wait_for_each_other(self, operator: Operator) -> None:
        players = [
            services.player_upsert(operator_id=operator.pk, external_id=f"u-{n}", person_key="h:1").pk
            for n in range(THREADS)
        ]
        now = now_ms()

        def wish(number: int) -> int:
            value = LimitWish(LimitKind.STAKE_ROUND, "EUR", 100 + number)
            return len(services.limits_set(player_id=players[number], wishes=[value], actor="test", now=now))

        assert all(isinstance(result, int) for result in at_once(wish))
        limits = selectors.limits_of(persons=selectors.person_of(player_id=players[0]), now=now + 10 * DAY_MS)
        last = LimitChange.objects.order_by("-pk")[0]
        assert limits[players[0]][LimitKind.STAKE_ROUND, "EUR"].value == last.value

    def test_wishes_for_one_limit_make_one_change(self, operator: Operator) -> None:
        player, now = services.player_upsert(operator_id=operator.pk, external_id="u-1"), now_ms()
        wish = LimitWish(LimitKind.STAKE_ROUND, "EUR", 100)
        at_once(lambda _: services.limits_set(player_id=player.pk, wishes=[wish], actor="test", now=now))
        assert LimitChange.objects.count() == 1
