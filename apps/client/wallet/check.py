"""``sealdeck-wallet-check``: an operator tries its own wallet against every cell of the rollback matrix.

    sealdeck-wallet-check --url https://wallet.example/sealdeck --operator-id ... --key-file check.key \\
        --answer-key HEX --player test-1 --other-player test-2 --currency PTS --amount 10

The key file is made if it is not there; the wallet must trust the public half that is printed, in a test environment
only.  Prints a table, or JSON with ``--json``; the exit status is 0 if every cell is right, 1 if one is not, 2 if the
wallet could not be tried.  Source: docs/operators/seamless-wallet.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from apps.client.signing import key_kid
from apps.client.wallet.caller import Caller, Unfit
from apps.client.wallet.cells import Finding, Probe, cells_try
from apps.client.wallet.server import key_read


def main(arguments: Sequence[str] | None = None) -> int:
    """Try a wallet and say how it did."""
    options = _parser().parse_args(arguments)
    key = key_read(options.key_file)
    public = key.public_key().public_bytes_raw()
    name = f"{options.operator_id}.{key_kid(public)}"
    print(f"Sealdeck-Key {name}\npublic key   {public.hex()}", file=sys.stderr)
    answer_keys = {key_kid(answer_key): answer_key for answer_key in options.answer_key}
    caller = Caller(options.url.rstrip("/"), name, key, answer_keys)
    probe = Probe(caller, options.player, options.other_player, options.currency, options.amount)
    try:
        if probe.balance() < 2 * options.amount:
            raise Unfit(f"{options.player} needs at least {2 * options.amount} {options.currency} (minor units)")
    except Unfit as unfit:
        print(f"The wallet cannot be tried: {unfit}", file=sys.stderr)
        return 2
    findings = []
    for finding in cells_try(probe):
        findings.append(finding)
        if not options.json:
            print(_line(finding), flush=True)
    wrong = sum(bool(finding.problem) for finding in findings)
    if options.json:
        cells = [{"cell": f.name, "title": f.title, "is_right": not f.problem, "problem": f.problem} for f in findings]
        print(json.dumps({"url": options.url, "is_right": not wrong, "cells": cells}, indent=2))
    else:
        print(f"{len(findings) - wrong} of {len(findings)} cells are right")
    return 1 if wrong else 0


def _line(finding: Finding) -> str:
    text = f"{'WRONG' if finding.problem else 'right'}  {finding.name:<27} {finding.title}"
    return f"{text}\n         {finding.problem}" if finding.problem else text


def _parser() -> argparse.ArgumentParser:
    summary, _, rest = str(__doc__).partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="sealdeck-wallet-check",
        description=summary,
        epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--url", required=True, help="the wallet; /bet and the others are added")
    parser.add_argument("--operator-id", type=UUID, required=True, help="the operator's id here, part of Sealdeck-Key")
    parser.add_argument("--key-file", type=Path, required=True, help="key that signs the calls; made if not there")
    parser.add_argument(
        "--answer-key", type=bytes.fromhex, action="append", required=True, help="public key of the answers, hex"
    )
    parser.add_argument("--player", required=True, help="a test player with at least twice the amount")
    parser.add_argument("--other-player", required=True, help="another test player")
    parser.add_argument("--currency", required=True)
    parser.add_argument("--amount", type=int, default=10, help="of each bet, minor units; default %(default)s")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser


if __name__ == "__main__":
    sys.exit(main())
