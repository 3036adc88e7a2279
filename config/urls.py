"""Every address of the API process."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from apps.core.api import service
from apps.fairness import pages

# Addresses are tried in this order, so those of play come first.
API = [path("", include(f"apps.{name}.api.urls")) for name in ("tables", "accounts", "wallets", "fairness", "webhooks")]
urlpatterns: list[URLPattern | URLResolver] = [
    path("v1/", include(API)),
    path("health/live", service.live),
    path("health/ready", service.ready),
    path("metrics", service.metrics),
    path("problems", service.problems),
    path("problems/", service.problems),
    path("problems/<str:code>", service.problem),
    path("verify/", pages.verifier, name="verifier"),
    path("verify/sealdeck-verify.html", pages.verifier_file, name="verifier-file"),
    path("docs", SpectacularSwaggerSplitView.as_view(url_name="openapi"), name="docs"),
    path("docs/openapi.yaml", SpectacularAPIView.as_view(), name="openapi"),
    path("admin/", admin.site.urls),
]
handler400 = "apps.core.api.problems.bad_request"
handler403 = "apps.core.api.problems.forbidden"
handler404 = "apps.core.api.problems.not_found"
handler500 = "apps.core.api.problems.server_error"
