"""The monitor follows a log over several runs and finds what an operator does to it in between.

Source: docs/fairness/protocol.md, sections 11 and 13, the whole log.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from apps.fairness.protocol import signatures
from apps.fairness.protocol.log import MemoryTree, leaf_hash
from apps.fairness.verify.cli import main
from tests.fairness.protocol.house import House, secret
from tests.fairness.protocol.vectors import VECTORS
from tests.fairness.verify.server import Pages, serving
from tests.fairness.verify.test_cli import trust_of

VOID = {"reason": "not_started", "fault": "none"}


class Watcher:
    """Runs the command again and again with one state file."""

    def __init__(self, house: House, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.pages = Pages(house)
        self.state = str(folder / "log.state")
        self.trust = trust_of(house, folder / "trust.json")
        self.capsys = capsys

    def run(self, *more: str) -> dict[str, Any]:
        """Return what a run says, with its exit status."""
        with serving(self.pages) as base:
            status = main(["--log", base, "--state", self.state, "--trust", self.trust, "--json", *more])
        out = self.capsys.readouterr()
        row: dict[str, Any] = json.loads(out.out) if out.out else {"error": out.err}
        return {**row, "exit": status}


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def watcher(house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Watcher:
    return Watcher(house, tmp_path, capsys)


def rounds(house: House, count: int, prev: str = "", first: int = 0) -> str:
    """Play rounds that nobody came to; return the hash of the last one's end."""
    for index in range(first, first + count):
        prev = house.play(index=index, prev=prev, stop="open", void=VOID).terminal
    return prev


def rewritten(house: House, index: int, entry: bytes) -> None:
    """Let an operator put another entry into its log."""
    house.entries[index] = entry
    house.tree = MemoryTree(map(leaf_hash, house.entries))


def test_runs_take_up_where_the_last_one_ended(house: House, watcher: Watcher) -> None:
    prev = rounds(house, 3)
    first = watcher.run()
    assert (first["verdict"], first["size"], first["exit"], first["log"]) == ("pass", 9, 0, house.origin)
    rounds(house, 2, prev, 3)
    watcher.pages.asked.clear()
    second = watcher.run()
    assert (second["verdict"], second["size"]) == ("pass", 13)
    assert watcher.run()["verdict"] == "pass"
    kept = sqlite3.connect(watcher.state).execute("SELECT verdict, note FROM checkpoints").fetchall()
    assert [verdict for verdict, _ in kept] == ["pass"] * 3
    assert [int(note.split("\n")[1]) for _, note in kept] == [9, 13, 13]


def test_what_was_seen_before_counts_in_later_runs(house: House, watcher: Watcher) -> None:
    prev = rounds(house, 1)
    assert watcher.run()["verdict"] == "pass"
    assert prev != "11" * 32
    house.play(index=1, prev="11" * 32, stop="open", void=VOID)
    assert watcher.run()["verdict"] == "log_prev"


def test_an_index_left_out_between_two_runs(house: House, watcher: Watcher) -> None:
    prev = rounds(house, 1)
    assert watcher.run()["verdict"] == "pass"
    rounds(house, 1, prev, 2)
    assert watcher.run()["verdict"] == "log_index"


def test_a_seed_that_was_used_in_an_earlier_run(house: House, watcher: Watcher) -> None:
    prev = rounds(house, 1)
    assert watcher.run()["verdict"] == "pass"
    table = secret("table")[:16]
    old = secret(f"seed {table.hex()} 0")

    def reuse(play: Any) -> None:
        play.seed = old

    house.play(index=1, prev=prev, stop="open", void=VOID, edits={"play": reuse})
    assert watcher.run()["verdict"] == "log_seed"


def test_a_log_that_was_rewritten_is_found_by_who_kept_its_state(house: House, watcher: Watcher) -> None:
    prev = rounds(house, 3)
    assert watcher.run()["verdict"] == "pass"
    other = House()
    rounds(other, 3)
    rewritten(house, 8, other.play(index=2, prev=prev, stop="open").records[0].entry)
    rounds(house, 1, prev, 3)
    row = watcher.run()
    assert (row["verdict"], row["exit"]) == ("log_root", 1)
    assert watcher.run()["verdict"] == "log_root"


def test_a_log_that_became_smaller(house: House, watcher: Watcher) -> None:
    rounds(house, 3)
    assert watcher.run()["verdict"] == "pass"
    del house.entries[7:]
    house.tree = MemoryTree(map(leaf_hash, house.entries))
    row = watcher.run()
    assert (row["verdict"], row["codes"]) == ("log_consistency", ["log_consistency"])


def test_a_round_that_is_never_ended(house: House, watcher: Watcher) -> None:
    house.play(stop="deck")
    row = watcher.run()
    assert (row["verdict"], row["exit"]) == ("log_overdue", 1)


def test_an_entry_that_was_altered(house: House, watcher: Watcher) -> None:
    rounds(house, 2)
    rewritten(house, 4, house.entries[4].replace(b'"none"', b'"operator"'))
    assert watcher.run()["verdict"] == "log_entry"


def test_a_checkpoint_of_another_key(house: House, watcher: Watcher) -> None:
    house.log = b"x" * 32
    assert watcher.run()["verdict"] == "log_checkpoint"


def test_more_entries_than_a_tile_over_several_processes(house: House, watcher: Watcher) -> None:
    rounds(house, 600)
    row = watcher.run("--jobs", "2")
    assert (row["verdict"], row["size"]) == ("pass", 1203)
    paths = [path for path in watcher.pages.asked if "entries" in path]
    assert paths == [f"/v1/fairness/tile/entries/{n:03d}" for n in range(4)] + ["/v1/fairness/tile/entries/004.p/179"]


def test_a_key_added_in_the_middle_signs_from_there_on(house: House, watcher: Watcher) -> None:
    prev = rounds(house, 2)
    house.key_add("records", signatures.public_key(secret("new")))
    house.key_add("records", signatures.public_key(house.signer), op="revoke")
    old, house.signer = house.signer, secret("new")
    prev = rounds(house, 2, prev, 2)
    assert watcher.run()["verdict"] == "pass"
    house.signer = old
    rounds(house, 1, prev, 4)
    row = watcher.run()
    assert row["verdict"] == "log_entry"
    assert any("revoked" in note for note in row["notes"])


def test_a_partial_tile_that_is_gone_is_taken_from_the_full_one(house: House, watcher: Watcher) -> None:
    rounds(house, 2)
    watcher.pages.only_full_tiles = True
    assert watcher.run()["verdict"] == "pass"


def test_the_state_of_another_log_and_what_is_no_state(house: House, watcher: Watcher, tmp_path: Path) -> None:
    assert watcher.run()["verdict"] == "pass"
    other = Watcher(House("other"), tmp_path, watcher.capsys)
    other.state = watcher.state
    assert other.run()["exit"] == 2
    text = tmp_path / "text"
    text.write_text("no state " * 200)
    watcher.state = str(text)
    assert "error" in watcher.run()


def test_a_server_that_has_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Pages()) as base:
        assert main(["--log", base, "--state", str(tmp_path / "s")]) == 2
    assert "404" in capsys.readouterr().err


def test_a_log_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, trust = tmp_path / "log.json", tmp_path / "trust.json"
    for case in [{"code": "pass", **VECTORS}, *VECTORS["log_negative"]]:
        path.write_text(json.dumps(case["log"]))
        trust.write_text(json.dumps(case["trust"]))
        status = main(["--log", str(path), "--trust", str(trust), "--json"])
        said = json.loads(capsys.readouterr().out)
        code = "pass" if case["code"] == "log_overdue" else case["code"]
        assert (said["verdict"], status) == (code, 0 if code == "pass" else 1)
    for text in ("", "[]", '{"origin":1}', '{"origin":"a","entries":["\\ud800"],"checkpoints":[]}'):
        path.write_text(text)
        assert main(["--log", str(path)]) == 2


def test_words_for_people_and_the_missing_trust_file(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds(house, 1)
    with serving(Pages(house)) as base:
        assert main(["--log", base, "--state", str(tmp_path / "s")]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"passed: log {house.origin}, 5 entries\n")
    assert "No trust file" in said
