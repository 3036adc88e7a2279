"""``sealdeck-verify --statistics``: over files and a server's tables, in words, JSON and a picture.

Source: docs/fairness/auditors.md, section 6.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from apps.fairness.protocol.bundle import bundle_encode
from apps.fairness.verify.archive import build
from apps.fairness.verify.cli import main
from apps.fairness.verify.statistics.meanings import TESTS
from tests.fairness.protocol.cases import put
from tests.fairness.protocol.house import House, secret
from tests.fairness.verify.server import Pages, serving
from tests.fairness.verify.test_build import run
from tests.fairness.verify.test_cli import trust_of

ROUNDS = 201


def table_of(house: House, rounds: int, **edits: Any) -> list[bytes]:
    """Play rounds of one table: the sample of twelve cards."""
    lines, prev, last_opener = [], "", None
    for index in range(rounds):
        played = house.play(index=index, prev=prev, last_opener=last_opener, edits=edits)
        prev, last_opener = played.terminal, played.opener
        lines.append(bundle_encode(played.bundle) + b"\n")
    return lines


@pytest.fixture(scope="module")
def house() -> House:
    return House()


@pytest.fixture(scope="module")
def lines(house: House) -> list[bytes]:
    return table_of(house, ROUNDS)


@pytest.fixture
def trust(house: House, tmp_path: Path) -> str:
    return trust_of(house, tmp_path / "trust.json")


def written(tmp_path: Path, lines: list[bytes]) -> str:
    path = tmp_path / "rounds.jsonl"
    path.write_bytes(b"".join(lines))
    return str(path)


def test_an_honest_table_passes_in_words_and_as_a_picture(
    tmp_path: Path, lines: list[bytes], trust: str, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = tmp_path / "month.svg"
    arguments = ["--statistics", "--trust", trust, "--picture", str(drawn), "--jobs", "1"]
    assert main([*arguments, written(tmp_path, lines)]) == 0
    said = capsys.readouterr().out
    assert f"{ROUNDS} rounds: {ROUNDS} passed" in said
    assert f"{ROUNDS} rounds, 0 void: 15 tests, alpha 0.01" in said
    assert f"sample/1, 12 cards: {ROUNDS} decks" in said
    assert "15 tests: 15 pass\n" in said
    assert "no round was void" in said
    picture = ElementTree.parse(drawn).getroot()
    tags = [element.tag.rpartition("}")[2] for element in picture.iter()]
    assert tags.count("circle") == 15
    assert tags.count("rect") == 1 + 12 * 12


def test_json_is_one_object(tmp_path: Path, lines: list[bytes], trust: str, capsys: pytest.CaptureFixture[str]) -> None:
    # Rounds that are there twice, in files that overlap, count once.
    assert main(["--statistics", "--json", "--trust", trust, written(tmp_path, lines + lines[:9])]) == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["source"], value["rounds"], value["status"], value["left_out"]) == ("bundles", ROUNDS, 0, 0)
    assert value["groups"] == {"sample/1, 12 cards": ROUNDS}
    assert {row["verdict"] for row in value["results"]} == {"pass"}
    row = value["results"][0]
    assert list(row) == ["test", "group", "count", "needed", "p", "text", "p_adjusted", "verdict", "meaning"]
    assert row["meaning"] == TESTS[row["test"]]


def test_a_table_from_a_server(lines: list[bytes], trust: str, capsys: pytest.CaptureFixture[str]) -> None:
    pages = Pages()
    table = json.loads(lines[0])["records"][0]["body"]["table"]
    pages.pages[f"/v1/fairness/tables/{table}/bundles"] = b"".join(lines[:30])
    with serving(pages) as base:
        assert main(["--statistics", "--trust", trust, "--url", base, "--table", table]) == 2
    said = capsys.readouterr().out
    assert "too little data position_by_card  30 decks, needs at least 200" in said
    assert "15 tests: 3 pass, 12 too little data" in said


def test_a_house_that_uses_one_seed_again_is_suspicious(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    house = House("again")

    def same(play: Any) -> None:
        play.seed = secret("the one and only")

    path = written(tmp_path, table_of(house, 3, play=same))
    assert main(["--statistics", "--trust", trust_of(house, tmp_path / "t.json"), path]) == 1
    said = capsys.readouterr().out
    assert "3 rounds: 3 passed" in said
    assert "SUSPICIOUS      repeated_seeds" in said
    assert TESTS["repeated_seeds"] in said


def test_bundles_that_fail_are_told_and_left_out(
    tmp_path: Path, lines: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    house = House()
    value = house.play(edits={"reveal": put("fee", value=1)}).bundle
    path = written(tmp_path, [bundle_encode(value) + b"\n", *lines[2:5]])
    assert main(["--statistics", "--json", path]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["rounds"], told["left_out"], told["bundles_status"], told["status"]) == (3, 1, 1, 1)
    assert main(["--statistics", path]) == 1
    assert "money: " in capsys.readouterr().out


def test_voids_are_counted_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    house, made, prev, last_opener = House(), [], "", None
    for index in range(12):
        void = {"reason": "operator_fault", "fault": "operator"} if index % 2 else None
        stop = ("open" if index == 1 else "deck") if void else None
        played = house.play(index=index, prev=prev, last_opener=last_opener, stop=stop, void=void)
        prev, last_opener = played.terminal, last_opener if played.opener is None else played.opener
        made.append(bundle_encode(played.bundle) + b"\n")
    assert main(["--statistics", "--json", written(tmp_path, made)]) == 2
    value = json.loads(capsys.readouterr().out)
    assert (value["voids"], value["unknown"]) == ({"operator_fault": 6}, 1)
    results = {row["test"]: row for row in value["results"]}
    assert set(results) == set(TESTS) - {"void_tables"}
    assert {name for name, row in results.items() if row["verdict"] != "too_little_data"} == {
        "repeated_decks",
        "repeated_seeds",
        "repeated_nonces",
    }
    assert main(["--statistics", written(tmp_path, made)]) == 2
    assert "the decks of 1 voids cannot be known" in capsys.readouterr().out


def test_simulated_decks_of_every_game_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--statistics", "--simulate", str(ROUNDS), "--seed", "fair", "--jobs", "1", "--json"]) == 0
    first = capsys.readouterr().out
    value = json.loads(first)
    assert (value["source"], value["rounds"], len(value["results"])) == ("simulated", 5 * ROUNDS, 5 * 13 + 2)
    assert main(["--statistics", "--simulate", str(ROUNDS), "--seed", "fair", "--jobs", "2", "--json"]) == 0
    assert capsys.readouterr().out == first
    assert main(["--statistics", "--simulate", "3", "--jobs", "1"]) == 2
    assert "15 simulated rounds, 0 void: 7 tests" in capsys.readouterr().out


def test_a_picture_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "none" / "month.svg")
    assert main(["--statistics", "--simulate", "2", "--jobs", "1", "--picture", path]) == 2
    assert path in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--statistics"],
        ["--statistics", "--log", "http://127.0.0.1"],
        ["--statistics", "--url", "http://127.0.0.1", "--round", "a"],
        ["--statistics", "--simulate", "0"],
        ["--statistics", "--simulate", "5", "x"],
        ["--statistics", "--alpha", "0", "x"],
        ["--statistics", "--alpha", "1", "x"],
        ["--simulate", "5"],
        ["--picture", "a.svg", "x"],
    ],
)
def test_a_command_that_makes_no_sense_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code == 2


def test_the_single_file_says_what_to_install(tmp_path: Path) -> None:
    archive = tmp_path / "sealdeck-verify.pyz"
    archive.write_bytes(build())
    for missing in ("numpy", "scipy"):
        done = run(archive, "--statistics", "--simulate", "5", blocked=(missing,))
        assert done.returncode == 2
        assert done.stderr == "sealdeck-verify: --statistics needs numpy and scipy: pip install numpy scipy\n"
    done = run(archive, "--statistics", "--simulate", "3", "--seed", "x", blocked=("django", "httpx"))
    assert (done.returncode, done.stderr) == (2, "")
    assert "15 simulated rounds" in done.stdout
