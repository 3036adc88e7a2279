"""The import contracts hold, and each of them can fail: a contract that no violation breaks guards nothing."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CONTRACT = "importlinter:contract:"
MODELS = ("accounts", "core", "fairness", "history", "tables", "wallets", "webhooks")

VIOLATIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "layers": {
        "apps.core": ("apps.accounts.services", "apps.backoffice"),
        "apps.accounts": ("apps.wallets", "apps.tables.services"),
        "apps.wallets": ("apps.fairness.services", "apps.webhooks", "apps.history"),
        "apps.history": ("apps.tables.services",),
        "apps.tables": ("apps.backoffice",),
    },
    "composition": {"apps.core": ("config.settings.base",), "apps.tables": ("tools.services",)},
    "games": {
        "apps.games": (
            *("django", "os", "random", "time", "datetime", "secrets", "logging", "socket"),
            *("apps.core.clock", "apps.fairness.protocol"),
        )
    },
    "protocol": {
        "apps.fairness.protocol": (
            *("django", "os", "random", "time", "secrets", "logging", "socket"),
            "apps.core.ids",
        )
    },
    "protocol-alone": {"apps.fairness.protocol": ("apps.fairness.models", "apps.fairness.services")},
    "statistics": {"apps.games": ("numpy", "scipy"), "apps.fairness.protocol": ("numpy",)},
    "programs": {
        "apps.fairness.verify": ("django", "apps.core.ids", "apps.fairness.models"),
        "apps.fairness.witness": ("django", "apps.core.clock", "structlog"),
    },
    "client": {"apps.client": ("django", "apps.core.errors", "apps.fairness.services", "apps.wallets")},
    **{
        f"models-{app}": {f"apps.{other}": (f"apps.{app}.models",) for other in ("tables", "core") if other != app}
        for app in MODELS
    },
}
"""For each contract: packages, and what a module of theirs must not import."""


def contracts() -> list[str]:
    """Return the ids of all contracts."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    return [name.removeprefix(CONTRACT) for name in parser.sections() if name.startswith(CONTRACT)]


def lint(folder: Path, *contract: str) -> subprocess.CompletedProcess[str]:
    """Check the tree in a folder against one contract, or all."""
    program = str(Path(sys.executable).parent / "lint-imports")
    chosen = [part for name in contract for part in ("--contract", name)]
    return subprocess.run(
        [program, "--no-cache", *chosen], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the code."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("apps", "config", "tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".importlinter", folder)
    return folder


class TestContracts:
    def test_hold(self) -> None:
        done = lint(ROOT)
        assert done.returncode == 0, done.stdout

    def test_are_all_proved_here(self) -> None:
        assert set(contracts()) == set(VIOLATIONS)

    @pytest.mark.parametrize("contract", VIOLATIONS)
    def test_fail_when_broken(self, tree: Path, contract: str) -> None:
        violations: list[Path] = []
        for package, forbidden in VIOLATIONS[contract].items():
            path = tree / package.replace(".", "/") / "violation.py"
            path.write_text("".join(f"import {module}\n" for module in forbidden))
            violations.append(path)
        try:
            done = lint(tree, contract)
        finally:
            for path in violations:
                path.unlink()
        assert done.returncode == 1, done.stdout
        said = re.sub(r"\s+", " ", done.stdout)
        for package, forbidden in VIOLATIONS[contract].items():
            for module in forbidden:
                assert f"{package}.violation -> {module} (" in said, f"{module} from {package} went unnoticed"


class TestWithoutDjango:
    @pytest.mark.parametrize(
        "module",
        [
            *("apps.games.registry", "apps.games.contract", "apps.fairness.protocol", "apps.client"),
            *("apps.fairness.verify.cli", "apps.fairness.witness.cli"),
        ],
    )
    def test_the_pure_parts_load(self, module: str) -> None:
        """Loading them must not load the server's libraries, since the base install does not have them."""
        program = (
            f"import sys, {module}\n"
            "from apps.games import registry\n"
            "for slug in registry.slugs(): registry.game(slug)\n"
            "found = {'django', 'rest_framework', 'celery', 'redis', 'psycopg', 'structlog'} & set(sys.modules)\n"
            "sys.exit(str(found) if found else 0)"
        )
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
