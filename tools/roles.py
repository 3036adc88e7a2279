"""Database roles: who may do what, before any migration runs.

    python -m tools.roles URL      make the roles and the database with an administrator's login; print the two URLs

The owner runs migrations and owns every table; the application reads and writes rows and can do no more; the three
others read.  Migrations of guarded tables take rights away again.  Source: docs/developers/databases.md.
"""

from __future__ import annotations

import hashlib
import hmac
import sys
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

OWNER = "sealdeck_owner"
APP = "sealdeck_app"
READERS = ("sealdeck_readonly", "sealdeck_support", "sealdeck_auditor")
DATABASE = "sealdeck"
TEMPLATE = "sealdeck_template"
"""An empty database with the default privileges set: test databases are copies of it."""
MAINTENANCE = ("", "postgres", "template1")

DEFAULT_PRIVILEGES = (
    "GRANT USAGE ON SCHEMA public TO {app}, {readonly}, {support}, {auditor}",
    "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {app}",
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} GRANT USAGE, SELECT ON SEQUENCES TO {app}",
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} GRANT SELECT ON TABLES TO {readonly}",
)


def without_password(url: str) -> str:
    """Return the URL fit for a terminal or a log."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    user = parts.username
    return urlunsplit(parts._replace(netloc=f"{user}@{host}" if user else host))


def role_password(admin_url: str, role: str) -> str:
    """Return the role's password: the same for everybody who knows the administrator's."""
    secret = urlsplit(admin_url).password or ""
    return hmac.new(secret.encode(), f"sealdeck role {role}".encode(), hashlib.sha256).hexdigest()


def _url(admin_url: str, role: str, database: str) -> str:
    parts = urlsplit(admin_url)
    host = parts.netloc.rpartition("@")[2]
    login = f"{role}:{quote(role_password(admin_url, role))}@{host}"
    return urlunsplit(parts._replace(netloc=login, path=f"/{database}"))


def _database_url(admin_url: str, database: str) -> str:
    return urlunsplit(urlsplit(admin_url)._replace(path=f"/{database}"))


def roles_ensure(admin_url: str) -> tuple[str, str]:
    """Make roles, database and default privileges where they are missing; return the owner's and the app's URL."""
    named = urlsplit(admin_url).path.lstrip("/")
    database = DATABASE if named in MAINTENANCE else named
    with psycopg.connect(admin_url, autocommit=True) as admin:
        # One at a time: two clones that share a server would otherwise both find a role missing.
        admin.execute("SELECT pg_advisory_lock(7361757)")
        for role in (OWNER, APP, *READERS):
            _role_ensure(admin, admin_url, role)
        admin.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(OWNER)))
        for name in (database, TEMPLATE):
            _database_ensure(admin, admin_url, name)
    return _url(admin_url, OWNER, database), _url(admin_url, APP, database)


def _role_ensure(admin: psycopg.Connection, admin_url: str, role: str) -> None:
    if not admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone():
        admin.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(role)))
    if role in READERS:
        return
    admin.execute(
        sql.SQL("ALTER ROLE {} LOGIN {} PASSWORD {}").format(
            sql.Identifier(role),
            sql.SQL("CREATEDB" if role == OWNER else "NOCREATEDB"),
            sql.Literal(role_password(admin_url, role)),
        )
    )


def _database_ensure(admin: psycopg.Connection, admin_url: str, name: str) -> None:
    if not admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
        admin.execute(
            sql.SQL("CREATE DATABASE {} OWNER {} ENCODING 'UTF8' TEMPLATE template0").format(
                sql.Identifier(name), sql.Identifier(OWNER)
            )
        )
    roles = {
        "owner": sql.Identifier(OWNER),
        "app": sql.Identifier(APP),
        "readonly": sql.Identifier(READERS[0]),
        "support": sql.Identifier(READERS[1]),
        "auditor": sql.Identifier(READERS[2]),
    }
    with psycopg.connect(_database_url(admin_url, name), autocommit=True) as database:
        database.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(OWNER)))
        for statement in DEFAULT_PRIVILEGES:
            database.execute(sql.SQL(statement).format(**roles))


if __name__ == "__main__":
    for line in roles_ensure(sys.argv[1]):
        print(line)
