"""Roles and addresses of databases."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import psycopg
import pytest

from tools import roles

ADMIN = "postgresql://boss:geheim@db.example:5433/postgres?sslmode=require"


class TestPasswords:
    def test_are_the_same_for_everybody_who_knows_the_administrators(self) -> None:
        assert roles.role_password(ADMIN, roles.APP) == roles.role_password(
            "postgresql://other:geheim@elsewhere/x", roles.APP
        )

    def test_differ_between_roles_and_between_servers(self) -> None:
        other = ADMIN.replace("geheim", "secret")
        made = {roles.role_password(url, role) for url in (ADMIN, other) for role in (roles.APP, roles.OWNER)}
        assert len(made) == 4

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            (ADMIN, "postgresql://boss@db.example:5433/postgres?sslmode=require"),
            ("redis://:hunter2@127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
            ("redis://127.0.0.1/0", "redis://127.0.0.1/0"),
        ],
    )
    def test_are_never_shown(self, url: str, shown: str) -> None:
        assert roles.without_password(url) == shown


class TestRolesEnsure:
    def test_may_be_called_again_and_gives_the_same_addresses(self) -> None:
        url = os.environ["DATABASE_ADMIN_URL"]
        assert roles.roles_ensure(url) == roles.roles_ensure(url)

    def test_the_addresses_work_and_are_two_roles(self) -> None:
        for url, role in zip(
            roles.roles_ensure(os.environ["DATABASE_ADMIN_URL"]), (roles.OWNER, roles.APP), strict=True
        ):
            with psycopg.connect(url) as connection:
                assert connection.execute("SELECT current_user").fetchone() == (role,)
                assert urlsplit(url).username == role

    def test_no_role_can_become_another_or_a_superuser(self) -> None:
        with psycopg.connect(os.environ["DATABASE_ADMIN_URL"]) as connection:
            rows = connection.execute(
                "SELECT r.rolname FROM pg_roles r WHERE r.rolname LIKE 'sealdeck_%' AND (r.rolsuper OR r.rolcreaterole"
                " OR r.rolbypassrls OR r.rolreplication"
                " OR EXISTS (SELECT FROM pg_auth_members m WHERE m.member = r.oid))"
            ).fetchall()
        assert rows == []
