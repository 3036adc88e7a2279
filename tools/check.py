"""`make check` and `make fix`: everything that can be said about the code without running its tests.

Each step prints one line, and what it found if it found something.  The last line counts them.
"""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tools.links import broken_links

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTHON = str(sys.executable)
CODE = ("apps", "config", "tools", "tests", "manage.py")
TYPED = ("apps", "config", "tools", "tests")
OPENAPI = ROOT / "docs" / "api" / "openapi.yaml"
ENVIRONMENT = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings.test", "PYTHONWARNINGS": "ignore"}

Step = Callable[[], str]
"""Returns what is wrong, or nothing."""


def command(*parts: str) -> Step:
    """Return a step that runs a command and finds its output when it fails."""

    def run() -> str:
        done = subprocess.run(parts, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else (done.stdout + done.stderr).strip() or f"code {done.returncode}"

    return run


def manage(*arguments: str) -> Step:
    """Return a step that runs a management command."""
    return command(PYTHON, "manage.py", *arguments)


def openapi_document() -> str:
    """Return the API document of this code.

    Raises:
        ValueError: it cannot be made without a warning.
    """
    done = subprocess.run(
        (PYTHON, "manage.py", "spectacular", "--validate", "--fail-on-warn"),
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return done.stdout


def openapi_is_current() -> str:
    """Compare the committed API document with the one of this code."""
    try:
        made = openapi_document()
    except ValueError as problem:
        return str(problem)
    kept = OPENAPI.read_text() if OPENAPI.exists() else ""
    name = str(OPENAPI.relative_to(ROOT))
    difference = difflib.unified_diff(kept.splitlines(), made.splitlines(), name, "this code", lineterm="")
    told = "\n".join(difference)
    return f"{told}\nIf the change is meant, `make fix` writes it." if told else ""


def openapi_write() -> str:
    """Write the API document of this code."""
    try:
        made = openapi_document()
    except ValueError as problem:
        return str(problem)
    OPENAPI.parent.mkdir(parents=True, exist_ok=True)
    OPENAPI.write_text(made)
    return ""


def links_lead_somewhere() -> str:
    """Find links in the docs, and pages cited in the code, that lead nowhere."""
    return "\n".join(broken_links())


CHECKS: dict[str, Step] = {
    "lint": command(str(BIN / "ruff"), "check", *CODE),
    "format": command(str(BIN / "ruff"), "format", "--check", *CODE),
    "types": command(str(BIN / "mypy"), *TYPED),
    "imports": command(str(BIN / "lint-imports")),
    "django": manage("check", "--fail-level", "WARNING"),
    "migrations": manage("makemigrations", "--check", "--dry-run"),
    "openapi": openapi_is_current,
    "errors": command(PYTHON, "-m", "tools.errors_doc", "--check"),
    "links": links_lead_somewhere,
}
FIXES: dict[str, Step] = {
    "lint": command(str(BIN / "ruff"), "check", "--fix", *CODE),
    "format": command(str(BIN / "ruff"), "format", *CODE),
    "openapi": openapi_write,
    "errors": command(PYTHON, "-m", "tools.errors_doc"),
}


def main(arguments: list[str]) -> int:
    """Run the named steps, or all; return 1 if one found something."""
    steps = FIXES if "--fix" in arguments else CHECKS
    names = [name for name in arguments if name != "--fix"] or list(steps)
    failed = 0
    for name in names:
        print(f"{name:<11}", end="", flush=True)
        began = time.monotonic()
        found = steps[name]()
        print(f"{'FAILED' if found else 'ok':<7}{time.monotonic() - began:5.1f} s", flush=True)
        if found:
            failed += 1
            print(f"{found}\n", flush=True)
    print(f"checks: {len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
