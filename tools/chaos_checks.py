"""What must be true after `make chaos`: nothing stuck, nothing twice, no money made or lost, every round provable.

Looks at the database, at the logs, and over HTTP with the auditor's tool.  Changes nothing.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tools.chaos_players import Players
from tools.processes import ToolError, wait_for
from tools.services import ROOT
from tools.stack import Stack

SETTLE_S = 60.0
"""Time for the log to take the last records and for webhooks and seals to catch up."""

NEVER: dict[str, str] = {
    "a round has not ended": "SELECT id FROM tables_round WHERE status IN ('open', 'closing', 'running')",
    "a round ended and the table did not move on": "SELECT id FROM tables_round WHERE NOT advanced",
    "a closed table has a seat": (
        "SELECT s.id FROM tables_seat s JOIN tables_table t ON t.id = s.table_id WHERE t.status = 'closed'"
    ),
    "a table's rounds have a gap": (
        "SELECT table_id FROM tables_round GROUP BY 1 HAVING min(index) <> 0 OR max(index) <> count(*) - 1"
    ),
    "a transcript has a gap": (
        "SELECT r.id FROM tables_round r LEFT JOIN history_entry e ON e.round_id = r.id GROUP BY r.id, r.seq"
        " HAVING count(e.seq) <> r.seq + 1 OR coalesce(min(e.seq), 0) <> 0 OR coalesce(max(e.seq), -1) <> r.seq"
    ),
    "the times of a transcript go back": (
        "SELECT round_id FROM (SELECT round_id, at_ms, lag(at_ms) OVER (PARTITION BY round_id ORDER BY seq) AS before"
        " FROM history_entry) AS pairs WHERE before > at_ms"
    ),
    "a request had two effects": (
        "SELECT round_id FROM history_entry WHERE request_key IS NOT NULL"
        " GROUP BY round_id, seat, request_key HAVING count(*) > 1"
    ),
    "a round has no terminal record, or two": (
        "SELECT r.id FROM tables_round r LEFT JOIN fairness_record f ON f.round_id = r.id"
        " AND f.type IN ('reveal', 'void') GROUP BY r.id HAVING count(f.id) <> 1"
    ),
    "a record is not in the log": "SELECT id FROM fairness_record WHERE log_index IS NULL",
    "the log's writer has stopped": "SELECT stopped_reason FROM fairness_log WHERE stopped_at_ms IS NOT NULL",
    "a match was settled or refunded twice": (
        "SELECT round_id FROM wallets_tx WHERE kind IN ('settle', 'void') GROUP BY 1 HAVING count(*) > 1"
    ),
    "a transaction does not add up to zero": (
        "SELECT tx_id FROM wallets_entry GROUP BY tx_id, currency HAVING sum(amount) <> 0"
    ),
    "an escrow is not empty": (
        "SELECT owner_ref FROM wallets_account a JOIN wallets_entry e ON e.account_id = a.id"
        " WHERE a.kind = 'escrow' GROUP BY 1 HAVING sum(e.amount) <> 0"
    ),
    "an outbox event is missing for a finished round": (
        "SELECT r.id FROM tables_round r LEFT JOIN webhooks_event e ON e.topic IN ('round.finished', 'round.void')"
        " AND e.payload ->> 'round_id' = replace(r.id::text, '-', '') GROUP BY r.id HAVING count(e.id) <> 1"
    ),
}
"""What must not be, and the query whose rows are cases of it."""

OUTAGE = re.compile(
    r"OperationalError|InterfaceError|AdminShutdown|CrashShutdown|CannotConnectNow|TimeoutError|BusyLoading|"
    r"Connection ?(Error|refused|reset|aborted)|Cannot connect to|WorkerLostError|Service Unavailable|work_overdue",
    re.IGNORECASE,
)
"""What only says that something was away."""


def findings(stack: Stack, players: Players) -> list[str]:
    """Return everything that is wrong."""
    try:
        wait_for(
            "the log to take the last records",
            lambda: not stack.ask("SELECT 1 FROM fairness_record WHERE log_index IS NULL LIMIT 1"),
            timeout_s=SETTLE_S,
        )
    except ToolError as late:
        return [str(late)]
    return [
        *_never(stack),
        *_fsck(stack),
        *_verified(stack, players),
        *_said(players),
        *_logged(stack),
    ]


def _never(stack: Stack) -> Iterator[str]:
    for what, query in NEVER.items():
        cases = stack.ask(query)
        if cases:
            yield f"{what}: {len(cases)} times, for example {cases[0][0]}"


def _fsck(stack: Stack) -> Iterator[str]:
    try:
        stack.manage("fsck")
    except AssertionError as problem:
        yield f"fsck: {str(problem)[-2_000:]}"


def _verified(stack: Stack, players: Players) -> Iterator[str]:
    """Check every table and the log over HTTP with the auditor's tool."""
    trust = stack.folder / "trust.json"
    with urllib.request.urlopen(f"{stack.url}/v1/fairness/trust.json", timeout=30) as answer:
        trust.write_bytes(answer.read())
    for table_id in players.tables:
        yield from _tool("--url", stack.url, "--table", table_id, "--trust", str(trust), "--jobs", "1", "--json")
    yield from _tool("--log", stack.url, "--trust", str(trust), "--state", str(stack.folder / "log.state"))


def _tool(*arguments: str) -> Iterator[str]:
    command = [sys.executable, "-m", "apps.fairness.verify", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        failed = [line for line in done.stdout.splitlines() if '"pass"' not in line]
        yield f"sealdeck-verify {' '.join(arguments)}: {' '.join(failed)[:1_000]}{done.stderr[-1_000:]}"


def _said(players: Players) -> Iterator[str]:
    """Look for what the players' own clients found wrong."""
    for line in players.said().splitlines():
        if "PROOF FAILED" in line or "NOT VERIFIED" in line or "Traceback" in line:
            yield f"a bot says: {line}"


def _logged(stack: Stack) -> Iterator[str]:
    """Look for errors that an outage does not explain, and for secrets."""
    secrets = [stack.demo["api_key"], *json.loads(stack.env["SEALDECK_KEKS"]).values(), stack.env["DATABASE_URL"]]
    for path in sorted(stack.folder.glob("*.log")):
        if path == stack.folder / "bots.log":
            continue
        text = path.read_text(errors="replace")
        for secret in secrets:
            if secret in text:
                yield f"{path.name} tells a secret"
        yield from _errors(path, text)


def _errors(path: Path, text: str) -> Iterator[str]:
    seen: set[str] = set()
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        told = json.loads(line)
        cause = str(told.get("exception", "")).strip().splitlines()[-1:] or [str(told.get("event", ""))]
        if told.get("level") not in ("error", "critical") or OUTAGE.search(str(told)) or cause[0] in seen:
            continue
        seen.add(cause[0])
        yield f"{path.name}: {told.get('event')}: {cause[0][:500]}"
