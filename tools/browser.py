"""Make sure that the browser tests have a browser.

    python -m tools.browser [ARGS of pytest]

Takes a Chromium or Chrome that is there; else installs Debian's package where this user may; else says in one sentence
what to install.  Does nothing where the arguments choose tests that need no browser.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TESTS: Final = "tests/browser"
MISSING: Final = "The browser tests need Chromium: install it (Debian and Ubuntu: apt install chromium)."
LEFT_OUT: Final = "They are left out of this run; with CI=true that would be a failure."


def chromium_path() -> str | None:
    """Return the program, None where the machine has none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def is_ci() -> bool:
    """Tell whether a missing browser is a failure."""
    return os.environ.get("CI", "").lower() in ("1", "true")


def is_wanted(arguments: Sequence[str]) -> bool:
    """Tell whether these arguments of pytest choose browser tests."""
    paths = [argument for argument in arguments if argument.startswith("tests")]
    return not paths or any(path.rstrip("/") == "tests" or path.startswith(TESTS) for path in paths)


def install() -> None:
    """Install Debian's package, as far as this machine and this user allow it."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return
    print("Installing Chromium for the browser tests (once)", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in ([apt, "-qq", "update"], [apt, "-qq", "install", "-y", "--no-install-recommends", "chromium"]):
        done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
        if done.returncode:
            print((done.stderr or done.stdout).strip()[-1000:], file=sys.stderr)
            return


def main(arguments: Sequence[str]) -> int:
    """Bring a browser, or say what is missing."""
    if not is_wanted(arguments) or chromium_path() is not None:
        return 0
    install()
    if chromium_path() is not None:
        return 0
    print(MISSING if is_ci() else f"{MISSING} {LEFT_OUT}", file=sys.stderr)
    return 1 if is_ci() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
