"""Every address of the API process."""

from __future__ import annotations

from importlib.util import find_spec

from django.apps import apps
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

API = [
    path("", include(f"apps.{name}.api.urls"))
    for name in ("accounts", "wallets", "fairness", "history", "tables")
    if apps.is_installed(f"apps.{name}") and find_spec(f"apps.{name}.api") and find_spec(f"apps.{name}.api.urls")
]
urlpatterns: list[URLPattern | URLResolver] = [path("v1/", include(API)), path("admin/", admin.site.urls)]
