"""README's session, pasted into a shell as a reader would, plays a round that the verifier passes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tools.services import ROOT
from tools.stack import Stack


def session() -> str:
    """Return the shell block of README that begins with the address and the key, without that line."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    [found] = [block for block in blocks if block.startswith("BASE=")]
    return str(found).split("\n", 1)[1]


class TestReadme:
    def test_the_session_plays_a_round_and_the_verifier_passes_it(self, stack: Stack, tmp_path: Path) -> None:
        env = {"BASE": stack.url, "KEY": stack.demo["api_key"], "PATH": "/usr/local/bin:/usr/bin:/bin"}
        done = subprocess.run(
            ["/bin/sh", "-eu", "-c", session()],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "round_over" in done.stdout
        verified = subprocess.run(
            [sys.executable, "sealdeck-verify.pyz", "--json", "--trust", "trust.json", "round.json"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert verified.returncode == 0, verified.stdout + verified.stderr
        told = json.loads(verified.stdout)
        assert (told["status"], told["verdict"], told["codes"]) == (0, "pass", [])
