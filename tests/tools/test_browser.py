"""The tests get a browser, or say in one sentence what to install."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools import browser

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([], True),
        (["-q"], True),
        (["tests"], True),
        (["tests/"], True),
        (["tests/browser", "-q"], True),
        (["tests/core", "tests/browser/test_page.py::TestUse"], True),
        (["tests/core", "-q"], False),
    ],
)
def test_a_browser_is_wanted_for_browser_tests_alone(arguments: Sequence[str], wanted: bool) -> None:
    assert browser.is_wanted(arguments) is wanted


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the only folder on the path: no browser in it, nor anything to install one with."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


def test_without_a_browser_it_says_what_to_install(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert browser.main([]) == 0
    assert capsys.readouterr().err == f"{browser.MISSING} {browser.LEFT_OUT}\n"


def test_in_ci_a_missing_browser_is_a_failure(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", "true")
    assert browser.main([]) == 1
    assert capsys.readouterr().err == f"{browser.MISSING}\n"
    assert browser.main(["tests/core"]) == 0


@pytest.mark.parametrize("name", browser.NAMES)
def test_a_browser_that_is_there_is_taken(bare: Path, name: str) -> None:
    program = bare / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert browser.chromium_path() == str(program)
    assert browser.main([]) == 0


def test_the_test_target_brings_the_browser_before_it_runs_the_tests() -> None:
    commands = subprocess.run(
        ["make", "--dry-run", "test", "ARGS=tests/core -q"], cwd=ROOT, text=True, capture_output=True, check=True
    ).stdout
    assert "-m tools.browser tests/core -q" in commands
    assert commands.index("tools.browser") < commands.index("pytest")
