"""README's session, pasted into a shell as a reader would, plays a round that the verifier passes."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.system.pasted import assert_verifies, blocks, without_first_line
from tools.stack import Stack


def session() -> str:
    """Return the shell block of README that begins with the address and the key, without that line."""
    [found] = [block for block in blocks("README.md") if block.startswith("BASE=")]
    return without_first_line(found)


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
        assert_verifies(tmp_path)
