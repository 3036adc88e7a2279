"""Nothing between seed and card is cut short (hazard F5): checked in the source, and on a draw that takes every branch.

Source: docs/fairness/protocol.md, section 5.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from types import ModuleType

import pytest

from apps.fairness.protocol import cards, contributions, frames, streams
from apps.fairness.protocol.streams import KeySchedule, Stream

MODULES = (streams, cards, contributions, frames)
REMAINDERS = {"streams": 4, "cards": 1}
"""How often a module takes a remainder: for the limit and for the result of a draw, alone and within a shuffle; and to
see whether a level of the tree is odd."""
HALVES = {"cards": 2}
"""How often a module divides: for the place of a node one level up."""


def nodes(module: ModuleType) -> list[ast.AST]:
    """Return everything that a module says."""
    return list(ast.walk(ast.parse(inspect.getsource(module))))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_no_source_cuts_a_number_or_a_hash(module: ModuleType) -> None:
    """No masks, no division, no fractions, no part of a digest, and no remainder but after a refusal."""
    name = module.__name__.rpartition(".")[2]
    found = nodes(module)
    operators = Counter(type(node.op) for node in found if isinstance(node, ast.BinOp | ast.AugAssign))
    assert operators[ast.Mod] == REMAINDERS.get(name, 0)
    assert not operators.keys() & {ast.Div, ast.RShift, ast.BitAnd}
    assert operators[ast.FloorDiv] == HALVES.get(name, 0)
    assert not [node for node in found if isinstance(node, ast.Constant) and isinstance(node.value, float)]
    for node in found:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            assert "digest" not in ast.unparse(node.value), ast.unparse(node)


def test_seeds_entropies_and_keys_have_256_bits() -> None:
    key = KeySchedule.derive(seed=bytes(32), rows=[(0, b"", bytes(32))], round_=bytes(16), open_hash=bytes(32))
    assert len(key.prk) == len(key.key("deck")) == 32


@pytest.mark.parametrize("m", [3, 52, 108, 40_000])
def test_a_word_that_would_favour_small_results_is_refused(m: int) -> None:
    """The first refused word, the last taken one, and a real stream that meets both."""
    limit = 65_536 - 65_536 % m

    class Given(Stream):
        def __init__(self, *words: int) -> None:
            super().__init__(bytes(32))
            self._words = list(words[::-1])

    refused = Given(limit, 65_535, limit - 1)
    assert (refused.uniform(m), refused.used) == ((limit - 1) % m, 3)
    shuffled = Given(*[limit] * 2, *[0] * m) if m <= 108 else None
    if shuffled is not None:
        assert sorted(shuffled.shuffle(range(m))) == list(range(m))
        assert shuffled.used == m - 1 + 2
