"""Write requirements/*.lock: exact versions with hashes for every platform, and no address of an index.

    python -m tools.lock              keep the versions that still fit
    python -m tools.lock --upgrade    take the newest

``run`` is what `make run` needs, ``dev`` adds tests and checks, ``bench`` the benchmarks; the three never disagree.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.processes import ToolError

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
EXTRAS = {"dev": ("dev",), "run": ("server", "embedded"), "bench": ("bench", "dev")}
PYTHON = "3.11"


def lock(name: str, *, upgrade: bool) -> None:
    """Write one lock file; all but the first keep to the versions of ``dev``."""
    target = FOLDER / f"{name}.lock"
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"
    command = [uv, "pip", "compile", "pyproject.toml", "--quiet", "--universal", "--generate-hashes", "--no-annotate"]
    command += ["--python-version", PYTHON, "--custom-compile-command", "python -m tools.lock", "-o", str(target)]
    for extra in EXTRAS[name]:
        command += ["--extra", extra]
    if name != "dev":
        command += ["--constraint", str(FOLDER / "dev.lock")]
    if upgrade:
        command.append("--upgrade")
    subprocess.run(command, cwd=ROOT, check=True)
    if re.search(r"://|^--|^-f", target.read_text(), re.MULTILINE):
        raise ToolError(f"{target} names an address: build it without links.")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in EXTRAS:
        lock(each, upgrade="--upgrade" in sys.argv[1:])
