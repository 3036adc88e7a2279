"""A short load run, for `make bench`; `make load` takes every option."""

from __future__ import annotations

import sys

from tools import load

SHORT = ["--tables", "16", "--seconds", "20", "--bare", "5"]

if __name__ == "__main__":
    sys.exit(load.main([*SHORT, *sys.argv[1:]]))
