"""The verifier as one file: this very code, packed so that Python and cryptography are all that it needs.

The same sources give the same bytes on every machine: names sorted, times fixed, nothing compressed.  Protocol:
docs/fairness/protocol.md, section 13.  Never downloads anything and never packs a third party's code.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
NAME = "sealdeck-verify.pyz"
PACKAGES = ("apps/fairness/protocol", "apps/fairness/verify", "apps/games")
MODULES = ("apps/__init__.py", "apps/fairness/__init__.py")
SHEBANG = b"#!/usr/bin/env python3\n"
MAIN = b"""\
import sys

if sys.version_info < (3, 11):
    sys.exit("sealdeck-verify needs Python 3.11 or newer")
try:
    import cryptography
except ImportError:
    sys.exit("sealdeck-verify needs the package cryptography: pip install cryptography")

from apps.fairness.verify.cli import main

if __name__ == "__main__":
    sys.exit(main())
"""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time a zip file can name."""
MODE = 0o100644 << 16


def sources(root: Path = ROOT) -> Iterator[tuple[str, bytes]]:
    """Give name and content of every file that goes in, in the order of the names."""
    paths = [root / name for name in MODULES]
    for package in PACKAGES:
        paths += (root / package).rglob("*.py")
    for path in sorted(paths, key=lambda path: path.relative_to(root).as_posix()):
        yield path.relative_to(root).as_posix(), path.read_bytes()


def build(root: Path = ROOT) -> bytes:
    """Return the bytes of the archive."""
    out = BytesIO()
    out.write(SHEBANG)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in (("__main__.py", MAIN), *sources(root)):
            info = zipfile.ZipInfo(name, EPOCH)
            info.create_system = 3
            info.external_attr = MODE
            archive.writestr(info, data)
    return out.getvalue()
