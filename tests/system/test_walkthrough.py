"""What docs/operators shows an engineer works as it stands there: the walkthrough, and the lines with the client."""

from __future__ import annotations

import base64
import hmac
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx

from apps.client.operator import OperatorClient
from tests.system.pasted import assert_verifies, blocks, without_first_line
from tools.stack import Stack, pause

DAY_S = 86_400
SESSION_S = 120
"""Longer than the session takes."""


def session() -> str:
    """Return the shell blocks of the walkthrough in order, without the line of the address and the key."""
    first, *others = blocks("docs/operators/walkthrough.md")
    return "\n".join([without_first_line(first), *others])


class TestWalkthrough:
    def test_goes_from_a_key_to_a_reconciled_day(self, stack: Stack, tmp_path: Path) -> None:
        left_s = DAY_S - time.time() % DAY_S
        if left_s < SESSION_S:
            pause(left_s + 1)  # Its daily file is one day's.
        pasted = subprocess.Popen(
            ["/bin/sh", "-eu", "-c", session()],
            cwd=tmp_path,
            env={"BASE": stack.url, "KEY": stack.demo["api_key"], "PATH": os.environ["PATH"]},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            told, _ = pasted.communicate(timeout=240)
        finally:
            if pasted.returncode != 0:  # Its receiver of webhooks may still run.
                os.killpg(pasted.pid, signal.SIGTERM)
        assert pasted.returncode == 0, told
        lines = told.splitlines()
        assert lines.count("Signature Verified Successfully") == 2, told
        assert {"504", "true"} <= set(lines), "an answer was lost, and the retry told that it was one"
        assert any(line.endswith("everything adds up") for line in lines), told
        events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
        assert {"webhook.test", "transaction.posted", "round.finished"} <= {event["type"] for event in events}
        correction = json.loads((tmp_path / "correction.json").read_text())
        assert (correction["kind"], correction["state"]) == ("reverse", "requested")
        assert_verifies(tmp_path)  # A round whose clock was moved.


class TestClient:
    def test_is_integrated_in_the_forty_lines_of_the_page(self, stack: Stack) -> None:
        [code] = blocks("docs/operators/README.md", "python")
        assert len(code.splitlines()) <= 40
        with OperatorClient(stack.url, stack.demo["api_key"]) as admin:
            key = admin.key_create("forty", ["read", "play", "money"], signature={"algorithm": "hmac-sha256"})
            called: dict[str, list[Any]] = {
                name: [] for name in ("open_game_client", "book", "react", "refund", "queue_again")
            }

            def noted(name: str) -> Any:
                return lambda *args, **kwargs: called[name].append((*args, *kwargs.values()))

            secret = os.urandom(32)
            program: dict[str, Any] = {name: noted(name) for name in called} | {
                "URL": stack.url,
                "API_KEY": key["api_key"],
                "HMAC_SECRET": key["hmac_secret"],
                "ANSWER_KEYS": httpx.get(f"{stack.url}/v1/answer-keys").json(),
                "CURRENCY": "PTS",
                "WEBHOOK_SECRET": f"whsec_{base64.b64encode(secret).decode()}",
            }
            exec(code, program)
            kinds = [admin.transaction(name)["kind"] for name in ("deposit-1", "payout-1")]
        assert kinds == ["credit", "debit"]
        assert (called["refund"], called["queue_again"]) == ([], [])
        assert called["open_game_client"][0][0].startswith("pt_")
        assert any(one["kind"] == "credit" for (page,) in called["book"] for one in page)
        stamp, body = str(int(time.time())), b'{"type":"webhook.test"}'
        mac = base64.b64encode(hmac.digest(secret, f"evt_1.{stamp}.".encode() + body, "sha256")).decode()
        headers = {"webhook-id": "evt_1", "webhook-timestamp": stamp, "webhook-signature": f"v1,{mac}"}
        program["hooked"](body, headers)
        assert called["react"] == [("evt_1", {"type": "webhook.test"})]
