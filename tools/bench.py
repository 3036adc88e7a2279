"""`make bench`: run the benchmarks, each a module tools/bench_NAME.py that brings its own servers.

python -m tools.bench                          all of them, one after another
python -m tools.bench wallets --seconds 5      one, with its own arguments
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.processes import say

FOLDER = Path(__file__).resolve().parent
PREFIX = "bench_"


def names() -> list[str]:
    """Return the names of all benchmarks."""
    return sorted(path.stem.removeprefix(PREFIX) for path in FOLDER.glob(f"{PREFIX}*.py"))


def main(arguments: list[str]) -> int:
    """Run one benchmark, or all; return the first exit code that is not 0."""
    if arguments and arguments[0] not in names():
        print(f"There is no benchmark {arguments[0]!r}; there are: {', '.join(names())}.", file=sys.stderr)
        return 2
    for name in arguments[:1] or names():
        say(f"== {name}")
        done = subprocess.run(
            [sys.executable, "-m", f"tools.{PREFIX}{name}", *arguments[1:]], cwd=FOLDER.parent, check=False
        )
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
