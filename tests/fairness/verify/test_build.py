"""The verifier as one file: the same bytes each time, and nothing needed but Python and cryptography.

Source: docs/fairness/protocol.md, section 13.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from apps.fairness.protocol.bundle import bundle_encode
from apps.fairness.verify.archive import PACKAGES, ROOT, build
from tests.fairness.protocol.vectors import ROUNDS, VECTORS

BLOCKER = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ImportError(name)

sys.meta_path.insert(0, Blocker())
sys.argv = sys.argv[1:]
import runpy
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dist") / "sealdeck-verify.pyz"
    path.write_bytes(build())
    return path


def run(archive: Path, *arguments: str, blocked: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    code = BLOCKER.format(blocked=repr(set(blocked)))
    command = [sys.executable, "-c", code, str(archive), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=archive.parent, check=False)


def test_the_bytes_are_the_same_wherever_the_sources_lie(tmp_path: Path) -> None:
    for name in ("apps/__init__.py", "apps/fairness/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package)
    assert build(tmp_path) == build()


def test_it_holds_our_sources_only() -> None:
    names = zipfile.ZipFile(BytesIO(build())).namelist()
    assert all(name == "__main__.py" or name.startswith("apps/") for name in names)
    assert "apps/fairness/models.py" not in names
    assert names[1:] == sorted(names[1:])


def test_it_runs_with_python_and_cryptography_alone(archive: Path, tmp_path: Path) -> None:
    trust, rounds = tmp_path / "trust.json", tmp_path / "rounds.jsonl"
    trust.write_text(json.dumps(VECTORS["trust"]))
    rounds.write_bytes(b"\n".join(bundle_encode(row["bundle"]) for row in ROUNDS.values()))
    optional = ("py_arkworks_bls12381", "numpy", "scipy")
    blocked = ("django", "httpx", "rest_framework", "celery", "psycopg", "redis", *optional)
    done = run(archive, "--trust", str(trust), "--json", str(rounds), blocked=blocked)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.stderr == ""
    assert done.returncode == 2
    assert [row["verdict"] for row in rows] == ["pass"] * 6 + ["beacon_unchecked"] * 2


def test_it_fails_what_was_altered(archive: Path, tmp_path: Path) -> None:
    rounds = tmp_path / "rounds.jsonl"
    data = bundle_encode(ROUNDS["open"]["bundle"])
    rounds.write_bytes(data.replace(b'"fee":200', b'"fee":100'))
    done = run(archive, "--json", str(rounds), blocked=())
    assert done.returncode == 1
    assert json.loads(done.stdout)["verdict"] == "record_signature"


def test_it_says_so_where_cryptography_is_missing(archive: Path) -> None:
    done = run(archive, "--help", blocked=("cryptography",))
    assert done.returncode == 1
    assert "pip install cryptography" in done.stderr
