"""The least that a durable write over HTTP costs on this machine, for benchmarks to compare a move with.

One view of Django REST framework as its tutorial would have it, no middleware, and one INSERT: no caller, no rules, no
checks.  Runs in the same server on the same database as the product, and is never part of it.
"""

from __future__ import annotations

import json
from typing import Any

import django
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.http import HttpRequest
from django.test.utils import override_settings
from django.urls import path

django.setup()

from rest_framework.parsers import JSONParser  # noqa: E402  # Only after Django is set up.
from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class BareView(APIView):
    """Stores the body."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    parser_classes = (JSONParser,)

    def post(self, request: Request) -> Response:
        """Insert one row."""
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO bench_bare (body) VALUES (%s) RETURNING id", [json.dumps(request.data)])
            return Response({"id": cursor.fetchone()[0]}, status=201)


urlpatterns = [path("bare", BareView.as_view())]


class Bare(WSGIHandler):
    """Django with this module's one address."""

    def get_response(self, request: HttpRequest) -> Any:
        """Answer from here."""
        request.urlconf = __name__
        answer: Any = super().get_response(request)
        answer["Content-Length"] = str(len(answer.content))  # As CommonMiddleware does.
        return answer


with override_settings(MIDDLEWARE=[]):
    application = Bare()
