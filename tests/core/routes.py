"""Routes that exist in these tests only: one for each way a handler can end."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group
from django.db import connection
from django.urls import path
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.api.views import ApiView
from apps.core.errors import ApplicationError
from apps.core.idempotency import idempotent
from apps.games.contract import RuleError

OPERATOR = UUID(int=1)


@dataclass(frozen=True, slots=True)
class Caller:
    """Stands for what the accounts app puts into request.auth."""

    operator_id: UUID
    player_id: UUID | None


class HeaderAuthentication(BaseAuthentication):
    """Take the player's id from a header."""

    def authenticate(self, request: Request) -> tuple[None, Caller]:
        player = request.headers.get("X-Player")
        return None, Caller(OPERATOR, UUID(player) if player else None)


class Refused(ApplicationError):
    """A rule of the business says no, for good."""

    code = "refused_for_good"
    status = 409
    title = "Refused."


class Later(ApplicationError):
    """Refused now; the same request may succeed later."""

    code = "refused_for_now"
    status = 409
    title = "Not now."
    retry = True
    same_key = True


class Name(serializers.Serializer[Any]):
    """A body with one member."""

    name = serializers.CharField(max_length=20)


class Effect(ApiView):
    """Make a group, then end as the address says."""

    authentication_classes = (HeaderAuthentication,)
    permission_classes = (AllowAny,)
    entered = threading.Event()
    may_go_on = threading.Event()

    @idempotent
    def post(self, request: Request, how: str) -> Response:
        body = Name(data=request.data)
        body.is_valid(raise_exception=True)
        group = Group.objects.create(name=body.validated_data["name"])
        match how:
            case "refuse":
                raise Refused(pointer="/name", limit=3)
            case "rule":
                raise RuleError("not_your_turn", seat=2)
            case "later":
                raise Later
            case "fail":
                raise AssertionError("our fault")
            case "wait":
                self.entered.set()
                assert self.may_go_on.wait(20)
            case _:
                pass
        return Response({"id": group.pk, "name": group.name}, status=201)


class Optional(ApiView):
    """The same with a key that may be left out."""

    authentication_classes = (HeaderAuthentication,)
    permission_classes = (AllowAny,)

    @idempotent(required=False)
    def post(self, request: Request) -> Response:
        return Response({"id": Group.objects.create(name=dict(request.data)["name"]).pk}, status=201)


class Database(ApiView):
    """End with an error of the database, as often as the body says."""

    authentication_classes = (HeaderAuthentication,)
    permission_classes = (AllowAny,)
    tries = 0

    @idempotent
    def post(self, request: Request) -> Response:
        """Write, then fail with the SQLSTATE asked for in the first ``times`` tries."""
        body = dict(request.data)
        Group.objects.create(name="tried")
        type(self).tries += 1
        if self.tries <= body["times"]:
            with connection.cursor() as cursor:
                cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'forced' USING ERRCODE = '{body['sqlstate']}'; END $$")
        return Response({"tries": self.tries}, status=201)


class Shape(ApiView):
    """A body with a shape."""

    authentication_classes = (HeaderAuthentication,)
    permission_classes = (AllowAny,)

    class Body(serializers.Serializer[Any]):
        """Members of several kinds."""

        amount_minor = serializers.IntegerField(min_value=1)
        seats = serializers.ListField(child=serializers.IntegerField(max_value=9))
        inner = Name()

    def post(self, request: Request) -> Response:
        """Check the shape."""
        body = self.Body(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(body.validated_data)


urlpatterns = [
    path("database", Database.as_view()),
    path("shape", Shape.as_view()),
    path("effect/<str:how>", Effect.as_view()),
    path("optional", Optional.as_view()),
]
handler500 = "apps.core.api.problems.server_error"
