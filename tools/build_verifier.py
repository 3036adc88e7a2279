"""Build dist/sealdeck-verify.pyz and print its digest: `make verifier`.

What it is made of: apps.fairness.verify.archive.
"""

from __future__ import annotations

import sys
from hashlib import sha256

from apps.fairness.verify.archive import NAME, ROOT, build

TARGET = ROOT / "dist" / NAME


def main() -> int:
    """Write the archive and its digest, and print both."""
    data = build()
    digest = sha256(data).hexdigest()
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(data)
    TARGET.chmod(0o755)
    TARGET.with_name(TARGET.name + ".sha256").write_text(f"{digest}  {TARGET.name}\n", encoding="ascii")
    sys.stdout.write(f"{TARGET.relative_to(ROOT)}: {len(data)} bytes, SHA-256 {digest}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
