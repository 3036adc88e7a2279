"""A client's view of the log: believes what is signed, cosigned, consistent and included, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from apps.client.logview import LogView, ProofFailed
from apps.fairness.protocol import records
from tests.client.world import NOW_S, ORIGIN, World, secret, vector


@pytest.fixture
def world() -> World:
    """Return a log with the records of one round."""
    made = World()
    made.bundle("none")
    return made


def failing(code: str) -> Any:
    """Expect a proof that fails with this code."""
    return pytest.raises(ProofFailed, match=f"^{code}: ")


class TestCheckpoint:
    def test_is_believed_and_quoted(self, world: World) -> None:
        view = LogView(world.trust())
        assert view.quoted is None
        seen = view.checkpoint_take(world.checkpoint(), now_s=NOW_S)
        assert view.quoted == {"size": len(world.entries), "root": seen.root.hex()}

    @pytest.mark.parametrize("note", ["", "x", "log.example/test\n1\nAAAA\n\n"])
    def test_is_refused_malformed(self, world: World, note: str) -> None:
        with failing("checkpoint"):
            LogView(world.trust()).checkpoint_take(note, now_s=NOW_S)

    def test_is_refused_from_another_log(self, world: World) -> None:
        view = LogView(world.trust())
        with failing("checkpoint"):
            view.checkpoint_take(world.checkpoint(key="records"), now_s=NOW_S)
        assert view.checkpoint is None

    @pytest.mark.parametrize(("age_s", "is_fine"), [(0, True), (60, True), (61, False), (None, False)])
    def test_needs_witnesses_that_saw_it_lately(self, world: World, age_s: int | None, is_fine: bool) -> None:
        view = LogView(world.trust(quorum=1))
        note = world.checkpoint(cosigned_s=None if age_s is None else NOW_S - age_s)
        if is_fine:
            assert view.checkpoint_take(note, now_s=NOW_S).size == len(world.entries)
        else:
            with failing("witness_quorum"):
                view.checkpoint_take(note, now_s=NOW_S)

    def test_extends_the_one_before(self, world: World) -> None:
        view, size = LogView(world.trust()), len(world.entries)
        view.checkpoint_take(world.checkpoint(size - 2), now_s=NOW_S)
        with failing("view_split"):
            view.checkpoint_take(world.checkpoint(), now_s=NOW_S)
        view.checkpoint_take(world.checkpoint(), world.consistency(size - 2, size), now_s=NOW_S)
        view.checkpoint_take(world.checkpoint(), now_s=NOW_S)
        with failing("view_split"):
            view.checkpoint_take(world.checkpoint(size - 2), now_s=NOW_S)
        assert view.size == size

    def test_is_refused_when_the_log_was_rewritten(self, world: World) -> None:
        view = LogView(world.trust())
        view.checkpoint_take(world.checkpoint(), now_s=NOW_S)
        other = World()
        other.bundle("open")
        with failing("view_split"):
            view.checkpoint_take(other.checkpoint(), now_s=NOW_S)


class TestKeys:
    def test_are_followed_from_the_trusted_root(self, world: World) -> None:
        record = world.sign("open", vector("none")["bundle"]["records"][0]["body"])
        assert world.view().record_check(record, "open").type == "open"
        with failing("key_unknown"):
            LogView(world.trust()).record_check(record, "open")

    def test_are_refused_from_another_root(self, world: World) -> None:
        body = {**world.keys[0]["record"]["body"], "pk": world.keys[1]["record"]["body"]["pk"]}
        forged = {"index": 0, "record": world.sign("key", body)}
        with failing("key_record"):
            LogView(world.trust()).keys_take({"origin": ORIGIN, "keys": [forged]})

    def test_are_refused_out_of_order(self, world: World) -> None:
        with failing("log_order"):
            LogView(world.trust()).keys_take({"origin": ORIGIN, "keys": [world.keys[0], world.keys[0]]})

    def test_that_were_revoked_sign_no_more(self, world: World) -> None:
        body = {**world.keys[1]["record"]["body"], "op": "revoke", "reason": "stolen"}
        signed = records.record_sign(secret("root"), "key", body)
        world.keys.append({"index": world.append(signed), "record": records.log_object(signed)})
        view = LogView(world.trust())
        view.keys_take({"origin": ORIGIN, "keys": world.keys})
        view.checkpoint_take(world.checkpoint(), now_s=NOW_S)
        with failing("key_revoked"):
            view.record_check(world.sign("open", vector("none")["bundle"]["records"][0]["body"]), "open")


class TestRecord:
    def test_is_refused_with_another_type_form_or_signature(self, world: World) -> None:
        view, body = world.view(), vector("none")["bundle"]["records"][0]["body"]
        good = world.sign("open", body)
        with failing("record_set"):
            view.record_check(good, "deck")
        with failing("record_form"):
            view.record_check({**good, "body": {**body, "extra": 1}}, "open")
        with failing("record_signature"):
            view.record_check({**good, "body": {**body, "opened_ms": body["opened_ms"] + 1}}, "open")
        with failing("key_unknown"):
            view.record_check(world.sign("open", body, key="log"), "open")

    def test_is_looked_for_in_the_log(self, world: World) -> None:
        view = world.view()
        signed = view.record_check(world.sign("open", vector("none")["bundle"]["records"][0]["body"]), "open")
        index = world.entries.index(signed.entry)
        view.inclusion_check(signed, index, world.inclusion(index))
        for wrong_index, path in (
            (index + 1, world.inclusion(index)),
            (index, world.inclusion(index)[:-1]),
            (index, []),
        ):
            with failing("inclusion"):
                view.inclusion_check(signed, wrong_index, path)
        with failing("checkpoint"):
            LogView(world.trust()).inclusion_check(signed, index, [])
