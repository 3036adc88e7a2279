"""`make shell`: a Django shell on the data of `make run`, beside it or without it, with the application's rights."""

from __future__ import annotations

import subprocess
import sys

from tools import clone
from tools.processes import ToolError
from tools.services import ROOT, services


def main(arguments: list[str]) -> int:
    """Open the shell and return its exit code."""
    command = [sys.executable, "manage.py", "shell", *arguments]
    try:
        if clone.in_use():
            return subprocess.run(command, cwd=ROOT, env=clone.told(), check=False).returncode
        with clone.only_one(), services(clone.VAR / "services", throw_away=False) as running:
            env = clone.environment(running, "http://127.0.0.1:8000", "http://127.0.0.1:8001")
            return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode
    except ToolError as problem:
        print(problem, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
