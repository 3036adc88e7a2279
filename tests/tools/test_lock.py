"""The lock files: complete, with hashes, of one mind, and without an address."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LOCKS = ("run", "dev", "bench")
PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)


def pinned(name: str) -> dict[str, str]:
    """Return package and version of every entry of a lock file."""
    text = (ROOT / "requirements" / f"{name}.lock").read_text()
    return {package.lower().replace("_", "-"): version for package, version in PINNED.findall(text)}


def wanted(*extras: str) -> set[str]:
    """Return the packages that pyproject.toml names for some extras, and for the base install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = list(project["dependencies"])
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    found = {re.match(r"[A-Za-z0-9._-]+", line)[0].lower().replace("_", "-") for line in lines}  # type: ignore[index]
    return found - {"sealdeck"}


class TestLockFiles:
    @pytest.mark.parametrize("name", LOCKS)
    def test_hold_no_address_and_a_hash_for_every_entry(self, name: str) -> None:
        text = (ROOT / "requirements" / f"{name}.lock").read_text()
        assert "://" not in text
        assert not re.search(r"^-", text, re.MULTILINE)
        entries = re.split(r"\n(?=[A-Za-z0-9])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []

    @pytest.mark.parametrize(
        ("name", "extras"),
        [
            ("run", ("beacon", "server", "embedded")),
            ("dev", ("beacon", "server", "embedded", "dev")),
            ("bench", ("beacon", "server", "embedded", "dev", "bench")),
        ],
    )
    def test_hold_what_pyproject_names(self, name: str, extras: tuple[str, ...]) -> None:
        assert wanted(*extras) - set(pinned(name)) == set()

    def test_never_disagree(self) -> None:
        dev = pinned("dev")
        for name in ("run", "bench"):
            assert {key: value for key, value in pinned(name).items() if dev.get(key, value) != value} == {}
