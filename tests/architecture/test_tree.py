"""How the tree looks: names that say nothing are refused, and so is what has no place in a committed file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tools.links import anchors, broken_links

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("apps", "config", "tools", "tests")
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
LINES_MAX = 650
"""A file near 500 lines becomes a package; beyond this it is one too late."""


def modules() -> list[Path]:
    """Return every module of ours."""
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


class TestModules:
    def test_are_named_after_their_noun(self) -> None:
        assert [path for path in modules() if path.stem in EMPTY_NAMES or path.parent.name in EMPTY_NAMES] == []

    def test_begin_by_saying_what_they_are(self) -> None:
        silent = [
            path
            for path in modules()
            if path.read_text().strip() and ast.get_docstring(ast.parse(path.read_text())) is None
        ]
        assert silent == []

    def test_are_short_enough_to_read(self) -> None:
        long = {
            str(path.relative_to(ROOT)): len(path.read_text().splitlines())
            for path in modules()
            if "migrations" not in path.parts
        }
        assert {name: lines for name, lines in long.items() if lines > LINES_MAX} == {}

    def test_leave_nothing_unfinished(self) -> None:
        assert [path for path in modules() if UNFINISHED.search(path.read_text())] == []

    def test_skip_no_test(self) -> None:
        forbidden = re.compile(r"pytest\.(skip|xfail|importorskip)\b|mark\.(skip|skipif|xfail)\b")
        assert [path for path in modules() if path != Path(__file__) and forbidden.search(path.read_text())] == []


class TestLinks:
    def test_lead_somewhere(self) -> None:
        assert broken_links(ROOT) == []

    def test_that_lead_nowhere_are_found(self, tmp_path: Path) -> None:
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "there.md").write_text("# One thing\n\n## A `b` c!\n")
        (tmp_path / "README.md").write_text(
            "[good](docs/there.md) [good](docs/there.md#a-b-c) [good](#here)\n\n# Here\n\n"
            "[bad](docs/gone.md) [bad](docs/there.md#gone) [bad](#gone)\n\n"
            "`[no link](x.md)`\n\n```text\n[no link](y.md)\n```\n\n[r]: docs/lost.md\n"
        )
        (tmp_path / "apps").mkdir()
        (tmp_path / "apps" / "module.py").write_text('"""Source: docs/there.md and docs/cited.md."""\n')
        assert broken_links(tmp_path) == [
            "README.md: there is no docs/gone.md",
            "README.md: docs/there.md has no heading #gone",
            "README.md: README.md has no heading #gone",
            "README.md: there is no docs/lost.md",
            "apps/module.py: there is no docs/cited.md",
        ]

    @pytest.mark.parametrize(("heading", "name"), [("# A b", "a-b"), ("## `x_y` - z", "x_y---z"), ("# É!", "é")])
    def test_anchors_are_made_like_githubs(self, heading: str, name: str) -> None:
        assert anchors(f"{heading}\n") == {name}
