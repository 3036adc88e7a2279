"""The browser verifier's page, at ``/verify/`` and for saving: public, the same bytes for everybody, no cookie.

Protocol: docs/fairness/protocol.md, section 13.  Never looks at the database: the page asks for bundles itself.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.fairness.browser.build import NAME, build

ANEW = "no-cache"


@require_safe
def verifier(request: HttpRequest) -> HttpResponse:
    """Show the page."""
    return _page({})


@require_safe
def verifier_file(request: HttpRequest) -> HttpResponse:
    """Give the same page as a file to keep."""
    return _page({"Content-Disposition": f'attachment; filename="{NAME}"'})


def _page(headers: dict[str, str]) -> HttpResponse:
    page = build()
    answer = HttpResponse(page.data, content_type="text/html; charset=utf-8", headers=headers)
    answer.headers["Content-Security-Policy"] = f"{page.policy}; frame-ancestors 'none'"
    answer.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    answer.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["Cache-Control"] = ANEW
    answer.headers["Digest-SHA-256"] = page.digest
    return answer
