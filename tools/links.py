"""Links in README.md and docs/: every file and every heading they name must be there.

Addresses of other hosts are not followed: checks need no network.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|!\[[^\]]*\]\(\s*([^)\s]+)\s*\)")
REFERENCE = re.compile(r"^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
CITED = re.compile(r"\bdocs/[A-Za-z0-9_./-]+\.md\b")
"""How a module's docstring names the page it implements."""


def anchors(text: str) -> set[str]:
    """Return the fragment names that the headings of a page give, the way GitHub makes them."""
    found: dict[str, int] = {}
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = found.get(name, -1) + 1
        found[name] = count
        if count:
            found[f"{name}-{count}"] = 0
    return set(found)


def _broken_in(page: Path, root: Path) -> list[str]:
    text = CODE.sub("", FENCE.sub("", page.read_text(encoding="utf-8")))
    targets = [first or second for first, second in LINK.findall(text)] + REFERENCE.findall(text)
    broken = []
    for target in targets:
        if ELSEWHERE.match(target) or target.startswith("//"):
            continue
        name, _, fragment = target.partition("#")
        file = page if not name else (root / name[1:] if name.startswith("/") else page.parent / name).resolve()
        if not file.exists():
            broken.append(f"{page.relative_to(root)}: there is no {target}")
        elif fragment and file.suffix == ".md" and fragment not in anchors(file.read_text(encoding="utf-8")):
            broken.append(f"{page.relative_to(root)}: {name or page.name} has no heading #{fragment}")
    return broken


def broken_links(root: Path = ROOT) -> list[str]:
    """Return one sentence for every link of a page, and every page cited by a module, that leads nowhere."""
    pages = sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")])
    broken = [sentence for page in pages for sentence in _broken_in(page, root)]
    for folder in ("apps", "config", "tools"):
        for module in sorted((root / folder).glob("**/*.py")):
            for cited in sorted(set(CITED.findall(module.read_text(encoding="utf-8")))):
                if not (root / cited).exists():
                    broken.append(f"{module.relative_to(root)}: there is no {cited}")
    return broken
