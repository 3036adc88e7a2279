"""JSON bodies: what is refused, and where the pointer points."""

from __future__ import annotations

import pytest

from apps.core.api.parsers import DEPTH_MAX, INTEGER_MAX, ITEMS_MAX, MalformedJson, strict_loads


class TestStrictLoads:
    def test_reads_an_object(self) -> None:
        raw = b'{"a": [1, -2, true, null, "\\u00e9\\ud83c\\udccf"], "b": {"c": 9007199254740991}}'
        assert strict_loads(raw) == {"a": [1, -2, True, None, "é🃏"], "b": {"c": INTEGER_MAX}}

    @pytest.mark.parametrize(
        ("raw", "pointer"),
        [
            (b'{"a": 1, "a": 1}', "/a"),
            (b'{"x": [{"a": 1, "a": 2}]}', "/x/0/a"),
            (b'{"a": 1.5}', "/a"),
            (b'{"a": 1.0}', "/a"),
            (b'{"a": 1e3}', "/a"),
            (b'{"a": NaN}', "/a"),
            (b'{"a": [0, -Infinity]}', "/a/1"),
            (b'{"a": 9007199254740992}', "/a"),
            (b'{"a": -9007199254740992}', "/a"),
            (b'{"a": ' + b"9" * 5000 + b"}", "/a"),
            (b'{"a/b~c": 0.1}', "/a~1b~0c"),
            (b'{"a": "\\u0000"}', "/a"),
            (b'{"a": "\\ud800"}', "/a"),
            (b'{"a\\u0000": 1}', ""),
            (b"[]", ""),
            (b'"text"', ""),
            (b"1", ""),
            (b"null", ""),
        ],
    )
    def test_refuses_and_points(self, raw: bytes, pointer: str) -> None:
        with pytest.raises(MalformedJson) as refusal:
            strict_loads(raw)
        assert refusal.value.pointer == pointer

    @pytest.mark.parametrize(
        "raw", [b"", b"{", b"{} {}", b'{"a": 01}', b"{'a': 1}", b'{"a": "\xff"}', b"\xef\xbb\xbf{}"]
    )
    def test_refuses_what_is_not_json(self, raw: bytes) -> None:
        with pytest.raises(MalformedJson) as refusal:
            strict_loads(raw)
        assert refusal.value.pointer is None

    def test_bounds_depth(self) -> None:
        fits = b'{"a":' * (DEPTH_MAX - 1) + b"{}" + b"}" * (DEPTH_MAX - 1)
        assert strict_loads(fits)
        with pytest.raises(MalformedJson, match="nested deeper"):
            strict_loads(b'{"a":' + fits + b"}")

    def test_survives_a_body_that_is_only_depth(self) -> None:
        with pytest.raises(MalformedJson):
            strict_loads(b"[" * 60_000)
        with pytest.raises(MalformedJson):
            strict_loads(b'{"a":' + b"[" * 30_000 + b"]" * 30_000 + b"}")

    def test_bounds_the_number_of_values(self) -> None:
        with pytest.raises(MalformedJson, match="more than"):
            strict_loads(b'{"a":[' + b",".join([b"0"] * ITEMS_MAX) + b"]}")
