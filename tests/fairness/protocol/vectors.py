"""The test vectors of the protocol, tests/vectors/vectors.json, read once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from apps.fairness.protocol.trust import trust_read

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "vectors.json").read_text(encoding="utf-8")
)
PRIMITIVES: dict[str, Any] = VECTORS["primitives"]
TRUST = trust_read(VECTORS["trust"])
NEGATIVE_TRUST = trust_read(VECTORS["negative_trust"])
ROUNDS: dict[str, dict[str, Any]] = {row["name"]: row for row in VECTORS["rounds"]}
