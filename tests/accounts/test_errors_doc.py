"""The error catalogue is complete, true, and says one thing about each code."""

from __future__ import annotations

import re

import pytest
from rest_framework import exceptions

from apps.core.api.problems import problem_of
from apps.core.errors import ApplicationError
from tools import errors_doc

CODE = re.compile(r"[a-z][a-z0-9_]{2,47}")
STATUSES = {400, 401, 403, 404, 409, 410, 413, 422, 423, 429, 500, 503}


def all_classes() -> list[type[ApplicationError]]:
    """Return every error class of the product."""
    return [one for listed in errors_doc.classes().values() for one in listed]


class TestCatalogue:
    def test_is_what_the_classes_say(self) -> None:
        page = errors_doc.PAGE.read_text(encoding="utf-8")
        assert page == errors_doc.written(page), "run: python -m tools.errors_doc"

    def test_has_every_class(self) -> None:
        page = errors_doc.PAGE.read_text(encoding="utf-8")
        missing = [one.code for one in all_classes() if f"| `{one.code}` | {one.status} |" not in page]
        assert missing == []

    def test_says_one_thing_about_each_code(self) -> None:
        told: dict[str, set[tuple[object, ...]]] = {}
        for one in all_classes():
            told.setdefault(one.code, set()).add((one.status, one.money_moved, one.retry, one.same_key))
        assert {code: facts for code, facts in told.items() if len(facts) > 1} == {}

    @pytest.mark.parametrize("error", all_classes(), ids=lambda error: error.__name__)
    def test_has_well_formed_rows(self, error: type[ApplicationError]) -> None:
        assert CODE.fullmatch(error.code)
        assert error.status in STATUSES
        assert error.money_moved in {"no", "unknown"}
        assert error.title.endswith(".")
        assert "|" not in error.title
        assert not (error.same_key and not error.retry), "only what is retried carries a key again"

    @pytest.mark.parametrize(
        "error",
        [
            exceptions.ValidationError({"a": ["x"]}),
            exceptions.PermissionDenied(),
            exceptions.NotFound(),
            exceptions.MethodNotAllowed("PUT"),
            exceptions.NotAcceptable(),
            exceptions.UnsupportedMediaType("text/plain"),
        ],
    )
    def test_has_what_the_framework_refuses(self, error: exceptions.APIException) -> None:
        problem = problem_of(error)
        assert problem is not None
        assert (problem.code, problem.status) in {(row.code, row.status) for row in errors_doc.FRAMEWORK}

    def test_needs_its_marks(self) -> None:
        with pytest.raises(ValueError, match=re.escape("errors.md needs the lines")):
            errors_doc.written("# Errors\n")
