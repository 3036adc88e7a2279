"""Wonky: an action that is offered again and again.

A seat may have two thousand legal placements, so ``legal`` does not write them anew each time.  An offer is therefore
shared by all rounds of a process, and refuses to be changed; ``dict(offer)`` is a copy of one's own.
"""

from __future__ import annotations

from typing import Any, NoReturn


class Offer(dict[str, Any]):
    """A dict that stays as it was made.  Equal to, compared and written as JSON like any other dict."""

    __slots__ = ()

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("an offered action is shared; change a copy of it")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return dict(self)

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return (Offer, (dict(self),))
