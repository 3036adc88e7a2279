"""What a change of a limit means over time, without a database."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.limits import LOOSENING_MS, Limit, LimitEntry, change_of, is_looser, limit_at, limit_strictest

T = 1_000_000
H24 = 24 * 60 * 60 * 1000


def played(*wishes: tuple[int, int | None]) -> list[LimitEntry]:
    """Return the changes that wishes (time, value) make, one after the other."""
    changes: list[LimitEntry] = []
    for at, value in wishes:
        change = change_of(limit_at(changes, at), value, at)
        if change is not None:
            changes.append(change)
    return changes


class TestLimitAt:
    def test_is_none_without_changes(self) -> None:
        assert limit_at([], T) == Limit(None, None)

    def test_tightens_at_once(self) -> None:
        assert limit_at(played((T, 100), (T, 50)), T) == Limit(50)

    @pytest.mark.parametrize(("wait", "value"), [(0, 100), (H24 - 1, 100), (H24, 500), (H24 + 1, 500)])
    def test_loosens_exactly_a_day_later(self, wait: int, value: int) -> None:
        assert limit_at(played((T, 100), (T, 500)), T + wait).value == value

    def test_lifts_a_limit_a_day_later(self) -> None:
        changes = played((T, 100), (T, None))
        assert limit_at(changes, T + H24 - 1).value == 100
        assert limit_at(changes, T + H24) == Limit(None)

    def test_lets_a_later_tightening_cancel_what_is_coming(self) -> None:
        changes = played((T, 100), (T, 500), (T + 5, 50))
        assert limit_at(changes, T + 2 * H24) == Limit(50)

    def test_lets_a_later_loosening_replace_what_is_coming(self) -> None:
        changes = played((T, 100), (T, 500), (T + 5, 200))
        assert limit_at(changes, T + H24).value == 100
        assert limit_at(changes, T + H24 + 5).value == 200

    def test_lets_the_present_value_cancel_what_is_coming(self) -> None:
        changes = played((T, 100), (T, 500), (T + 5, 100))
        assert limit_at(changes, T + 2 * H24) == Limit(100)

    def test_measures_a_wish_against_what_holds_by_then(self) -> None:
        changes = played((T, 100), (T, 500), (T + H24, 400))
        assert limit_at(changes, T + H24) == Limit(400)


class TestLimitStrictest:
    def test_is_the_least_of_what_holds(self) -> None:
        assert limit_strictest([Limit(), Limit(300), Limit(200)]) == Limit(200)
        assert limit_strictest([]) == limit_strictest([Limit()]) == Limit()

    def test_tells_the_next_loosening_that_is_felt(self) -> None:
        unfelt, felt = LimitEntry(None, T, T + H24), LimitEntry(500, T + 5, T + H24 + 5)
        assert limit_strictest([Limit(200, unfelt), Limit(100, felt)]) == Limit(100, felt)
        held = LimitEntry(200, T + 5, T + H24 + 5)
        assert limit_strictest([Limit(200), Limit(100, felt)]) == Limit(100, held)

    @given(
        st.lists(
            st.lists(st.tuples(st.integers(0, 3 * H24), st.none() | st.integers(0, 5)), min_size=1, max_size=4).map(
                lambda wishes: played(*sorted(wishes, key=lambda wish: wish[0]))
            ),
            max_size=3,
        )
    )
    def test_what_is_told_to_come_comes(self, histories: list[list[LimitEntry]]) -> None:
        now = 3 * H24
        told = limit_strictest([limit_at(changes, now) for changes in histories])
        if told.pending is None:
            assert limit_strictest([limit_at(changes, now + H24) for changes in histories]).value == told.value
            return
        at = told.pending.effective_at_ms
        assert limit_strictest([limit_at(changes, at - 1) for changes in histories]).value == told.value
        assert limit_strictest([limit_at(changes, at) for changes in histories]).value == told.pending.value


class TestChangeOf:
    def test_is_none_for_what_holds_or_is_coming(self) -> None:
        assert change_of(limit_at(played((T, 100)), T), 100, T) is None
        assert change_of(limit_at(played((T, 100), (T, 500)), T + 9), 500, T + 9) is None
        assert change_of(Limit(), None, T) is None

    @given(st.lists(st.tuples(st.integers(0, H24), st.none() | st.integers(0, 5)), min_size=1, max_size=12))
    def test_never_loosens_within_a_day_of_the_wish(self, steps: list[tuple[int, int | None]]) -> None:
        at, wishes = T, []
        for wait, value in steps:
            at += wait
            wishes.append((at, value))
        changes = played(*wishes)
        for moment in sorted({at + d for at, _ in wishes for d in (0, 1, H24 - 1, H24)}):
            now, before = limit_at(changes, moment).value, limit_at(changes, moment - 1).value
            if is_looser(now, before):
                assert any(value == now and at + LOOSENING_MS == moment for at, value in wishes)
