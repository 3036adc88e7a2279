"""What every environment shares.  Values come from environment variables; docs/developers/settings.md lists them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import django_stubs_ext
import environ

django_stubs_ext.monkeypatch()  # So that annotations such as models.Field[int, int] exist when the program runs.

BASE_DIR = Path(__file__).resolve().parent.parent.parent
env = environ.Env()

SECRET_KEY = env.str("SEALDECK_SECRET_KEY", default="")
SECRET_KEY_FALLBACKS: list[str] = env.list("SEALDECK_SECRET_KEY_FALLBACKS", default=[])
DEBUG = False
ALLOWED_HOSTS: list[str] = env.list("SEALDECK_ALLOWED_HOSTS", default=["127.0.0.1", "localhost"])

OUR_APPS = [
    f"apps.{name}"
    for name in env.list(
        "SEALDECK_APPS",  # While the tree is being built: the apps that are there.
        default=["core", "accounts", "wallets", "fairness", "history", "tables", "webhooks", "backoffice"],
    )
    if (BASE_DIR / "apps" / name / "apps.py").exists()
]
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    *OUR_APPS,
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False
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
STATIC_ROOT = BASE_DIR / "var" / "static"

LOCK_TIMEOUT_MS = env.int("SEALDECK_LOCK_TIMEOUT_MS", default=2_000)
STATEMENT_TIMEOUT_MS = env.int("SEALDECK_STATEMENT_TIMEOUT_MS", default=5_000)
IDLE_IN_TRANSACTION_TIMEOUT_MS = env.int("SEALDECK_IDLE_IN_TRANSACTION_TIMEOUT_MS", default=10_000)


def postgres(url: str, *, application: str, options: str, **more: Any) -> dict[str, Any]:
    """Return Django's settings for one login of the database."""
    parsed: dict[str, Any] = environ.Env.db_url_config(url)
    parsed["ENGINE"] = "django.db.backends.postgresql"
    parsed.setdefault("OPTIONS", {}).update({"application_name": application, "options": options})
    return {**parsed, "ATOMIC_REQUESTS": False, **more}


DATABASES = {
    # The application's login: it can read and write rows, and nothing else.
    "default": postgres(
        env.str("DATABASE_URL", default="postgresql://sealdeck_app@127.0.0.1/sealdeck"),
        application="sealdeck",
        options=(
            f"-c lock_timeout={LOCK_TIMEOUT_MS} -c statement_timeout={STATEMENT_TIMEOUT_MS}"
            f" -c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_TIMEOUT_MS}"
        ),
        CONN_MAX_AGE=None,
        CONN_HEALTH_CHECKS=True,
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

REDIS_URL = env.str("REDIS_URL", default="redis://127.0.0.1:6379/0")

CELERY_BROKER_URL = REDIS_URL
CELERY_TIMEZONE = "UTC"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.accounts.api.authentication.OperatorKeyAuthentication",
        "apps.accounts.api.authentication.PlayerTokenAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["apps.core.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "apps.core.api.problems.handler",
    "UNAUTHENTICATED_USER": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
