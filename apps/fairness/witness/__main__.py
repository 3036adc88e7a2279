"""Run ``sealdeck-witness`` as ``python -m apps.fairness.witness``."""

from __future__ import annotations

import sys

from apps.fairness.witness.cli import main

if __name__ == "__main__":
    sys.exit(main())
