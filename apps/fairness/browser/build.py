"""The browser verifier as one file: page, style and modules put together, the same bytes each time.

Each module of ``source`` becomes a function of its own whose exports the later ones take; nothing is minified, so that
whoever saves the page can read it, and call the modules from the browser's console as ``sealdeck``.  The page's policy
allows this very script and style and nothing else, by their hashes.  Protocol: docs/fairness/protocol.md, section 13.
Never downloads anything and never packs a third party's code.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from apps.fairness.verify.meanings import BUNDLE, CANNOT

SOURCE: Final = Path(__file__).parent / "source"
NAME: Final = "sealdeck-verify.html"
MODULES: Final = (
    "json",
    "bytes",
    "merkle",
    "shapes",
    "notes",
    "keyring",
    "bundle",
    "streams",
    "cards",
    "round",
    "evidence",
    "story",
    "seats",
    "dealing",
    "transcript",
    "play",
    "money",
    "tables",
    "verify",
    "meanings",
    "words",
    "view",
    "main",
)
"""Modules in an order in which each one comes after those it imports; ``meanings`` is written here."""

_import = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
_export = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """The page, and what its server has to say about it."""

    data: bytes
    policy: str
    """Content-Security-Policy; the page carries it too, for when it is opened from disk."""
    digest: str
    """SHA-256 of the page, hex."""


@cache
def build() -> Page:
    """Return the page."""
    script = "\n" + "".join(_module(name) for name in MODULES)
    style = "\n" + (SOURCE / "style.css").read_text(encoding="utf-8")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    text = (SOURCE / "page.html").read_text(encoding="utf-8")
    for name, value in (("policy", policy), ("style", style), ("script", script)):
        before, found, after = text.partition("{" + name + "}")
        assert found, f"the page has no place for its {name}"
        text = before + value + after
    data = text.encode()
    return Page(data, policy, sha256(data).hexdigest())


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def _module(name: str) -> str:
    """Return one module as a function that is called at once and gives what the module exports."""
    text = _meanings() if name == "meanings" else (SOURCE / f"{name}.js").read_text(encoding="utf-8")
    assert "</script" not in text, f"{name}.js would end its own element"
    exports = _export.findall(text)
    imported = {found[1] for found in _import.findall(text)}
    unknown = imported - set(MODULES[: MODULES.index(name)])
    assert not unknown, f"{name}.js imports {', '.join(sorted(unknown))}, which does not come before it"
    text = _import.sub(lambda found: f"const {{{found[1]}}} = $.{found[2]};\n", text)
    text = _export.sub("", text)
    assert not re.search(r"^(import|export)\b", text, re.MULTILINE), (
        f"{name}.js has an import or export of another form"
    )
    head = "const $ = {};\n" if name == MODULES[0] else ""
    body = f"$.{name} = (() => {{\n{text}\nreturn {{ {', '.join(exports)} }};\n}})();\n\n"
    return f"{head}{body}" + ("globalThis.sealdeck = $;\n" if name == MODULES[-1] else "")


def _meanings() -> str:
    meanings = json.dumps({**BUNDLE, **CANNOT}, indent=2, sort_keys=True)
    return f"/** What it means when a check fails, by code. */\nexport const MEANINGS = {meanings};\n"
