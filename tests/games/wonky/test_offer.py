"""Wonky: listed placements are shared, and cannot be changed by who gets them (apps/games/wonky/offer.py)."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable

import pytest

from apps.games.wonky.offer import Offer
from tests.games.wonky.arranging import arranged, stack


def test_an_offer_is_a_dict_in_every_other_way() -> None:
    table = arranged({0: "MG#1 SP#1", 1: "LB#1"}, "LPf0")
    offer = table.legal(0)[0]
    assert isinstance(offer, Offer)
    assert offer == stack("SP#1", "SP", "flat", -8)
    assert json.loads(json.dumps(offer)) == offer
    for made in (dict(offer), copy.copy(offer), copy.deepcopy(offer), offer | {"offset": 1}):
        assert type(made) is dict
        made["offset"] = 2
    assert pickle.loads(pickle.dumps(offer)) == offer
    assert table.act(0, offer)[0].startswith("played(seat=0,")


def test_an_offer_refuses_every_change() -> None:
    offer = Offer({"type": "draw"})
    with pytest.raises(TypeError):
        offer["type"] = "keep"
    with pytest.raises(TypeError):
        del offer["type"]
    with pytest.raises(TypeError):
        offer |= {"x": 1}
    changes: list[Callable[[], object]] = [
        lambda: offer.update(x=1),
        lambda: offer.setdefault("x", 1),
        lambda: offer.pop("type"),
        offer.popitem,
        offer.clear,
    ]
    for change in changes:
        with pytest.raises(TypeError):
            change()
    assert offer == {"type": "draw"}
