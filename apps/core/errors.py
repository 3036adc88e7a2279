"""What the world says no with.

``ApplicationError`` is the base of every refusal that is not a rule of a game; each app declares one class per code in
its own ``errors.py``.  The code and the status never change once published; the texts may.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal


class ApplicationError(Exception):
    """A refusal with a stable code.  Nothing was changed unless ``money_moved`` says otherwise."""

    code: ClassVar[str] = "application_error"
    status: ClassVar[int] = 400
    title: ClassVar[str] = "The request was refused."
    money_moved: ClassVar[Literal["no", "yes", "unknown"]] = "no"
    retry: ClassVar[bool] = False
    """Whether the same request may succeed later."""
    same_key: ClassVar[bool] = False
    """Whether a retry may carry the same idempotency key (then the refusal is not stored)."""

    def __init__(self, detail: str | None = None, *, pointer: str | None = None, **facts: Any) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.pointer = pointer
        self.facts = facts


def error_classes(of: type[ApplicationError] = ApplicationError) -> dict[str, type[ApplicationError]]:
    """Return every class of refusal that is loaded, by its code."""
    found: dict[str, type[ApplicationError]] = {}
    for each in of.__subclasses__():
        found = {each.code: each, **found, **error_classes(each)}
    return found
