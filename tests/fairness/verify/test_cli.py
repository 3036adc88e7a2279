"""The command tells what the verifier found, with the exit status of the protocol page.

Source: docs/fairness/protocol.md, section 13, Exit status.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from apps.fairness.protocol.bundle import bundle_encode
from apps.fairness.protocol.verdict import CANNOT, FAILURES, LOG_FAILURES
from apps.fairness.verify import meanings
from apps.fairness.verify.cli import main
from tests.fairness.protocol.cases import put
from tests.fairness.protocol.house import House
from tests.fairness.protocol.vectors import ROUNDS, VECTORS
from tests.fairness.verify.server import Pages, serving

BUNDLES = [row["bundle"] for row in ROUNDS.values()]


@pytest.fixture
def trust(tmp_path: Path) -> str:
    path = tmp_path / "trust.json"
    path.write_text(json.dumps(VECTORS["trust"]))
    return str(path)


def trust_of(house: House, path: Path) -> str:
    trust = house.trust
    value = {
        "log": str(trust.log),
        "root": trust.root.hex(),
        "witnesses": [str(key) for key in trust.witnesses],
        "quorum": trust.quorum,
    }
    path.write_text(json.dumps(value))
    return str(path)


def written(path: Path, bundles: list[Any]) -> str:
    path.write_bytes(b"".join(bundle_encode(value) + b"\n" for value in bundles))
    return str(path)


def objects(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_all_pass(tmp_path: Path, trust: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "rounds.jsonl", BUNDLES)
    assert main(["--trust", trust, "--complete", path]) == 0
    said = capsys.readouterr().out
    assert said.count("passed: round ") == len(BUNDLES)
    assert f"{len(BUNDLES)} rounds: {len(BUNDLES)} passed" in said
    assert "No trust file" not in said


def test_json_has_one_object_for_each_bundle(tmp_path: Path, trust: str, capsys: pytest.CaptureFixture[str]) -> None:
    broken = json.loads(json.dumps(BUNDLES[0]))
    broken["openings"][0]["pos"] = 1
    path = written(tmp_path / "rounds.jsonl", [BUNDLES[1], broken, {"format": "sealdeck-round/2"}])
    assert main(["--trust", trust, "--json", path]) == 1
    good, bad, unknown = objects(capsys)
    assert list(good) == ["round", "status", "verdict", "codes", "notes"]
    round_ = BUNDLES[1]["records"][0]["body"]["round"]
    assert (good["round"], good["status"], good["verdict"], good["codes"]) == (round_, 0, "pass", [])
    assert (bad["status"], bad["verdict"], bad["codes"]) == (1, "opening", ["opening"])
    assert any(note.startswith("opening: openings[0]: ") for note in bad["notes"])
    assert (unknown["round"], unknown["status"], unknown["verdict"], unknown["codes"]) == (None, 2, "version", [])


@pytest.mark.parametrize("indent", [None, 2])
def test_a_single_document_may_stand_on_one_line_or_on_many(
    tmp_path: Path, trust: str, indent: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "round.json"
    path.write_text("\n" + json.dumps(BUNDLES[0], indent=indent))
    assert main(["--trust", trust, "--json", str(path)]) == 0
    assert [row["verdict"] for row in objects(capsys)] == ["pass"]


def test_a_damaged_first_line_does_not_hide_the_others(
    tmp_path: Path, trust: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rounds.jsonl"
    path.write_bytes(b"{ damaged\n" + b"\n".join(map(bundle_encode, BUNDLES)))
    assert main(["--trust", trust, "--json", str(path)]) == 2
    assert [row["verdict"] for row in objects(capsys)] == ["unreadable"] + ["pass"] * len(BUNDLES)


def test_many_rounds_are_spread_over_processes_and_stay_in_order(
    tmp_path: Path, trust: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bundles = [BUNDLES[0], BUNDLES[5]] * 50
    path = written(tmp_path / "rounds.jsonl", bundles)
    assert main(["--trust", trust, "--json", "--jobs", "2", path]) == 0
    rounds = [row["round"] for row in objects(capsys)]
    assert rounds == [value["records"][0]["body"]["round"] for value in bundles]
    assert main(["--trust", trust, "--jobs", "1", path]) == 0
    assert capsys.readouterr().out.startswith("100 rounds: 100 passed\n")


def test_standard_input(trust: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    data = io.BytesIO(bundle_encode(BUNDLES[0]))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=data))
    assert main(["--trust", trust, "-"]) == 0
    assert "standard input" in capsys.readouterr().out


def test_a_failure_is_explained_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    house = House()
    value = house.play(edits={"reveal": put("fee", value=1)}).bundle
    path = written(tmp_path / "round.json", [value])
    assert main(["--trust", trust_of(house, tmp_path / "trust.json"), path]) == 1
    said = capsys.readouterr().out
    assert said.startswith("FAILED: round ")
    assert f"money: {meanings.BUNDLE['money']}" in said
    assert "at records[2].body.fee: the fee on a pot of 3000 is 150" in said


def test_without_trust_it_says_what_that_means(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([written(tmp_path / "round.json", BUNDLES[:1])]) == 0
    assert "agrees with itself" in capsys.readouterr().out


def test_rules_can_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "round.json", BUNDLES[:1])
    assert main(["--no-rules", path]) == 0
    assert "rules not replayed" not in capsys.readouterr().out
    assert main([path]) == 0
    assert "rules not replayed: sample/1 is not known here" in capsys.readouterr().out


def test_gaps_are_named_when_asked_for(tmp_path: Path, trust: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "rounds.jsonl", [ROUNDS["none"]["bundle"], ROUNDS["sealed"]["bundle"]])
    assert main(["--trust", trust, path]) == 0
    assert main(["--trust", trust, "--complete", path]) == 2
    assert meanings.CANNOT["gap"] in capsys.readouterr().out


def test_nothing_to_check_is_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty"
    path.write_bytes(b"\n\n")
    assert main([str(path)]) == 2
    assert "0 rounds: nothing to check" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["x", "--log", "http://127.0.0.1"],
        ["--url", "http://127.0.0.1"],
        ["--url", "http://127.0.0.1", "--round", "a", "--table", "b"],
        ["--round", "a", "x"],
        ["--jobs", "0", "x"],
    ],
)
def test_a_command_that_makes_no_sense_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code == 2


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", '{"log":1,"root":2,"witnesses":[],"quorum":0}', json.dumps({**VECTORS["trust"], "quorum": 2})],
)
def test_a_trust_file_that_is_none_is_refused(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trust.json"
    path.write_text(text)
    assert main(["--trust", str(path), written(tmp_path / "round.json", BUNDLES[:1])]) == 2
    assert str(path) in capsys.readouterr().err


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err


def test_a_round_and_a_table_from_a_server(trust: str, capsys: pytest.CaptureFixture[str]) -> None:
    pages = Pages()
    first = BUNDLES[0]["records"][0]["body"]
    pages.pages[f"/v1/fairness/rounds/{first['round']}/bundle"] = bundle_encode(BUNDLES[0])
    table = [ROUNDS[name]["bundle"] for name in ("none", "void", "sealed")]
    path = f"/v1/fairness/tables/{first['table']}/bundles"
    pages.pages[path] = b"\n".join(map(bundle_encode, table)) + b"\n"
    with serving(pages) as base:
        assert main(["--trust", trust, "--url", f"{base}/", "--round", first["round"]]) == 0
        capsys.readouterr()
        assert main(["--trust", trust, "--url", base, "--table", first["table"], "--json"]) == 0
        assert [row["verdict"] for row in objects(capsys)] == ["pass"] * 3
        pages.pages[path] = b"\n".join(map(bundle_encode, table[::2])) + b"\n"
        assert main(["--trust", trust, "--url", base, "--table", first["table"]]) == 2
        assert meanings.CANNOT["gap"] in capsys.readouterr().out
        assert main(["--url", base, "--table", "0" * 32]) == 2
        assert "the server answers 404" in capsys.readouterr().err
        assert main(["--url", base, "--round", "../../secret"]) == 2
    assert main(["--url", base, "--round", first["round"]]) == 2
    assert main(["--url", "file:///etc", "--round", first["round"]]) == 2


def test_a_table_that_comes_in_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    house, pages, lines, prev = House(), Pages(), [], ""
    pages.headers["X-Rounds"] = "2"
    for index in range(5):
        void = {"reason": "not_started", "fault": "none"}
        played = house.play(index=index, prev=prev, stop="open", void=void)
        prev = played.terminal
        lines.append(bundle_encode(played.bundle) + b"\n")
    table = played.records[0].body["table"]
    path = f"/v1/fairness/tables/{table}/bundles"
    pages.pages[path] = b"".join(lines[:2])
    pages.pages[f"{path}?from=2"] = b"".join(lines[2:4])
    pages.pages[f"{path}?from=4"] = lines[4]
    pages.pages[f"{path}?from=5"] = b""
    with serving(pages) as base:
        arguments = ["--trust", trust_of(house, tmp_path / "trust.json"), "--url", base, "--json", "--table", table]
        assert main(arguments) == 0
        assert [row["verdict"] for row in objects(capsys)] == ["pass"] * 5
        pages.pages[f"{path}?from=2"] = lines[1]
        assert main(arguments) == 0
        assert len(objects(capsys)) == 3


def test_every_code_has_a_meaning() -> None:
    assert set(meanings.BUNDLE) == set(FAILURES)
    assert set(meanings.CANNOT) == set(CANNOT)
    assert set(meanings.LOG) == set(LOG_FAILURES)
