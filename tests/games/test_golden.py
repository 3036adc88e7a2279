"""Golden rounds of every game: tests/games/<slug>/golden/*.txt, compared exactly.

``SEALDECK_GOLDEN=write`` writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from apps.games import registry
from tests.games import golden

FILES = sorted(Path(__file__).parent.glob("*/golden/*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_golden_round_happens_again(path: Path) -> None:
    told = golden.play(golden.header_of(path))
    if os.environ.get("SEALDECK_GOLDEN") == "write":
        path.write_text(told)
    assert path.read_text() == told


@pytest.mark.parametrize("slug", registry.slugs())
def test_every_game_has_golden_rounds(slug: str) -> None:
    assert [path for path in FILES if path.parts[-3] == slug]
