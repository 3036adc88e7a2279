"""Production: everything from the environment, and nothing that is missing or weak is let through."""

from __future__ import annotations

import json

from django.core.exceptions import ImproperlyConfigured

from config.settings.base import *  # noqa: F403
from config.settings.base import env

SECRET_LENGTH_MIN = 50
REQUIRED = (
    "SEALDECK_SECRET_KEY",
    "SEALDECK_ALLOWED_HOSTS",
    "SEALDECK_KEKS",
    "SEALDECK_KEK_ID",
    "SEALDECK_LOG_ORIGIN",
    "DATABASE_URL",
    "REDIS_URL",
)


def refusals() -> list[str]:
    """Return every reason not to start, one sentence each; no sentence contains a value."""
    found = [f"{name} is not set." for name in REQUIRED if not env.str(name, default="").strip()]
    secret = env.str("SEALDECK_SECRET_KEY", default="")
    if secret and (len(secret) < SECRET_LENGTH_MIN or len(set(secret)) < 10 or "not-secret" in secret):
        found.append(f"SEALDECK_SECRET_KEY is not {SECRET_LENGTH_MIN} random characters.")
    if env.str("DEBUG", default="") or env.str("SEALDECK_DEBUG", default=""):
        found.append("DEBUG has no place in production: unset it.")
    try:
        keks = json.loads(env.str("SEALDECK_KEKS", default="") or "{}")
        if any(len(set(str(key))) < 4 for key in keks.values()):
            found.append("SEALDECK_KEKS holds a key that is not random.")
        if keks and env.str("SEALDECK_KEK_ID", default="") not in keks:
            found.append("SEALDECK_KEK_ID names no key of SEALDECK_KEKS.")
    except (ValueError, AttributeError):
        found.append("SEALDECK_KEKS is not an object of key id to hex.")
    if "*" in env.list("SEALDECK_ALLOWED_HOSTS", default=[]):
        found.append("SEALDECK_ALLOWED_HOSTS names hosts, not everything.")
    return found


if refusals():
    raise ImproperlyConfigured("Sealdeck does not start: " + " ".join(refusals()))

SEALDECK_REQUIRE_SIGNATURES = env.bool("SEALDECK_REQUIRE_SIGNATURES", default=True)
SECURE_SSL_REDIRECT = env.bool("SEALDECK_SSL_REDIRECT", default=True)
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]
SECURE_HSTS_SECONDS = env.int("SEALDECK_HSTS_SECONDS", default=31_536_000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
CSRF_TRUSTED_ORIGINS = env.list("SEALDECK_TRUSTED_ORIGINS", default=[])
if env.bool("SEALDECK_BEHIND_PROXY", default=False):
    # Only behind a proxy that sets the header itself and drops what clients send.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
