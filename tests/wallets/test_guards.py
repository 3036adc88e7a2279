"""What the database refuses to the application's own role, whatever the application does (hazard W7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, LiteralString
from uuid import UUID, uuid4

import pytest
from django.db import DatabaseError, IntegrityError, ProgrammingError, connection, transaction

from apps.wallets import services
from apps.wallets.models import AccountStatus
from tests.wallets.conftest import House

pytestmark = pytest.mark.django_db
commits = pytest.mark.django_db(transaction=True)

GUARDED = (
    "wallets_account",
    "wallets_account_status_change",
    "wallets_alarm",
    "wallets_approval",
    "wallets_approval_line",
    "wallets_balance",
    "wallets_block",
    "wallets_currency",
    "wallets_daily_file",
    "wallets_entry",
    "wallets_hold",
    "wallets_key",
    "wallets_operator_wallet",
    "wallets_snapshot",
    "wallets_stake",
    "wallets_tx",
    "webhooks_event",
)
COLUMNS_TO_UPDATE = {
    "wallets_alarm": {"cleared_at_ms", "cleared_by", "reason"},
    "wallets_approval": {"state", "decided_by", "decided_at_ms"},
    "wallets_balance": {"lock_only"},
    "wallets_currency": {"min_buy_in_minor"},
    "wallets_hold": {"state", "resolved_tx_id"},
    "wallets_operator_wallet": {"kind", "url", "answer_keys", "failures", "open_until_ms", "not_before_ms"},
    "wallets_stake": {"state", "win_minor", "attempts", "next_try_at_ms", "last_error"},
    "webhooks_event": {"seq"},
}
NO_INSERT = ("wallets_account", "wallets_account_status_change", "wallets_balance")


def run(statement: str, arguments: Any = None) -> list[tuple[Any, ...]]:
    """Run a statement as the application's role."""
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def checked() -> Iterator[None]:
    """Begin a transaction, and at its end check what a commit checks."""
    with transaction.atomic():
        yield
        run("SET CONSTRAINTS ALL IMMEDIATE")


@contextmanager
def refused(match: str) -> Iterator[None]:
    """Expect that a transaction does not get through."""
    with pytest.raises(IntegrityError, match=match), checked():
        yield


def forbidden(statement: str) -> None:
    """Expect that the role may not do something."""
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        run(statement)


def account_of(house: House, kind: str, owner: UUID) -> int:
    """Return the id of an account."""
    return int(run("SELECT wallets_account_open(%s, %s, %s, 'PTS')", [house.operator_id, kind, owner])[0][0])


def tx_insert(house: House, kind: str = "credit", **columns: Any) -> UUID:
    """Insert a bare transaction, as no service does it."""
    tx_id = uuid4()
    values = {
        "id": tx_id,
        "operator_id": house.operator_id,
        "kind": kind,
        "external_id": uuid4().hex,
        "request_sha256": b"",
        "actor": "test",
        "reason": "",
        **columns,
    }
    places = ", ".join(["%s"] * len(values))
    run(f"INSERT INTO wallets_tx ({', '.join(values)}) VALUES ({places})", list(values.values()))
    return tx_id


def entry_insert(house: House, tx_id: UUID, account: int, amount: int, **columns: Any) -> None:
    """Insert a bare entry."""
    values = {
        "tx_id": tx_id,
        "operator_id": house.operator_id,
        "account_id": account,
        "currency": "PTS",
        "amount": amount,
        **columns,
    }
    places = ", ".join(["%s"] * len(values))
    run(f"INSERT INTO wallets_entry ({', '.join(values)}) VALUES ({places})", list(values.values()))


class TestGrants:
    def test_the_role_is_the_applications_own_and_owns_nothing(self, house: House) -> None:
        assert run("SELECT current_user, session_user") == [("sealdeck_app", "sealdeck_app")]
        owned = run(
            "SELECT count(*) FROM pg_class WHERE relowner = 'sealdeck_app'::regrole"
            " UNION ALL SELECT count(*) FROM pg_proc WHERE proowner = 'sealdeck_app'::regrole"
        )
        assert owned == [(0,), (0,)]

    def test_every_table_of_the_ledger_is_looked_at_here(self, house: House) -> None:
        names = run("SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'wallets%' ORDER BY 1")
        assert {name for (name,) in names} == {name for name in GUARDED if name.startswith("wallets")}

    @pytest.mark.parametrize("table", GUARDED)
    def test_nothing_is_deleted_or_truncated(self, house: House, table: str) -> None:
        for statement in (f"DELETE FROM {table}", f"TRUNCATE {table}", f"TRUNCATE {table} CASCADE"):
            forbidden(statement)

    @pytest.mark.parametrize("table", GUARDED)
    def test_only_named_columns_are_updated(self, house: House, table: str) -> None:
        columns = [
            name
            for (name,) in run(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
                [table],
            )
        ]
        allowed = {
            column
            for column in columns
            if run("SELECT has_column_privilege(%s, %s, 'UPDATE')", [table, column]) == [(True,)]
        }
        assert allowed == COLUMNS_TO_UPDATE.get(table, set())
        for column in set(columns) - allowed:
            forbidden(f"UPDATE {table} SET {column} = {column}")

    @pytest.mark.parametrize("table", NO_INSERT)
    def test_accounts_and_balances_are_not_inserted(self, house: House, table: str) -> None:
        forbidden(f"INSERT INTO {table} DEFAULT VALUES")

    @pytest.mark.parametrize(
        ("table", "column"),
        [
            ("wallets_tx", "created_at_ms"),
            ("wallets_tx", "xid"),
            ("wallets_entry", "id"),
            ("wallets_entry", "account_seq"),
            ("wallets_entry", "balance_after"),
            ("wallets_approval", "decided_by"),
            ("wallets_approval", "xid"),
            ("wallets_hold", "resolved_tx_id"),
            ("wallets_hold", "created_at_ms"),
            ("webhooks_event", "tx_id"),
            ("webhooks_event", "seq"),
        ],
    )
    def test_what_the_database_gives_is_not_chosen(self, house: House, table: str, column: str) -> None:
        forbidden(f"INSERT INTO {table} ({column}) VALUES (NULL)")

    @pytest.mark.parametrize(
        "statement",
        [
            "SET session_replication_role = replica",
            "ALTER TABLE wallets_entry DISABLE TRIGGER ALL",
            "DROP TRIGGER wallets_entry_enters ON wallets_entry",
            "CREATE OR REPLACE FUNCTION wallets_entry_enters() RETURNS trigger LANGUAGE sql AS 'SELECT 1'",
            "CREATE TABLE public.wallets_mine (id int)",
            "SET ROLE sealdeck_owner",
            "SELECT setval('wallets_entry_id_seq', 1)",
            "LOCK TABLE wallets_entry IN ACCESS EXCLUSIVE MODE",
        ],
    )
    def test_the_guards_cannot_be_taken_away(self, house: House, statement: str) -> None:
        with (
            pytest.raises(DatabaseError, match=r"permission denied|must be owner|must be able to SET ROLE"),
            transaction.atomic(),
        ):
            run(statement)

    @commits
    def test_a_temporary_table_of_the_same_name_fools_no_guard(self, house: House) -> None:
        player = house.player(10)
        with refused("L2"):
            old = run("SELECT id FROM wallets_tx LIMIT 1")[0][0]
            run("CREATE TEMPORARY TABLE wallets_tx AS SELECT * FROM public.wallets_tx")
            run("UPDATE pg_temp.wallets_tx SET xid = pg_current_xact_id()")
            entry_insert(house, old, account_of(house, "player", player), 5)

    def test_every_trigger_function_has_a_fixed_search_path(self, house: House) -> None:
        loose = run(
            "SELECT proname FROM pg_proc WHERE prosecdef AND proname ~ '^(wallets|webhooks)_'"
            " AND NOT coalesce(proconfig, '{}') @> ARRAY['search_path=pg_catalog, public, pg_temp']"
        )
        assert loose == []

    def test_no_function_of_the_ledger_is_for_everybody(self, house: House) -> None:
        open_ones = run(
            "SELECT proname FROM pg_proc WHERE proname ~ '^(wallets|webhooks)_' AND prorettype <> 'trigger'::regtype"
            " AND proname NOT IN ('wallets_movement_fits', 'wallets_lines')"
            " AND has_function_privilege('sealdeck_readonly', oid, 'EXECUTE')"
        )
        assert open_ones == []


class TestEntries:
    def test_a_lone_entry_is_refused_at_commit(self, house: House) -> None:
        player = house.player()
        with refused("L1"):
            entry_insert(house, tx_insert(house), account_of(house, "player", player), 5)
        assert house.available(player) == 0

    def test_an_unbalanced_pair_is_refused_at_commit(self, house: House) -> None:
        player = house.player()
        with refused("L1"):
            tx_id = tx_insert(house)
            entry_insert(house, tx_id, account_of(house, "player", player), 5)
            entry_insert(house, tx_id, account_of(house, "funding", house.operator_id), -4)

    def test_an_early_check_does_not_open_a_door(self, house: House) -> None:
        player = house.player()
        with refused("L1"):
            tx_id = tx_insert(house)
            entry_insert(house, tx_id, account_of(house, "player", player), 5)
            entry_insert(house, tx_id, account_of(house, "funding", house.operator_id), -5)
            run("SET CONSTRAINTS ALL IMMEDIATE")
            run("SET CONSTRAINTS ALL DEFERRED")
            entry_insert(house, tx_id, account_of(house, "player", player), 1)

    def test_an_empty_transaction_is_refused(self, house: House) -> None:
        with refused("L1"):
            tx_insert(house)

    def test_two_currencies_do_not_balance_each_other(self, house: House) -> None:
        house.currency_make("GEM")
        player = house.player()
        gems = run("SELECT wallets_account_open(%s, 'funding', %s, 'GEM')", [house.operator_id, house.operator_id])
        with refused("L1"):
            tx_id = tx_insert(house)
            entry_insert(house, tx_id, account_of(house, "player", player), 5)
            entry_insert(house, tx_id, gems[0][0], -5, currency="GEM")

    def test_an_entry_is_in_the_currency_of_its_account(self, house: House) -> None:
        house.currency_make("GEM")
        player = house.player()
        with refused("the entry is in GEM"):
            entry_insert(house, tx_insert(house), account_of(house, "player", player), 5, currency="GEM")

    @commits
    def test_a_balanced_pair_cannot_join_an_old_transaction(self, house: House) -> None:
        player = house.player(10)
        old = run("SELECT id FROM wallets_tx")[0][0]
        with refused("L2"):
            entry_insert(house, old, account_of(house, "player", player), 5)
            entry_insert(house, old, account_of(house, "funding", house.operator_id), -5)
        assert house.available(player) == 10

    def test_an_entry_stays_within_its_operator(self, house: House, other_house: House) -> None:
        stranger = other_house.player()
        with refused("another operator"):
            entry_insert(house, tx_insert(house), account_of(other_house, "player", stranger), 5)

    def test_an_escrow_is_touched_by_its_own_round_only(self, house: House) -> None:
        mine, theirs = uuid4(), uuid4()
        player = house.player(10)
        with refused("another round"):
            tx_id = tx_insert(house, "buy_in", round_id=mine)
            entry_insert(house, tx_id, account_of(house, "player", player), -5, round_id=mine)
            entry_insert(house, tx_id, account_of(house, "escrow", theirs), 5, round_id=mine)

    @pytest.mark.parametrize(
        ("kind", "from_kind", "to_kind"),
        [("credit", "player", "funding"), ("debit", "funding", "player"), ("credit", "rake", "player")],
    )
    def test_a_kind_moves_money_its_own_way_only(self, house: House, kind: str, from_kind: str, to_kind: str) -> None:
        player = house.player(10)
        with refused("does not move"):
            tx_id = tx_insert(house, kind)
            for name, amount in ((from_kind, -5), (to_kind, 5)):
                owner = player if name == "player" else house.operator_id
                entry_insert(house, tx_id, account_of(house, name, owner), amount)

    def test_a_balance_never_falls_below_its_floor(self, house: House) -> None:
        player = house.player(10)
        with refused("wallets_balance_floor"):
            entry_insert(house, tx_insert(house, "debit"), account_of(house, "player", player), -11)

    def test_zero_is_no_entry(self, house: House) -> None:
        with refused("does not move 0"):
            entry_insert(house, tx_insert(house), account_of(house, "player", house.player()), 0)


class TestOutcomes:
    def settle_by_hand(self, house: House, round_id: UUID, kind: str, lines: list[tuple[str, UUID, int]]) -> None:
        """Insert an outcome as no service does it."""
        with transaction.atomic():
            tx_id = tx_insert(house, kind, round_id=round_id)
            for account_kind, owner, amount in lines:
                entry_insert(house, tx_id, account_of(house, account_kind, owner), amount, round_id=round_id)

    def test_a_settlement_empties_the_escrow(self, house: House) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, a, b, amount_minor=50)
        with refused("I6"):
            self.settle_by_hand(house, round_id, "settle", [("escrow", round_id, -99), ("player", a, 99)])

    def test_a_settlement_pays_only_who_paid_in(self, house: House) -> None:
        a, b, c, round_id = house.player(100), house.player(100), house.player(), uuid4()
        house.buy_in(round_id, a, b, amount_minor=50)
        with refused("I7"):
            self.settle_by_hand(house, round_id, "settle", [("escrow", round_id, -100), ("player", c, 100)])

    def test_a_void_gives_each_his_own_back(self, house: House) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, a, b, amount_minor=50)
        lines = [("escrow", round_id, -100), ("player", a, 60), ("player", b, 40)]
        with refused("I7"):
            self.settle_by_hand(house, round_id, "void", lines)

    def test_a_round_has_one_outcome(self, house: House) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, a, b, amount_minor=50)
        house.settle(round_id, (a, 95), fee_minor=5)
        with refused("wallets_tx_one_outcome"):
            self.settle_by_hand(house, round_id, "void", [("escrow", round_id, -100), ("player", a, 100)])

    def test_a_round_takes_buy_ins_once(self, house: House) -> None:
        a, b, round_id = house.player(100), house.player(100), uuid4()
        house.buy_in(round_id, a, b, amount_minor=50)
        with refused("wallets_tx_one_buy_in"):
            self.settle_by_hand(house, round_id, "buy_in", [("player", a, -1), ("escrow", round_id, 1)])


class TestStates:
    @pytest.mark.parametrize(
        ("status", "kind", "sign"),
        [(AccountStatus.FROZEN, "debit", -1), (AccountStatus.CLOSED, "debit", -1), (AccountStatus.CLOSED, "credit", 1)],
    )
    def test_a_frozen_or_closed_account_takes_no_such_entry(
        self, house: House, status: AccountStatus, kind: str, sign: int
    ) -> None:
        player = house.player(10)
        house.status(player, status)
        with refused("I17"):
            tx_id = tx_insert(house, kind)
            entry_insert(house, tx_id, account_of(house, "player", player), 5 * sign)

    @pytest.mark.parametrize("status", [AccountStatus.FROZEN, AccountStatus.CLOSED])
    def test_payouts_and_refunds_reach_every_account(self, house: House, status: AccountStatus) -> None:
        a, b, first, second = house.player(100), house.player(100), uuid4(), uuid4()
        house.buy_in(first, a, b, amount_minor=50)
        house.buy_in(second, a, b, amount_minor=50)
        house.status(a, status)
        house.settle(first, (a, 95), fee_minor=5)
        with transaction.atomic():
            services.round_refund(operator_id=house.operator_id, round_id=second, currency="PTS", reason="x")
        assert (house.available(a), house.available(b)) == (145, 50)


def _approval(house: House, requested_by: str = "ann") -> UUID:
    with transaction.atomic():
        return services.adjustment_request(
            operator_id=house.operator_id,
            player_id=house.player(),
            currency="PTS",
            amount_minor=5,
            reason="lost ticket",
            requested_by=requested_by,
        )


DECISIONS: dict[str, tuple[LiteralString, str]] = {
    "by the one who asked": ("state = 'approved', decided_by = 'ann', decided_at_ms = 1", "other_person"),
    "by nobody": ("state = 'approved'", "two_people"),
    "executed without being approved": ("state = 'executed', decided_by = 'bob'", "A1"),
    "to a state there is not": ("state = 'perhaps', decided_by = 'bob'", "A1|approval_state"),
}


class TestApprovals:
    @pytest.mark.parametrize("case", DECISIONS)
    def test_a_decision_is_refused(self, house: House, case: str) -> None:
        change, message = DECISIONS[case]
        approval_id = _approval(house)
        with refused(message):
            run(f"UPDATE wallets_approval SET {change} WHERE id = %s", [approval_id])

    def test_an_execution_has_its_transaction(self, house: House) -> None:
        approval_id = _approval(house)
        run("UPDATE wallets_approval SET state = 'approved', decided_by = 'bob' WHERE id = %s", [approval_id])
        with refused("A1"):
            run("UPDATE wallets_approval SET state = 'executed' WHERE id = %s", [approval_id])

    def test_a_decision_is_not_taken_back(self, house: House) -> None:
        approval_id = _approval(house)
        run("UPDATE wallets_approval SET state = 'rejected', decided_by = 'bob' WHERE id = %s", [approval_id])
        for change in ("state = 'approved'", "state = 'requested', decided_by = NULL", "decided_by = 'eve'"):
            with refused("L12|wallets_hold|A1|wallets_approval|wallets_entry_amount"):
                run(f"UPDATE wallets_approval SET {change} WHERE id = %s", [approval_id])

    @commits
    def test_lines_are_not_added_later(self, house: House) -> None:
        approval_id = _approval(house)
        account = account_of(house, "player", house.player())
        with refused("A1"):
            run(
                "INSERT INTO wallets_approval_line (approval_id, account_id, amount) VALUES (%s, %s, 1000)",
                [approval_id, account],
            )

    @pytest.mark.parametrize("kind", ["adjust", "reverse", "resettle"])
    def test_a_correction_without_approval_is_refused(self, house: House, kind: str) -> None:
        columns = {"reverse": {"reverses_id": uuid4()}, "resettle": {"round_id": uuid4()}}.get(kind, {})
        with refused("wallets_tx_approval"):
            tx_insert(house, kind, **columns)

    def test_a_correction_has_the_approved_entries_only(self, house: House) -> None:
        approval_id = _approval(house)
        run("UPDATE wallets_approval SET state = 'approved', decided_by = 'bob' WHERE id = %s", [approval_id])
        rich = house.player()
        with refused("L15"):
            run("UPDATE wallets_approval SET state = 'executed' WHERE id = %s", [approval_id])
            tx_id = tx_insert(house, "adjust", approval_id=approval_id)
            entry_insert(house, tx_id, account_of(house, "player", rich), 5)
            entry_insert(house, tx_id, account_of(house, "adjustment", house.operator_id), -5)


class TestHolds:
    def place(self, house: House, amount_minor: int = 5) -> UUID:
        """Hold a part of ten points."""
        with transaction.atomic():
            return services.hold_place(
                operator_id=house.operator_id,
                player_id=house.player(10),
                currency="PTS",
                amount_minor=amount_minor,
                purpose="withdrawal",
                reference=uuid4(),
                ttl_ms=60_000,
            )

    def test_a_hold_is_not_captured_for_nothing(self, house: House) -> None:
        hold_id = self.place(house)
        tx_id = run("SELECT id FROM wallets_tx LIMIT 1")[0][0]
        with refused("L12"):
            run("UPDATE wallets_hold SET state = 'captured', resolved_tx_id = %s WHERE id = %s", [tx_id, hold_id])

    @pytest.mark.parametrize("state", ["expired", "captured", "lost"])
    def test_a_hold_does_not_change_as_it_pleases(self, house: House, state: str) -> None:
        hold_id = self.place(house)
        with refused("L12|wallets_hold|A1|wallets_approval|wallets_entry_amount"):
            run("UPDATE wallets_hold SET state = %s WHERE id = %s", [state, hold_id])

    def test_a_hold_that_is_over_stays_over(self, house: House) -> None:
        hold_id = self.place(house)
        run("UPDATE wallets_hold SET state = 'released' WHERE id = %s", [hold_id])
        with refused("L12|wallets_hold|A1|wallets_approval|wallets_entry_amount"):
            run("UPDATE wallets_hold SET state = 'active' WHERE id = %s", [hold_id])
        assert run("SELECT held FROM wallets_balance WHERE held <> 0") == []


class TestOwner:
    """Even the owner of the tables meets the triggers, so a slip in a migration changes no history."""

    @pytest.fixture
    def owner(self, administrator: Any) -> Callable[[str], None]:
        """Return a function that runs a statement as the owner of the tables."""

        def run_as_owner(statement: str) -> None:
            with administrator.transaction():
                administrator.execute("SET LOCAL ROLE sealdeck_owner")
                administrator.execute(statement)

        return run_as_owner

    @commits
    @pytest.mark.parametrize("table", ["wallets_tx", "wallets_entry"])
    def test_history_is_final(self, house: House, owner: Callable[[str], None], table: str) -> None:
        house.player(10)
        statements = (
            f"UPDATE {table} SET operator_id = operator_id",
            f"DELETE FROM {table}",
            f"TRUNCATE {table} CASCADE",
        )
        for statement in statements:
            with pytest.raises(Exception, match="L3"):
                owner(statement)
