"""What every environment shares.  Values come from environment variables; docs/developers/settings.md lists them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import django_stubs_ext
import environ

from apps.core import logs

django_stubs_ext.monkeypatch()  # So that annotations such as models.Field[int, int] exist when the program runs.

BASE_DIR = Path(__file__).resolve().parent.parent.parent
env = environ.Env()

SECRET_KEY = env.str("SEALDECK_SECRET_KEY", default="")
SECRET_KEY_FALLBACKS: list[str] = env.list("SEALDECK_SECRET_KEY_FALLBACKS", default=[])
DEBUG = False
ALLOWED_HOSTS: list[str] = env.list("SEALDECK_ALLOWED_HOSTS", default=["127.0.0.1", "localhost"])

INSTALLED_APPS = [
    # Ours come first: their templates replace those of the libraries.
    "apps.core",
    "apps.accounts",
    "apps.wallets",
    "apps.fairness",
    "apps.history",
    "apps.tables",
    "apps.webhooks",
    "apps.backoffice",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

MIDDLEWARE = [
    "apps.core.middleware.request_context",
    "apps.accounts.middleware.answer_headers",
    "django.middleware.security.SecurityMiddleware",
    "apps.core.pages.PagesWhiteNoise",
    "apps.core.pages.PagesSession",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "apps.core.pages.PagesAuthentication",
    "apps.core.pages.PagesMessage",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False
DATA_UPLOAD_MAX_MEMORY_SIZE = env.int("SEALDECK_BODY_MAX_BYTES", default=65_536)
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "no-referrer"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

TIME_ZONE = "UTC"
USE_TZ = True
LANGUAGE_CODE = "en"
STATIC_URL = "/static/"
STATIC_ROOT = Path(env.str("SEALDECK_STATIC_ROOT", default=str(BASE_DIR / "var" / "static")))

LOCK_TIMEOUT_MS = env.int("SEALDECK_LOCK_TIMEOUT_MS", default=2_000)
STATEMENT_TIMEOUT_MS = env.int("SEALDECK_STATEMENT_TIMEOUT_MS", default=5_000)
IDLE_IN_TRANSACTION_TIMEOUT_MS = env.int("SEALDECK_IDLE_IN_TRANSACTION_TIMEOUT_MS", default=10_000)
DB_POOL_MAX = env.int("SEALDECK_DB_POOL_MAX", default=0)
"""Connections of a pool shared by the threads of a process; 0 gives every thread a lasting connection of its own."""


def postgres(url: str, *, application: str, options: str, **more: Any) -> dict[str, Any]:
    """Return Django's settings for one login of the database."""
    parsed: dict[str, Any] = environ.Env.db_url_config(url)
    parsed["ENGINE"] = "apps.core.postgres"
    parsed.setdefault("OPTIONS", {}).update({"application_name": application, "connect_timeout": 5, "options": options})
    return {**parsed, "ATOMIC_REQUESTS": False, **more}


DATABASES = {
    # The application's login: it can read and write rows, and nothing else.
    "default": postgres(
        env.str("DATABASE_URL", default="postgresql://sealdeck_app@127.0.0.1/sealdeck"),
        application="sealdeck",
        options=(
            # The few statements that are prepared (apps.core.postgres.hot) look up by key: planning anew never pays.
            "-c plan_cache_mode=force_generic_plan"
            f" -c lock_timeout={LOCK_TIMEOUT_MS} -c statement_timeout={STATEMENT_TIMEOUT_MS}"
            f" -c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_TIMEOUT_MS}"
        ),
        # One thread per process keeps one connection; a process with many threads shares a pool.
        CONN_MAX_AGE=None if not DB_POOL_MAX else 0,
        CONN_HEALTH_CHECKS=not DB_POOL_MAX,
        TEST={"MIRROR": "owner"},
    ),
    # The owner of the tables: `manage.py migrate --database owner`, nothing else.
    "owner": postgres(
        env.str("DATABASE_OWNER_URL", default="postgresql://sealdeck_owner@127.0.0.1/sealdeck"),
        application="sealdeck-owner",
        options="-c lock_timeout=10000",
        TEST={"TEMPLATE": "sealdeck_template", "DEPENDENCIES": []},
    ),
}

if DB_POOL_MAX:
    DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 1, "max_size": DB_POOL_MAX, "timeout": 5}

REDIS_URL = env.str("REDIS_URL", default="redis://127.0.0.1:6379/0")

CELERY_BROKER_URL = REDIS_URL
CELERY_TIMEZONE = "UTC"
CELERY_TASK_IGNORE_RESULT = True
CELERY_DB_REUSE_MAX = sys.maxsize
"""Celery would connect anew for each task; config/celery.py closes the connections that broke instead."""
# Every task is a tick, which may be lost.  A message that is acknowledged late would be restored when Redis goes away,
# which ends the worker: kombu 5.7 asks a connection that it has closed.
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Tasks wait for the database and for other hosts, so threads serve them; more processes use more cores.
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = env.int("SEALDECK_WORKER_THREADS", default=8)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 60}


def every(task: str, seconds: float) -> dict[str, Any]:
    """Return a beat entry; ticks that heap up are dropped by apps.core.ticks."""
    return {"task": task, "schedule": seconds}


CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "worker-beat": every("core.worker_beat", 5),
    "backlog-watch": every("core.backlog_watch", 10),
    "idempotency-purge": every("core.idempotency_purge", 600),
    "nonces-purge": every("accounts.nonces_purge", 60),
    "tables-sweep": every("tables.sweep", 1),
    "fairness-sequence": every("fairness.sequence", 1),
    "fairness-beacon": every("fairness.beacon", 1),
    "fairness-cosign": every("fairness.cosign", 1),
    "wallets-holds": every("wallets.holds_expire", 5),
    "wallets-seamless": every("wallets.seamless", 1),
    "wallets-seal": every("wallets.seal", 30),
    "wallets-check": every("wallets.check", 300),
    "wallets-daily": every("wallets.daily_files", 600),
    "webhooks-deliver": every("webhooks.deliver", 1),
}

LOGGING = logs.configuration(env.str("SEALDECK_LOG_LEVEL", default="INFO"))
SEALDECK_METRICS_TOKEN = env.str("SEALDECK_METRICS_TOKEN", default="")

# Where clients find us; the demo and the stream tickets need to know.
SEALDECK_API_URL = env.str("SEALDECK_API_URL", default="http://127.0.0.1:8000")
SEALDECK_STREAM_URL = env.str("SEALDECK_STREAM_URL", default="http://127.0.0.1:8001")

# Keys of the fairness app: docs/fairness/operations.md.
SEALDECK_KEKS: dict[str, str] = env.json("SEALDECK_KEKS", default={})
SEALDECK_KEK_ID = env.str("SEALDECK_KEK_ID", default="")
SEALDECK_LOG_ORIGIN = env.str("SEALDECK_LOG_ORIGIN", default="")
SEALDECK_ROOT_KEY_FILE = env.str("SEALDECK_ROOT_KEY_FILE", default="")
SEALDECK_LOG_ANCHOR_FILE = env.str("SEALDECK_LOG_ANCHOR_FILE", default="")
SEALDECK_WITNESSES: list[dict[str, str]] = env.json("SEALDECK_WITNESSES", default=[])
SEALDECK_WITNESS_QUORUM = env.int("SEALDECK_WITNESS_QUORUM", default=0)
SEALDECK_BEACON_URLS: list[str] = env.list("SEALDECK_BEACON_URLS", default=[])

# Keys of the ledger and of webhooks (32 bytes, hex); derived from SECRET_KEY where they are not set.
SEALDECK_LEDGER_KEY = env.str("SEALDECK_LEDGER_KEY", default="")
SEALDECK_WEBHOOK_KEY = env.str("SEALDECK_WEBHOOK_KEY", default="")
# Networks that webhooks and calls of operators' wallets may go to though they are not public, also without TLS: for
# trying out only.
SEALDECK_WEBHOOK_NETWORKS: list[str] = env.list("SEALDECK_WEBHOOK_NETWORKS", default=[])

SEALDECK_SANDBOX = env.bool("SEALDECK_SANDBOX", default=False)
SEALDECK_REQUIRE_SIGNATURES = env.bool("SEALDECK_REQUIRE_SIGNATURES", default=False)
SEALDECK_ANSWER_KEY = env.str("SEALDECK_ANSWER_KEY", default="")
SEALDECK_TRUSTED_PROXIES: list[str] = env.list("SEALDECK_TRUSTED_PROXIES", default=[])
SEALDECK_RATE_LIMITS = env.str("SEALDECK_RATE_LIMITS", default="")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.accounts.api.authentication.OperatorKeyAuthentication",
        "apps.accounts.api.authentication.PlayerTokenAuthentication",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["apps.accounts.api.throttles.CallerThrottle"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["apps.core.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "apps.accounts.api.schema.ApiSchema",
    "EXCEPTION_HANDLER": "apps.core.api.problems.handler",
    "UNAUTHENTICATED_USER": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Sealdeck",
    "DESCRIPTION": "Provably fair, auditable card games: tables, rounds, wallets, proofs.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SCHEMA_PATH_PREFIX": "/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "apps.core.api.document.problems_append",
    ],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    # Members of one name and different values in several components.
    "ENUM_NAME_OVERRIDES": {
        "LimitKindEnum": "apps.accounts.limits.LIMIT_KINDS",
        "RoundStatusEnum": ["open", "closing", "running", "finished", "void"],
        "PlayerStatusWishEnum": "apps.accounts.models.PlayerStatus",
        "PlayerStatusEnum": "apps.accounts.api.serializers.PLAYER_STATUSES",
        "EndpointStateEnum": "apps.webhooks.models.EndpointState",
    },
    # The pages' own files come from this server: no page loads anything from another host.
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "persistAuthorization": False},
}

# What the ledger's check asks for what a round should have paid.
SEALDECK_ROUND_AUDIT = "apps.tables.audit.round_audit"
