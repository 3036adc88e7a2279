"""Production starts with everything it needs, refuses everything weak, and passes Django's deployment checks."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
GOOD = {
    "DJANGO_SETTINGS_MODULE": "config.settings.production",
    "SEALDECK_SECRET_KEY": "vq3m0Zr8bTtXe2Ly5KdWn7Hs4Pf9Gj6Uc1Ra-oIiEhBxNkQwMzDp",
    "SEALDECK_ALLOWED_HOSTS": "cards.example",
    "SEALDECK_KEKS": json.dumps({"k1": "3f9c0b7a5d2e4c61" * 4}),
    "SEALDECK_KEK_ID": "k1",
    "SEALDECK_LOG_ORIGIN": "cards.example/log",
    "DATABASE_URL": "postgresql://sealdeck_app:x@127.0.0.1/sealdeck",
    "REDIS_URL": "redis://127.0.0.1/0",
}


def manage(
    *arguments: str, changes: dict[str, str | None] | None = None, optimise: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run manage.py under production settings with some variables changed or taken away."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SEALDECK_", "DATABASE_"))}
    env = {**kept, **GOOD, **(changes or {})}
    command = [sys.executable, *(["-O"] if optimise else []), "manage.py", *arguments]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={name: value for name, value in env.items() if value is not None},
        capture_output=True,
        text=True,
        check=False,
    )


class TestProduction:
    def test_passes_the_deployment_checks_without_a_warning(self) -> None:
        done = manage("check", "--deploy", "--fail-level", "WARNING")
        assert done.returncode == 0, done.stdout + done.stderr

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"SEALDECK_SECRET_KEY": None}, "SEALDECK_SECRET_KEY is not set."),
            ({"SEALDECK_SECRET_KEY": "short"}, "SEALDECK_SECRET_KEY is not 50 random characters."),
            ({"SEALDECK_SECRET_KEY": "local-only-not-secret" * 4}, "SEALDECK_SECRET_KEY is not 50 random characters."),
            ({"SEALDECK_KEKS": None}, "SEALDECK_KEKS is not set."),
            ({"SEALDECK_KEKS": json.dumps({"k1": "11" * 32})}, "SEALDECK_KEKS holds a key that is not random."),
            ({"SEALDECK_KEKS": "[]"}, "SEALDECK_KEKS is not an object of key id to hex."),
            ({"SEALDECK_KEK_ID": "other"}, "SEALDECK_KEK_ID names no key of SEALDECK_KEKS."),
            ({"SEALDECK_LOG_ORIGIN": None}, "SEALDECK_LOG_ORIGIN is not set."),
            ({"DATABASE_URL": None}, "DATABASE_URL is not set."),
            ({"REDIS_URL": ""}, "REDIS_URL is not set."),
            ({"SEALDECK_ALLOWED_HOSTS": "*"}, "SEALDECK_ALLOWED_HOSTS names hosts, not everything."),
            ({"DEBUG": "1"}, "DEBUG has no place in production: unset it."),
        ],
    )
    def test_refuses(self, changes: dict[str, str | None], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in GOOD.items():
            monkeypatch.setenv(name, value)
        production = importlib.import_module("config.settings.production")
        assert production.refusals() == []
        for name, changed in changes.items():
            if changed is None:
                monkeypatch.delenv(name)
            else:
                monkeypatch.setenv(name, changed)
        assert production.refusals() == [said]

    def test_does_not_start_then_and_says_no_value(self) -> None:
        done = manage("check", changes={"SEALDECK_KEK_ID": "other", "SEALDECK_LOG_ORIGIN": None})
        assert done.returncode != 0
        assert "SEALDECK_LOG_ORIGIN is not set." in done.stderr
        assert "SEALDECK_KEK_ID names no key of SEALDECK_KEKS." in done.stderr
        assert GOOD["SEALDECK_SECRET_KEY"] not in done.stderr

    def test_refuses_python_without_assertions(self) -> None:
        done = manage("check", optimise=True)
        assert done.returncode != 0
        assert "Assertions are off" in done.stderr

    def test_sends_plain_http_to_https_but_for_health(self, tmp_path: Path) -> None:
        """Cookies and headers as a browser sees them, from a process that runs with production settings."""
        program = (
            "from django.test import Client\n"
            "ask = lambda path, secure: Client().get(path, secure=secure, headers={'host': 'cards.example'})\n"
            "plain, health = ask('/problems', False), ask('/health/live', False)\n"
            "safe, login = ask('/problems', True), ask('/admin/login/', True)\n"
            "print(plain.status_code, plain.headers['Location'], health.status_code, safe.status_code)\n"
            "print(safe.headers['Strict-Transport-Security'])\n"
            "print(sorted((name, bool(m['secure']), m['samesite']) for name, m in login.cookies.items()))\n"
        )
        environment: dict[str, str | None] = {"SEALDECK_STATIC_ROOT": str(tmp_path)}
        assert manage("collectstatic", "--no-input", changes=environment).returncode == 0
        done = manage("shell", "-v", "0", "-c", program, changes=environment)
        assert done.stdout.splitlines() == [
            "301 https://cards.example/problems 200 200",
            "max-age=31536000; includeSubDomains; preload",
            "[('csrftoken', True, 'Lax')]",
        ], done.stderr
