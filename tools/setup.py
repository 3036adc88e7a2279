"""Make .venv and install what a lock file lists; do nothing when that was done before.

    python3 tools/setup.py run|dev|bench

Runs on the machine's own Python, before anything is installed: standard library only.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
OLDEST, NEWEST = (3, 11), (3, 13)
INCLUDED = {"run": ("run", "dev", "bench"), "dev": ("dev", "bench"), "bench": ("bench",)}
"""Which installed lock files hold all that one needs."""
TELL_EVERY_S = 10.0


def complain(sentence: str) -> int:
    """Print why it cannot go on; return the exit code."""
    print(sentence, file=sys.stderr)
    return 1


def digest(name: str) -> str:
    """Return what must be unchanged for the installed packages to be the right ones."""
    content = (ROOT / "requirements" / f"{name}.lock").read_bytes()
    return hashlib.sha256(content + sys.version.encode() + str(VENV).encode()).hexdigest()


def installed(name: str) -> bool:
    """Tell whether the packages of the lock file, or of one that includes it, are there."""
    for larger in INCLUDED[name]:
        stamp = VENV / f".installed-{larger}"
        if PYTHON.exists() and stamp.exists() and stamp.read_text() == digest(larger):
            return True
    return False


def announced(what: str, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command and say now and then that it is still running."""
    print(what, flush=True)
    done = threading.Event()
    began = time.monotonic()

    def tell() -> None:
        while not done.wait(TELL_EVERY_S):
            print(f"... still at it ({time.monotonic() - began:.0f} s)", flush=True)

    threading.Thread(target=tell, daemon=True).start()
    try:
        return subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    finally:
        done.set()


def main(name: str) -> int:
    """Bring .venv to what the lock file says."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        return complain(
            f"Sealdeck needs Python 3.11 to 3.13 and this is {sys.version.split()[0]}: install one of them."
        )
    if installed(name):
        return 0
    (ROOT / "var").mkdir(exist_ok=True)
    with (ROOT / "var" / "setup.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # Another command of this clone may be installing: it goes first.
        return 0 if installed(name) else install(name)


def install(name: str) -> int:
    """Make .venv where it is missing, and install the lock file's packages."""
    working = PYTHON.exists() and subprocess.run([PYTHON, "-m", "pip", "-V"], capture_output=True).returncode == 0
    if not working:
        shutil.rmtree(VENV, ignore_errors=True)
        made = announced("Making .venv", [sys.executable, "-m", "venv", str(VENV)])
        if made.returncode:
            shutil.rmtree(VENV, ignore_errors=True)
            return complain(
                "Python's venv module does not work here: install it (Debian and Ubuntu: apt install python3-venv)."
            )
    for stamp in VENV.glob(".installed-*"):
        stamp.unlink()
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-input", "--no-deps"]
    lock = ROOT / "requirements" / f"{name}.lock"
    done = announced(
        f"Installing the packages of requirements/{name}.lock (once; takes about a minute)",
        [*pip, "--require-hashes", "--only-binary", ":all:", "-r", str(lock)],
    )
    if done.returncode:
        return complain(f"The packages could not be installed: {(done.stderr or done.stdout).strip()[-2000:]}")
    (VENV / f".installed-{name}").write_text(digest(name))
    return 0


if __name__ == "__main__":
    os.umask(0o022)  # An embedded PostgreSQL started by root runs as another user, who must be able to read it.
    sys.exit(main(sys.argv[1]))
