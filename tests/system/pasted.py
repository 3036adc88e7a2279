"""Blocks of the documentation as a reader pastes them, and the verifier as he fetches it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tools.services import ROOT


def blocks(page: str, language: str = "sh") -> list[str]:
    """Return the blocks of a page that are in a language, in order."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)


def without_first_line(block: str) -> str:
    """Return a block without its line of the address and the key, for which the reader has his own."""
    assert block.startswith("BASE=")
    return block.split("\n", 1)[1]


def assert_verifies(folder: Path) -> None:
    """Run the verifier that was fetched into a folder on the round that was."""
    done = subprocess.run(
        [sys.executable, "sealdeck-verify.pyz", "--json", "--trust", "trust.json", "round.json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert (told["status"], told["verdict"], told["codes"]) == (0, "pass", [])
