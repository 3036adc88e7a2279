"""`make clean`: forget the data of `make run` and everything else under var/; .venv stays.

Refuses while a `make run` of this clone is running.  Standard library only.
"""

from __future__ import annotations

import fcntl
import shutil
import sys
from pathlib import Path

VAR = Path(__file__).resolve().parent.parent / "var"


def main() -> int:
    """Remove var/."""
    if not VAR.exists():
        return 0
    (VAR / "run").mkdir(exist_ok=True)
    with (VAR / "run" / "lock").open("a") as holder:
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print("`make run` is running in this clone: stop it first.", file=sys.stderr)
            return 1
        for link in VAR.glob("*/elsewhere"):
            shutil.rmtree(link.resolve(), ignore_errors=True)
        shutil.rmtree(VAR)
    return 0


if __name__ == "__main__":
    sys.exit(main())
