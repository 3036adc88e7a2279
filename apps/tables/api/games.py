"""What can be played: the games, their options, clocks, decks and rules, for everybody.

The rules are the pages of docs/games, which are part of the product: an auditor reads what the code cites.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.api.document import refuses
from apps.core.api.parsers import MalformedJson
from apps.core.api.views import PublicView
from apps.games import registry
from apps.games.contract import RuleError
from apps.games.kit.opening import options_filled
from apps.tables.errors import GameUnknown

PAGES = Path(__file__).resolve().parents[3] / "docs" / "games"
CACHE_S = 300


class GameOptionSerializer(serializers.Serializer[Any]):
    """An option of a game."""

    name = serializers.CharField()
    default = serializers.JSONField()
    allowed = serializers.ListField(child=serializers.JSONField())
    about = serializers.CharField()


class GameSerializer(serializers.Serializer[Any]):
    """A game in short."""

    slug = serializers.CharField()
    title = serializers.CharField()
    rules = serializers.CharField(help_text="Rules version; it stands in every open record.")
    seats_min = serializers.IntegerField()
    seats_max = serializers.IntegerField()
    options = GameOptionSerializer(many=True)
    clocks = serializers.DictField(child=serializers.IntegerField())
    unsequenced = serializers.ListField(child=serializers.CharField(), help_text="Verbs that need no fresh `seen`.")


class GamePageSerializer(GameSerializer):
    """A game with its rules and deck."""

    rules_text = serializers.CharField(help_text="The rules, Markdown.")
    common_text = serializers.CharField(help_text="The rules that all games share, Markdown.")
    deck = serializers.ListField(child=serializers.CharField(), help_text="Canonical order, before any shuffle.")


def _short(slug: str) -> dict[str, Any]:
    spec = registry.game(slug).spec
    return {
        "slug": spec.slug,
        "title": spec.title,
        "rules": spec.rules,
        "seats_min": spec.seats_min,
        "seats_max": spec.seats_max,
        "options": [
            {"name": o.name, "default": o.default, "allowed": list(o.allowed), "about": o.about} for o in spec.options
        ],
        "clocks": dict(spec.clocks),
        "unsequenced": sorted(spec.unsequenced),
    }


@cache
def _page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


class GamesView(PublicView):
    """The games."""

    @extend_schema(operation_id="game_list", auth=[], responses={200: GameSerializer(many=True)})
    def get(self, request: Request) -> Response:
        """Return the games of this server."""
        answer = [_short(slug) for slug in registry.slugs()]
        return Response(answer, headers={"Cache-Control": f"public, max-age={CACHE_S}"})


class GameView(PublicView):
    """One game."""

    @extend_schema(
        operation_id="game_get",
        auth=[],
        parameters=[OpenApiParameter("seats", int, description="Number of seats for the deck; the least if left out.")],
        responses={200: GamePageSerializer},
    )
    @refuses(GameUnknown, MalformedJson)
    def get(self, request: Request, slug: str) -> Response:
        """Return a game with its rules and its deck."""
        if slug not in registry.slugs():
            raise GameUnknown
        game = registry.game(slug)
        text = request.query_params.get("seats", str(game.spec.seats_min))
        seats = int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else 0
        try:
            deck = game.deck(options_filled(game.spec, {}), seats)
        except RuleError:
            raise MalformedJson(
                f"{game.spec.title} is played by {game.spec.seats_min} to {game.spec.seats_max} seats."
            ) from None
        page = _short(slug) | {"rules_text": _page(slug), "common_text": _page("common"), "deck": list(deck)}
        return Response(page, headers={"Cache-Control": f"public, max-age={CACHE_S}"})
