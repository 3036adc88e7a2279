"""The command line of ``sealdeck-verify``.

Protocol: docs/fairness/protocol.md, section 13.  Exit status: 0 everything passed, 1 something failed, 2 otherwise.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from apps.fairness.protocol.trust import Trust, TrustError, trust_read
from apps.fairness.protocol.verdict import PASS, STATUS_CANNOT
from apps.fairness.protocol.verify import Checked, Settings, round_check, tables_check
from apps.fairness.verify import report
from apps.fairness.verify.checking import lines_checked
from apps.fairness.verify.logstate import StateError
from apps.fairness.verify.meanings import NO_TRUST
from apps.fairness.verify.sources import Line, SourceError, file_lines, round_lines, table_lines
from apps.fairness.verify.statistics.results import ALPHA
from apps.fairness.verify.watch import log_file_check, watch
from apps.fairness.verify.workers import cores

COLLECT_AFTER: Final = 100_000
"""Objects after which Python looks for rubbish: bundles are large and hold no cycles."""
STATE_DEFAULT: Final = "sealdeck-log.state"

DESCRIPTION = """\
Check rounds of Sealdeck, or its whole public log, without trusting the server that dealt them.

  sealdeck-verify --trust trust.json round.json     one bundle, or many as JSON Lines
  sealdeck-verify --url https://play.example --table TABLE --trust trust.json
  sealdeck-verify --log https://play.example --trust trust.json --state log.state
  sealdeck-verify --statistics --trust trust.json --picture month.svg table-*.jsonl
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        "sealdeck-verify", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("files", metavar="FILE", nargs="*", help="bundles as JSON or JSON Lines; - is standard input")
    made.add_argument("--url", metavar="BASE", help="fetch bundles from this server")
    made.add_argument("--round", metavar="ID", help="with --url: the bundle of one round")
    made.add_argument("--table", metavar="ID", help="with --url: all rounds of a table, none of them left out")
    made.add_argument("--log", metavar="BASE", help="follow the log of this server instead, or check one in a file")
    made.add_argument("--state", metavar="FILE", default=STATE_DEFAULT, help="with --log: what was seen (%(default)s)")
    made.add_argument("--statistics", action="store_true", help="also test the decks of all rounds together")
    made.add_argument("--simulate", type=int, metavar="N", help="with --statistics: N fair decks of each game instead")
    made.add_argument("--seed", metavar="TEXT", help="with --simulate: the same decks each time")
    made.add_argument(
        "--alpha", type=float, metavar="P", default=ALPHA, help="how often chance may look suspicious (%(default)s)"
    )
    made.add_argument("--picture", metavar="FILE", help="with --statistics: write a picture, SVG")
    made.add_argument("--trust", metavar="FILE", help="the keys and witnesses you believe")
    made.add_argument("--no-rules", action="store_true", help="do not play the rounds again by their rules")
    made.add_argument("--complete", action="store_true", help="name rounds that are missing between others")
    made.add_argument("--json", action="store_true", help="one JSON object a line for each bundle")
    made.add_argument("--jobs", type=int, metavar="N", default=cores(), help="processes to use (%(default)s)")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    made = parser()
    given = made.parse_args(arguments)
    gc.set_threshold(COLLECT_AFTER)
    problem = _usage_problem(given)
    if problem is not None:
        made.error(problem)
    try:
        trust = _trust(given.trust)
        if given.statistics:
            status = _statistics(given, trust)
        else:
            status = _log(given, trust) if given.log else _bundles(given, trust)
        sys.stdout.flush()
    except (SourceError, StateError, TrustError) as failure:
        sys.stderr.write(f"sealdeck-verify: {failure}\n")
        return STATUS_CANNOT
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever reads our words has had enough of them; say nothing more, not even at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return STATUS_CANNOT
    return status


def _usage_problem(given: argparse.Namespace) -> str | None:
    sources = [bool(given.files), bool(given.url), bool(given.log), given.simulate is not None]
    if sum(sources) != 1:
        return "name files, or --url, or --log"
    if bool(given.url) != bool(given.round or given.table) or (given.round and given.table):
        return "--url goes with --round or with --table"
    if given.statistics:
        if given.log or given.round:
            return "--statistics goes with files, --url and --table, or --simulate"
        if not 0 < given.alpha < 1 or (given.simulate is not None and given.simulate < 1):
            return "--alpha is between 0 and 1, --simulate at least 1"
    elif given.simulate is not None or given.picture:
        return "--simulate and --picture go with --statistics"
    if given.jobs < 1:
        return "--jobs is at least 1"
    return None


def _trust(path: str | None) -> Trust | None:
    if path is None:
        return None
    try:
        return trust_read(Path(path).read_bytes())
    except OSError as problem:
        raise TrustError(f"{path}: {problem.strerror or problem}") from problem
    except TrustError as problem:
        raise TrustError(f"{path}: {problem.detail}") from problem


def _bundles(given: argparse.Namespace, trust: Trust | None) -> int:
    settings = Settings(trust=trust, rules=not given.no_rules)
    lines, checked = lines_checked(_lines(given), partial(_check_batch, settings), given.jobs)
    tables_check(checked, complete=given.complete or bool(given.table), rules=settings.rules)
    verdicts = [result.verdict() for result in checked]
    if given.json:
        report.write_json(sys.stdout, verdicts)
    else:
        report.write_text(sys.stdout, lines, verdicts, trusted=trust is not None)
    return report.status(verdicts)


def _lines(given: argparse.Namespace) -> Iterator[Line]:
    if given.round:
        return round_lines(given.url, given.round)
    if given.table:
        return table_lines(given.url, given.table)
    return chain.from_iterable(map(file_lines, given.files))


def _check_batch(settings: Settings, batch: list[bytes]) -> list[Checked]:
    return [round_check(data, settings) for data in batch]


def _statistics(given: argparse.Namespace, trust: Trust | None) -> int:
    try:
        import numpy  # noqa: F401
        import scipy  # noqa: F401
    except ImportError:
        sys.stderr.write("sealdeck-verify: --statistics needs numpy and scipy: pip install numpy scipy\n")
        return STATUS_CANNOT
    # Here, since everybody else does without these packages.
    from apps.fairness.verify.statistics.command import Options, bundles_test, simulated_test

    options = Options(given.alpha, given.jobs, given.json, given.picture)
    if given.simulate:
        secret = given.seed.encode() if given.seed else secrets.token_bytes(32)
        return simulated_test(given.simulate, secret, options)
    settings = Settings(trust=trust, rules=not given.no_rules)
    return bundles_test(_lines(given), settings, options, complete=given.complete or bool(given.table))


def _log(given: argparse.Namespace, trust: Trust | None) -> int:
    now_ms = time.time_ns() // 1_000_000
    if Path(given.log).is_file():
        watched = log_file_check(given.log, trust)
    else:
        watched = watch(base=given.log, state_path=given.state, trust=trust, now_ms=now_ms, jobs=given.jobs)
    verdict = watched.verdict
    if given.json:
        row = {"log": watched.origin, "size": watched.size, **report.as_object(verdict)}
        sys.stdout.write(json.dumps(row) + "\n")
        return verdict.status
    label = "passed" if verdict.verdict == PASS else "FAILED"
    sys.stdout.write(f"{label}: log {watched.origin}, {watched.size} entries\n")
    report.write_findings(sys.stdout, verdict.findings)
    if trust is None:
        sys.stdout.write(f"Note: {NO_TRUST}\n")
    return verdict.status
