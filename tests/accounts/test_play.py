"""Whether a player may play: status, exclusion, sitting, stake and losses, in this order."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID, uuid4

import pytest

from apps.accounts import errors, services
from apps.accounts.limits import DAY_MS, LimitKind
from apps.accounts.models import OperatorStatus, PlayerSession, PlayerStatus
from apps.accounts.services import LimitWish
from apps.core.clock import now_ms
from tests.accounts.conftest import Tenant

MINUTE_MS = 60_000


def limit(player_id: UUID, kind: LimitKind, value: int, currency: str = "EUR", now: int | None = None) -> None:
    """Set one limit."""
    wish = LimitWish(kind, currency, value)
    services.limits_set(player_id=player_id, wishes=[wish], actor="test", now=now_ms() if now is None else now)


class Losses:
    """Answers what a player lost, and remembers what it was asked."""

    def __init__(self, lost: int) -> None:
        self.lost = lost
        self.asked: list[tuple[frozenset[UUID], str, int]] = []

    def __call__(self, player_ids: Collection[UUID], currency: str, since_ms: int) -> int:
        """Return the loss."""
        self.asked.append((frozenset(player_ids), currency, since_ms))
        return self.lost


class TestPlayerMayPlay:
    def test_lets_an_active_player_play(self, acme: Tenant) -> None:
        services.player_may_play(player_id=acme.player().pk, currency="EUR", stake_minor=10**9)

    @pytest.mark.django_db
    def test_knows_no_stranger(self) -> None:
        with pytest.raises(errors.PlayerNotFound):
            services.player_may_play(player_id=uuid4())

    @pytest.mark.parametrize(
        ("status", "refusal"),
        [(PlayerStatus.FROZEN, errors.PlayerFrozen), (PlayerStatus.CLOSED, errors.PlayerClosed)],
    )
    def test_refuses_by_status(self, acme: Tenant, status: PlayerStatus, refusal: type[Exception]) -> None:
        player = acme.player()
        services.player_status_set(player_id=player.pk, status=status)
        with pytest.raises(refusal):
            services.player_may_play(player_id=player.pk)

    def test_refuses_everybody_of_a_paused_operator(self, acme: Tenant) -> None:
        player = acme.player()
        services.player_status_set(player_id=player.pk, status=PlayerStatus.FROZEN)
        services.operator_status_set(operator_id=acme.id, status=OperatorStatus.PAUSED, reason="books")
        with pytest.raises(errors.GamingDisabled):
            services.player_may_play(player_id=player.pk)
        services.operator_status_set(operator_id=acme.id, status=OperatorStatus.ACTIVE, reason="")
        with pytest.raises(errors.PlayerFrozen):
            services.player_may_play(player_id=player.pk)

    def test_refuses_the_excluded_person_until_the_very_end(self, acme: Tenant) -> None:
        first, second = (acme.player(name, person_key="h:1") for name in ("u-1", "u-2"))
        now = now_ms()
        services.player_exclude(player_id=first.pk, until_ms=now + DAY_MS, actor="test", now=now)
        for player in (first, second):
            with pytest.raises(errors.PlayerExcluded) as caught:
                services.player_may_play(player_id=player.pk, now=now + DAY_MS - 1)
            assert caught.value.facts == {"until_ms": now + DAY_MS}
            services.player_may_play(player_id=player.pk, now=now + DAY_MS)

    def test_holds_the_stake_of_one_round_to_its_limit(self, acme: Tenant) -> None:
        player = acme.player()
        limit(player.pk, LimitKind.STAKE_ROUND, 500)
        services.player_may_play(player_id=player.pk, currency="EUR", stake_minor=500)
        services.player_may_play(player_id=player.pk, currency="USD", stake_minor=501)
        with pytest.raises(errors.LimitExceeded) as caught:
            services.player_may_play(player_id=player.pk, currency="EUR", stake_minor=501)
        assert caught.value.facts == {"kind": "stake_round", "currency": "EUR", "limit": 500}

    @pytest.mark.parametrize(
        ("kind", "window_ms"),
        [(LimitKind.LOSS_DAY, DAY_MS), (LimitKind.LOSS_WEEK, 7 * DAY_MS), (LimitKind.LOSS_MONTH, 30 * DAY_MS)],
    )
    def test_counts_the_stake_as_lost(self, acme: Tenant, kind: LimitKind, window_ms: int) -> None:
        player = acme.player()
        limit(player.pk, kind, 1_000)
        now = now_ms()
        losses = Losses(700)
        services.player_may_play(player_id=player.pk, currency="EUR", stake_minor=300, loss_since=losses, now=now)
        assert losses.asked == [(frozenset([player.pk]), "EUR", now - window_ms)]
        with pytest.raises(errors.LimitExceeded) as caught:
            services.player_may_play(player_id=player.pk, currency="EUR", stake_minor=301, loss_since=losses, now=now)
        assert caught.value.facts == {"kind": kind.value, "currency": "EUR", "limit": 1_000}
        services.player_may_play(
            player_id=player.pk, currency="EUR", stake_minor=1_500, loss_since=Losses(-500), now=now
        )

    def test_fails_loudly_where_nobody_can_tell_the_losses(self, acme: Tenant) -> None:
        player = acme.player()
        limit(player.pk, LimitKind.LOSS_DAY, 1_000)
        with pytest.raises(AssertionError):
            services.player_may_play(player_id=player.pk, currency="EUR", stake_minor=1)

    def test_asks_nobody_for_losses_without_a_loss_limit(self, acme: Tenant) -> None:
        losses = Losses(10**9)
        services.player_may_play(player_id=acme.player().pk, currency="EUR", stake_minor=1, loss_since=losses)
        assert losses.asked == []

    def test_ends_a_sitting_at_its_limit(self, acme: Tenant) -> None:
        player = acme.player()
        limit(player.pk, LimitKind.SESSION_MINUTES, 30, currency="")
        services.player_may_play(player_id=player.pk)
        sitting = services.session_create(player_id=player.pk, ttl_s=3600).sitting_at_ms
        services.player_may_play(player_id=player.pk, now=sitting + 30 * MINUTE_MS - 1)
        with pytest.raises(errors.LimitExceeded) as caught:
            services.player_may_play(player_id=player.pk, now=sitting + 30 * MINUTE_MS)
        assert caught.value.facts == {"kind": "session_minutes", "limit": 30}

    def test_takes_a_loosened_limit_only_after_a_day(self, acme: Tenant) -> None:
        player = acme.player()
        now = now_ms()
        limit(player.pk, LimitKind.STAKE_ROUND, 100, now=now)
        limit(player.pk, LimitKind.STAKE_ROUND, 200, now=now)
        with pytest.raises(errors.LimitExceeded):
            services.player_may_play(player_id=player.pk, currency="EUR", stake_minor=200, now=now + DAY_MS - 1)
        services.player_may_play(player_id=player.pk, currency="EUR", stake_minor=200, now=now + DAY_MS)


class TestOnePersonUnderTwoAccounts:
    def test_has_the_limits_of_both(self, acme: Tenant) -> None:
        first, second = (acme.player(name, person_key="h:1") for name in ("u-1", "u-2"))
        limit(first.pk, LimitKind.STAKE_ROUND, 500)
        late = acme.player("u-3", person_key="h:1")
        for player in (first, second, late):
            services.player_may_play(player_id=player.pk, currency="EUR", stake_minor=500)
            with pytest.raises(errors.LimitExceeded) as caught:
                services.player_may_play(player_id=player.pk, currency="EUR", stake_minor=501)
            assert caught.value.facts["limit"] == 500
        services.player_may_play(player_id=acme.player("u-4").pk, currency="EUR", stake_minor=501)

    def test_loosens_a_limit_of_the_other_only_after_a_day(self, acme: Tenant) -> None:
        first, now = acme.player("u-1", person_key="h:1"), now_ms()
        limit(first.pk, LimitKind.STAKE_ROUND, 100, now=now)
        late = acme.player("u-2", person_key="h:1")
        limit(late.pk, LimitKind.STAKE_ROUND, 200, now=now)
        for player in (first, late):
            with pytest.raises(errors.LimitExceeded):
                services.player_may_play(player_id=player.pk, currency="EUR", stake_minor=200, now=now + DAY_MS - 1)
            services.player_may_play(player_id=player.pk, currency="EUR", stake_minor=200, now=now + DAY_MS)

    def test_keeps_the_strictest_when_it_is_told_later_who_it_is(self, acme: Tenant) -> None:
        first, second = acme.player("u-1", person_key="h:1"), acme.player("u-2")
        limit(first.pk, LimitKind.STAKE_ROUND, 100)
        limit(second.pk, LimitKind.STAKE_ROUND, 900)
        services.player_upsert(operator_id=acme.id, external_id="u-2", person_key="h:1")
        with pytest.raises(errors.LimitExceeded):
            services.player_may_play(player_id=second.pk, currency="EUR", stake_minor=101)

    def test_has_lost_what_both_lost(self, acme: Tenant) -> None:
        first, second = (acme.player(name, person_key="h:1") for name in ("u-1", "u-2"))
        limit(first.pk, LimitKind.LOSS_DAY, 1_000)
        losses, now = Losses(700), now_ms()
        services.player_may_play(player_id=second.pk, currency="EUR", stake_minor=300, loss_since=losses, now=now)
        assert losses.asked == [(frozenset([first.pk, second.pk]), "EUR", now - DAY_MS)]

    def test_sits_on_under_the_other(self, acme: Tenant) -> None:
        first, second = (acme.player(name, person_key="h:1") for name in ("u-1", "u-2"))
        limit(first.pk, LimitKind.SESSION_MINUTES, 30, currency="")
        sitting = services.session_create(player_id=first.pk, ttl_s=3600).sitting_at_ms
        assert services.session_create(player_id=second.pk, ttl_s=3600).sitting_at_ms == sitting
        with pytest.raises(errors.LimitExceeded):
            services.player_may_play(player_id=second.pk, now=sitting + 30 * MINUTE_MS)
        services.player_may_play(player_id=second.pk, now=sitting + (60 + 15) * MINUTE_MS + 1_000)  # After a rest.

    def test_is_reminded_under_both(self, acme: Tenant) -> None:
        first, second = (acme.player(name, person_key="h:1") for name in ("u-1", "u-2"))
        limit(first.pk, LimitKind.REALITY_CHECK_MINUTES, 20, currency="")
        assert services.session_create(player_id=second.pk, ttl_s=600).reality_check_minutes == 20

    def test_is_nobody_at_another_operator(self, acme: Tenant, rival: Tenant) -> None:
        first, other = acme.player("u-1", person_key="h:1"), rival.player("u-1", person_key="h:1")
        limit(first.pk, LimitKind.STAKE_ROUND, 100)
        services.player_may_play(player_id=other.pk, currency="EUR", stake_minor=101)


class TestPlayersRefused:
    def test_names_each_reason_in_few_queries(self, acme: Tenant, django_assert_max_num_queries: object) -> None:
        fine, frozen, excluded = (acme.player(f"u-{n}", person_key=f"h:{n}") for n in range(3))
        services.player_status_set(player_id=frozen.pk, status=PlayerStatus.FROZEN)
        services.player_exclude(player_id=excluded.pk, until_ms=None, actor="test", now=now_ms())
        stranger = uuid4()
        with django_assert_max_num_queries(5):  # type: ignore[operator]  # A fixture without a public type.
            refused = services.players_refused(
                player_ids=[fine.pk, frozen.pk, excluded.pk, stranger], currency="EUR", stake_minor=1
            )
        assert {player_id: refusal.code for player_id, refusal in refused.items()} == {
            frozen.pk: "player_frozen",
            excluded.pk: "player_excluded",
            stranger: "player_not_found",
        }


class TestSitting:
    def test_a_short_session_within_a_long_one_does_not_end_it(self, acme: Tenant) -> None:
        player, now = acme.player(), now_ms()
        began = now - 60 * MINUTE_MS
        for created, expires in ((began, now + 60 * MINUTE_MS), (began + MINUTE_MS, began + 2 * MINUTE_MS)):
            PlayerSession.objects.create(
                operator_id=acme.id,
                player=player,
                token_version=1,
                sitting_at_ms=began,
                created_at_ms=created,
                expires_at_ms=expires,
            )
        assert services.session_create(player_id=player.pk, ttl_s=600).sitting_at_ms == began

    def test_goes_on_through_a_new_session(self, acme: Tenant) -> None:
        player = acme.player()
        first = services.session_create(player_id=player.pk, ttl_s=600)
        assert services.session_create(player_id=player.pk, ttl_s=600).sitting_at_ms == first.sitting_at_ms

    @pytest.mark.parametrize(("rest_ms", "is_same"), [(14 * MINUTE_MS, True), (15 * MINUTE_MS, False)])
    @pytest.mark.parametrize("is_revoked", [False, True])
    def test_starts_again_after_a_rest(self, acme: Tenant, rest_ms: int, is_same: bool, is_revoked: bool) -> None:
        player, now = acme.player(), now_ms()
        began, ended = now - 60 * MINUTE_MS, now - rest_ms
        PlayerSession.objects.create(
            operator_id=acme.id,
            player=player,
            token_version=1,
            sitting_at_ms=began,
            created_at_ms=began,
            expires_at_ms=now + MINUTE_MS if is_revoked else ended,
            revoked_at_ms=ended if is_revoked else None,
        )
        made = services.session_create(player_id=player.pk, ttl_s=600)
        assert (made.sitting_at_ms == began) is is_same
