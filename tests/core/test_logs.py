"""Log lines: whose they are, and what must never be in one."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
import structlog

from apps.core import logs

SEED = "a3" * 32


@pytest.fixture
def formatter() -> logging.Formatter:
    """Return the formatter that every line of the product goes through."""
    made = logs.configuration("INFO")["formatters"]["json"]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=made["foreign_pre_chain"], processors=made["processors"]
    )


def told(formatter: logging.Formatter, message: str, *arguments: Any, **extra: Any) -> dict[str, Any]:
    """Return what a library's log call becomes."""
    record = logging.LogRecord("library", logging.INFO, "file.py", 1, message, arguments, None)
    record.__dict__.update(extra)
    line: dict[str, Any] = json.loads(formatter.format(record))
    return line


class TestRedact:
    @pytest.mark.parametrize(
        "name",
        [
            *("token", "player_token", "Authorization", "api_key", "secret_key", "password", "seed", "sealed_seed"),
            *("kek", "private_key", "cookie", "salt", "card", "cards", "hand", "hands", "deck", "order", "snapshot"),
            *("state", "view", "openings", "signature", "SEALDECK_KEKS", "X-Api-Key"),
        ],
    )
    def test_removes_by_name(self, name: str) -> None:
        assert logs.redact(None, "info", {name: "R7 and others"})[name] == logs.REDACTED
        assert logs.redact(None, "info", {"inner": [{name: {"deep": 1}}]})["inner"] == [{name: logs.REDACTED}]

    @pytest.mark.parametrize(
        "secret",
        [
            *(
                "sk_live_0123456789abcdef",
                "pt_abcdefgh.ijklmnop",
                "st_0123456789",
                "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            ),
            *("Bearer abc.def", "Basic dXNlcjpwYXNz", "postgresql://sealdeck_app:hunter2@db/x", SEED, SEED.upper()),
            *("R7#2", "W4#1", "DRAW2#11"),
        ],
    )
    def test_removes_by_form_in_any_text(self, secret: str) -> None:
        line = logs.redact(None, "info", {"event": f"failed with {secret!r} there", "error": [secret]})
        kept = secret.split(":")[-1].split("@")[0] if "://" in secret else secret.split(" ")[-1]
        assert kept not in json.dumps(line)
        assert "failed with" in line["event"]

    def test_keeps_what_is_needed_to_find_the_request(self) -> None:
        facts = {
            "event": "move refused",
            "round": "7f1c0b0e6f0c4a3f9f53c1d6a7a5d2b1",
            "table": "0f8fad5b-d9cb-469f-a165-70867728950e",
            "sqlstate": "40P01",
            "seq": 41,
            "took_ms": 3,
            "ok": True,
            "code": "stale_seq",
        }
        assert logs.redact(None, "info", dict(facts)) == facts

    def test_never_shows_bytes(self) -> None:
        assert logs.redact(None, "info", {"blob": b"\x01\x02"})["blob"] == logs.REDACTED


class TestLines:
    def test_a_librarys_line_is_json_and_redacted(self, formatter: logging.Formatter) -> None:
        line = told(formatter, "connecting to %s", "redis://:hunter2@127.0.0.1/0")
        assert line["event"] == "connecting to redis://:[redacted]@127.0.0.1/0"
        assert (line["level"], line["logger"]) == ("info", "library")

    def test_a_line_carries_its_request(self, formatter: logging.Formatter) -> None:
        logs.request_begin("abc-1")
        logs.bind(operator="op", table="t", round=None)
        line = told(formatter, "hello")
        assert (line["request_id"], line["operator"], line["table"]) == ("abc-1", "op", "t")
        assert "round" not in line

    def test_a_traceback_is_redacted(self, formatter: logging.Formatter) -> None:
        try:
            raise ValueError(f"bad seed {SEED} and card R7#2")
        except ValueError as error:
            record = logging.LogRecord("library", logging.ERROR, "f.py", 1, "failed", (), (ValueError, error, None))
        line = formatter.format(record)
        assert "ValueError" in line
        assert SEED not in line
        assert "R7#2" not in line


class TestRequestId:
    @pytest.mark.parametrize("offered", ["a", "A-1_b.C", "x" * 64])
    def test_is_taken_over_when_it_has_the_form(self, offered: str) -> None:
        assert logs.request_begin(offered) == offered == logs.request_id()

    @pytest.mark.parametrize("offered", [None, "", "x" * 65, "a b", "a\nb", "é", '"'])
    def test_is_made_otherwise(self, offered: str | None) -> None:
        chosen = logs.request_begin(offered)
        assert chosen != offered
        assert len(chosen) == 32

    def test_an_earlier_requests_context_is_forgotten(self) -> None:
        logs.request_begin("one")
        logs.bind(player="p")
        logs.request_begin("two")
        assert structlog.contextvars.get_contextvars() == {"request_id": "two"}
