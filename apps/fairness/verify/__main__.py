"""Run ``sealdeck-verify`` as ``python -m apps.fairness.verify``."""

from __future__ import annotations

import sys

from apps.fairness.verify.cli import main

if __name__ == "__main__":
    sys.exit(main())
