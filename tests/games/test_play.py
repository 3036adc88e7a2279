"""Play in the terminal: a person, several persons, bots alone; every word is answered, every end is clean."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from apps.games import play, registry

ROOT = Path(__file__).parents[2]


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], keys: str, *words: str) -> tuple[int, str]:
    """Run the command with these keys pressed; return its exit status and all it wrote."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(keys))
    status = play.main(list(words))
    written = capsys.readouterr()
    return status, written.out + written.err


@pytest.mark.parametrize("slug", registry.slugs())
def test_bots_play_a_game_to_its_end(
    slug: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "transcript.jsonl"
    status, text = run(monkeypatch, capsys, "", slug, "--seed", "7", "--auto", "--transcript", str(path))
    assert status == 0
    assert "The round is over." in text
    assert "\033" not in text
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert [entry["seq"] for entry in entries] == list(range(len(entries)))
    assert entries[0]["kind"] == "start"
    assert entries[0]["events"][0]["type"] == "round_started"
    assert entries[-1]["events"][-1]["type"] == "round_over"
    assert all(set(entry) == {"seq", "at", "kind", "seat", "input", "events"} for entry in entries)
    times = [entry["at"] for entry in entries if entry["kind"] != "start"]
    assert len(times) > 3


@pytest.mark.parametrize("slug", registry.slugs())
def test_a_person_can_play_every_game_by_pressing_one_key(
    slug: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, text = run(monkeypatch, capsys, "1\n" * 30 + "q\n", slug, "--seed", "3")
    assert status == 0
    assert f"{registry.game(slug).spec.title}, as seat 0 sees it:" in text
    assert text.rstrip().endswith("Stopped.") or "The round is over." in text


def test_every_word_is_answered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    keys = '?\n99\nhm\n{"type":"take"}\n{"type":"play","card":"R1"}\n{bad\nx\nx\nw\nl\n'
    status, text = run(monkeypatch, capsys, keys, "monko", "--seats", "3", "--seed", "7")
    assert status == 0
    for line in (
        "a number   take the action with this number",
        "I do not know '99': give a number from the list, or ? for help.",
        "I do not know 'hm': give a number from the list, or ? for help.",
        "The rules refuse that: no stack (no_stack).",
        "The rules refuse that: that is no action of this game: a word, a key or a value is wrong (bad_action).",
        "That is not JSON",
        "seat 0 connection changed: connected no",
        "seat 0 connection changed: connected yes",
        "seat 0 timed out: counts",
        "seat 0 left: reason left",
        "The round is over.",
    ):
        assert line in text


def test_a_seat_without_connection_is_told_why_it_cannot_act(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = 'x\n{"type":"draw"}\nq\n'
    _, text = run(monkeypatch, capsys, keys, "monko", "--seed", "7")
    assert "this seat has no connection; press x to come back (disconnected)." in text


def test_the_table_shows_a_person_only_the_own_hand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, text = run(monkeypatch, capsys, "q\n", "monko", "--seats", "3", "--seed", "7", "--seat", "1")
    table = text[text.index("as seat 1 sees it") :]
    rows = {line.split()[1]: line for line in table.splitlines() if line.startswith("  seat")}
    assert "▒" in rows["0"]
    assert "▒" in rows["2"]
    assert "▒" not in rows["1"]


def test_persons_at_one_screen_take_turns(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = run(monkeypatch, capsys, "1\n1\n\n1\n1\n1\n\n\nq\n", "monko", "--seats", "2", "--seed", "1", "--hot-seat")
    assert "as seat 0 sees it" in text
    assert "as seat 1 sees it" in text


def test_the_end_of_input_stops_cleanly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(monkeypatch, capsys, "", "monko", "--seed", "1")
    assert status == 0
    assert text.endswith("\nStopped.\n")


def test_ctrl_c_stops_cleanly_and_still_writes_the_transcript(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    class Interrupted:
        def readline(self) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Interrupted())
    path = tmp_path / "t.jsonl"
    assert play.main(["monko", "--seed", "1", "--transcript", str(path)]) == 130
    assert capsys.readouterr().out.endswith("\nStopped.\n")
    assert path.read_text().startswith('{"seq": 0')


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["chess"], "invalid choice"),
        (["monko", "--seats", "9"], "Monko is for 2 to 4 seats"),
        (["monko", "--seats", "2", "--seat", "2"], "there is no seat 2"),
        (["monko", "--option", "piles"], "write an option as name=value"),
    ],
)
def test_a_wrong_command_is_explained(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        play.main(words)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_an_option_the_game_does_not_have_is_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, text = run(monkeypatch, capsys, "", "monko", "--option", "piles=2", "--auto")
    assert status == 2
    assert "This round cannot start: bad option." in text


class Screen(io.StringIO):
    """Text output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_colours_only_on_a_terminal_that_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert play.colours_wanted(Screen())
    assert not play.colours_wanted(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not play.colours_wanted(Screen())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not play.colours_wanted(Screen())
    assert play.painter("monko", True)("R7#1") == "\033[31mR7#1\033[0m"
    assert play.painter("monko", False)("R7#1") == "R7#1"


def test_the_command_itself_runs_and_takes_a_closed_pipe() -> None:
    command = [sys.executable, "-m", "apps.games.play", "monko", "--seed", "7", "--auto"]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        errors = running.stderr.read()
        assert running.wait(60) in (0, 120)
    assert b"Traceback" not in errors
