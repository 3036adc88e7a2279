"""Mutation testing of a rules package: ``python -m tools.mutate apps/games/monko tests/games/monko``.

Makes one small change at a time in the package (a comparison turned, a number off by one, a condition negated, a
statement left out), runs the tests on it, and lists the changes that no test noticed.  Each survivor is either killed
by a new test or is no change in behaviour.  The files themselves are never touched: the changed module exists only in
the memory of the process that runs the tests.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib.abc
import importlib.machinery
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

LIMIT_S = 120
"""A run of the tests that takes longer counts as noticed: the change made an endless loop."""

PURE = ("-x", "-q", "-c", os.devnull, "--rootdir", ".", "--noconftest", "-p", "no:cacheprovider")
"""How pytest is started: rules need no database, so none of the suite's configuration and none of its plugins."""

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
COUNTED: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add}


@dataclass(frozen=True)
class Mutant:
    """One changed module."""

    path: Path
    line: int
    what: str
    tree: ast.Module


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield changed copies of one node, each with a word on what was changed."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        other = copy.copy(node)
        other.ops = [COMPARED[type(node.ops[0])]()]
        yield "comparison", other
    elif isinstance(node, ast.BinOp) and type(node.op) in COUNTED:
        yield "operator", ast.BinOp(node.left, COUNTED[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield "and/or", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield "negation", node.operand
    elif isinstance(node, ast.IfExp):
        yield "condition", ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "number", ast.Constant(node.value + 1)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "boolean", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and type(node.value) is str:
        yield "text", ast.Constant(node.value + "?")
    elif isinstance(node, ast.If):
        other_if = copy.copy(node)
        other_if.test = ast.UnaryOp(ast.Not(), node.test)
        yield "condition", other_if
    elif isinstance(node, (ast.Assign, ast.AugAssign)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield "left out", ast.Pass()


def skipped(node: ast.AST) -> bool:
    """Return whether changes inside this node mean nothing: imports, annotations, texts for people."""
    return isinstance(node, (ast.Import, ast.ImportFrom)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Yield parent, field and index of every node that may be changed."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases", "keywords_of_class"):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not skipped(child):
                yield node, name, index
                yield from places(child)


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of one module."""
    tree = ast.parse(path.read_text())
    for parent, name, index in list(places(tree)):
        value = getattr(parent, name)
        node = value if index is None else value[index]
        for what, changed in changes(node):
            ast.copy_location(changed, node)
            if index is None:
                setattr(parent, name, changed)
            else:
                value[index] = changed
            yield Mutant(path, node.lineno, f"{what}: {ast.unparse(node)[:70]}", copy.deepcopy(tree))
            if index is None:
                setattr(parent, name, node)
            else:
                value[index] = node


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the changed module to whoever imports it."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        parts = mutant.path.with_suffix("").parts
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return a spec for the changed module only."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.mutant.path.resolve(), loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed module."""
        tree = ast.fix_missing_locations(self.mutant.tree)
        exec(compile(tree, str(self.mutant.path), "exec"), module.__dict__)


def noticed(mutant: Mutant | None, tests: Sequence[str]) -> bool:
    """Run the tests in a process of their own, on a mutant or (None) on the code as it is; tell whether they failed."""
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT_S)
        if mutant is not None:
            sys.meta_path.insert(0, Changed(mutant))
        with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
            status = pytest.main([*PURE, *tests])
        os._exit(int(status) and 1)
    _, status = os.waitpid(child, 0)
    return status != 0


def main() -> int:
    """Run the command; return 1 if a mutant survived."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutate", description="Mutation testing of a package.")
    parser.add_argument("target", type=Path, help="package or module to change")
    parser.add_argument("tests", nargs="+", help="arguments for pytest")
    parser.add_argument("--skip", action="append", default=[], help="module name to leave out")
    asked = parser.parse_args()
    sys.path.insert(0, os.getcwd())
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    if noticed(None, asked.tests):
        print("the tests fail on the code as it is", file=sys.stderr)
        return 2
    files = sorted(asked.target.rglob("*.py")) if asked.target.is_dir() else [asked.target]
    files = [path for path in files if path.stem not in asked.skip]
    total = sum(1 for path in files for _ in mutants_of(path))
    began, survivors = time.monotonic(), 0
    for number, mutant in enumerate((mutant for path in files for mutant in mutants_of(path)), 1):
        if not noticed(mutant, asked.tests):
            survivors += 1
            print(f"survived {mutant.path}:{mutant.line}: {mutant.what}", flush=True)
        if number % 50 == 0:
            print(f"{number}/{total} tried, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    print(f"{total} mutants, {survivors} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
