"""The reference wallet is right in every cell of the rollback matrix, and each broken one is told where it is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apps.client.wallet.cells import CELLS, cells_try
from apps.client.wallet.check import main
from tests.client.wallet.broken import BROKEN, SignsNothing
from tests.client.wallet.conftest import ANSWER_PUBLIC, CALLER_KEY, OPERATOR_ID, probe, serving


def wrong(url: str) -> dict[str, str]:
    """Return the cells in which a wallet is wrong, and how."""
    return {finding.name: finding.problem for finding in cells_try(probe(url)) if finding.problem}


class TestBrokenWallets:
    @pytest.mark.parametrize("what", BROKEN)
    def test_are_told_where_they_are_wrong(self, what: str) -> None:
        book, wallet, expected = BROKEN[what]
        with serving(book, wallet) as url:
            found = wrong(url)
        assert expected <= set(found)
        assert next(iter(found)) in expected


class TestCommand:
    @pytest.fixture
    def arguments(self, tmp_path: Path) -> list[str]:
        """Return what the command is called with, but for the address."""
        key_file = tmp_path / "check.key"
        key_file.write_text(CALLER_KEY.private_bytes_raw().hex())
        names = {
            "--operator-id": str(OPERATOR_ID),
            "--key-file": str(key_file),
            "--answer-key": ANSWER_PUBLIC.hex(),
            "--player": "ann",
            "--other-player": "bob",
            "--currency": "PTS",
        }
        return [word for pair in names.items() for word in pair]

    def test_the_reference_is_right_in_every_cell_and_its_balances_are_as_before(
        self, arguments: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        with serving() as url:
            assert main(["--url", url, *arguments]) == 0
            assert probe(url).balance() == 1_000
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[:2] for line in lines[:-1]] == [["right", name] for name in CELLS]
        assert lines[-1] == "32 of 32 cells are right"

    def test_prints_json_and_fails_where_a_cell_is_wrong(
        self, arguments: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        with serving(BROKEN["hides a reversal"][0]) as url:
            assert main(["--url", url, "--json", *arguments]) == 1
        told = json.loads(capsys.readouterr().out)
        assert not told["is_right"]
        assert [cell["cell"] for cell in told["cells"] if not cell["is_right"]] == ["reversed.bet"]
        assert all(bool(cell["problem"]) != cell["is_right"] for cell in told["cells"])

    def test_says_when_nothing_can_be_tried(self, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        with serving(wallet_class=SignsNothing) as url:
            assert main(["--url", url, *arguments]) == 2
        assert "not signed by the answer key" in capsys.readouterr().err
        with serving() as url:
            assert main(["--url", url, *arguments, "--amount", "501"]) == 2
        assert main(["--url", url, *arguments]) == 2
        assert "no answer" in capsys.readouterr().err

    def test_makes_a_key_for_its_owner_only(self, arguments: list[str], tmp_path: Path) -> None:
        arguments[arguments.index("--key-file") + 1] = str(tmp_path / "new.key")
        with serving() as url:
            assert main(["--url", url, *arguments]) == 2  # The wallet does not know the new key.
        assert (tmp_path / "new.key").stat().st_mode & 0o777 == 0o600
