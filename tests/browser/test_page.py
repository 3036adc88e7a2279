"""The page of the browser verifier: what it is made of, whom it asks, how it is used, and what it says.

Source: docs/fairness/protocol.md, section 13; docs/fairness/players.md.
"""

from __future__ import annotations

import json
import re
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.test import Client, RequestFactory

from apps.fairness import pages
from apps.fairness.browser.build import MODULES, SOURCE, build
from apps.fairness.protocol.bundle import bundle_encode
from apps.fairness.verify.meanings import BUNDLE, CANNOT
from tests.browser.chromium import Tab
from tests.browser.conftest import trust_text
from tests.fairness.protocol.vectors import NEGATIVE_TRUST, ROUNDS, TRUST, VECTORS

OPEN: dict[str, Any] = ROUNDS["open"]["bundle"]
ROUND_ID: str = OPEN["records"][0]["body"]["round"]
NEGATIVE = {case["code"]: case["bundles"] for case in reversed(VECTORS["negative"])}
CONTRAST_MIN = 4.5
"""Least contrast of text, WCAG 2.2 level AA."""


@contextmanager
def served(documents: dict[str, bytes], asked: list[str]) -> Iterator[str]:
    """Serve the product's page, with its headers, and documents beside it; give the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            if self.path == "/verify/":
                answer = pages.verifier(RequestFactory().get(self.path))
                status, headers, data = 200, dict(answer.items()), answer.content
            else:
                data = documents.get(self.path, b"")
                status, headers = (200, {"Content-Type": "application/json"}) if data else (404, {})
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def paste(tab: Tab, bundles: list[dict[str, Any]], trust: str | None) -> None:
    """Paste a trust file and rounds, and check them."""
    script = """(trust, text) => {
      document.getElementById("trust").value = trust ?? "";
      document.getElementById("paste").value = text;
      document.getElementById("verdict").textContent = "";
      document.getElementById("paste-form").requestSubmit();
    }"""
    tab.give(script, trust, "\n".join(json.dumps(bundle) for bundle in bundles))
    settled(tab)


def settled(tab: Tab) -> None:
    """Wait for a result."""
    tab.until("document.activeElement.id === 'verdict' && !/^(|Checking.*|Fetching.*)$/.test(verdict.textContent)")


def said(tab: Tab) -> str:
    """Return the verdict in words."""
    text: str = tab.run("document.getElementById('verdict').textContent")
    return text


def shown(tab: Tab) -> str:
    """Return the text of the results, folded parts included."""
    text: str = tab.run("document.getElementById('results').textContent")
    return text


class TestFile:
    def test_is_the_same_bytes_each_time(self) -> None:
        assert build.__wrapped__() == build()
        assert build().digest == sha256(build().data).hexdigest()

    def test_allows_its_own_script_and_style_and_nothing_else(self) -> None:
        page = build()
        text = page.data.decode()
        for tag in ("script", "style"):
            (content,) = re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", text, re.DOTALL)
            hashed = b64encode(sha256(content.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{hashed}'" in page.policy
        assert page.policy.startswith("default-src 'none'; ")
        assert "unsafe" not in page.policy
        assert f'content="{page.policy}"' in text

    def test_names_no_other_host_and_has_no_handlers_in_its_markup(self) -> None:
        text = build().data.decode()
        assert re.findall(r"https?://", text) == []
        assert re.findall(r"\son[a-z]+=|\sstyle=|javascript:|\beval\(|innerHTML", text) == []

    def test_holds_every_module_of_its_folder(self) -> None:
        assert {path.stem for path in SOURCE.glob("*.js")} | {"meanings"} == set(MODULES)

    def test_explains_every_check(self, verifier: Tab) -> None:
        codes = verifier.run("sealdeck.words.GROUPS.flatMap(([, checks]) => Object.keys(checks))")
        assert codes == list(BUNDLE) == verifier.run("sealdeck.round.FAILURES")
        assert verifier.run("sealdeck.meanings.MEANINGS") == {**BUNDLE, **CANNOT}


class TestServer:
    def test_serves_one_page_for_reading_and_for_keeping(self, client: Client) -> None:
        page, kept = client.get("/verify/"), client.get("/verify/sealdeck-verify.html")
        assert page.status_code == kept.status_code == 200
        assert page.content == kept.content == build().data
        assert kept["Content-Disposition"] == 'attachment; filename="sealdeck-verify.html"'
        for answer in (page, kept):
            assert answer["Content-Security-Policy"] == f"{build().policy}; frame-ancestors 'none'"
            assert answer["Content-Type"] == "text/html; charset=utf-8"
            assert answer["X-Content-Type-Options"] == "nosniff"
            assert answer["Referrer-Policy"] == "no-referrer"
            assert answer["Digest-SHA-256"] == build().digest
            assert not answer.cookies

    def test_takes_no_other_method(self, client: Client) -> None:
        assert client.head("/verify/").status_code == 200
        assert client.post("/verify/").status_code == 405


class TestWhomItAsks:
    def test_from_disk_nobody(self, kept: Tab, page_path: Path) -> None:
        paste(kept, [OPEN], trust_text(TRUST))
        assert said(kept) == "This round is in order."
        assert {address for address in kept.asked() if not address.startswith("data:")} == {page_path.as_uri()}
        assert kept.run("[...document.querySelectorAll('.served')].every((element) => element.hidden)")

    def test_when_served_only_its_server_and_only_when_told_to(self, tab: Tab) -> None:
        asked: list[str] = []
        bundle = f"/v1/fairness/rounds/{ROUND_ID}/bundle"
        documents = {bundle: bundle_encode(OPEN), "/v1/fairness/trust.json": (trust_text(TRUST) or "").encode()}
        with served(documents, asked) as address:
            tab.open(f"{address}/verify/#{ROUND_ID}")
            assert asked == ["/verify/"]
            tab.run("document.querySelector('details').open = true; document.getElementById('trust-fetch').click()")
            tab.until("document.getElementById('trust').value.length > 0")
            assert "server that is being judged" in tab.run("document.getElementById('trust-said').textContent")
            tab.run("document.getElementById('fetch-form').requestSubmit()")
            settled(tab)
            assert said(tab) == "This round is in order."
            assert asked == ["/verify/", "/v1/fairness/trust.json", bundle]
            hosts = {found for found in tab.asked() if not found.startswith(("data:", address))}
            assert hosts == set()

    def test_follows_a_link_to_another_round(self, tab: Tab) -> None:
        with served({}, []) as address:
            tab.open(f"{address}/verify/#{ROUND_ID}")
            tab.run(f"location.hash = '{'ab' * 16}'")
            tab.until(f"document.getElementById('round').value === '{'ab' * 16}'")

    def test_cannot_reach_another_host_even_if_it_wanted_to(self, tab: Tab) -> None:
        elsewhere: list[str] = []
        with served({}, []) as address, served({}, elsewhere) as other:
            tab.open(f"{address}/verify/")
            reached = tab.give("(to) => fetch(to, {mode: 'no-cors'}).then(() => true, () => false)", f"{other}/x")
        assert reached is False
        assert elsewhere == []

    def test_says_so_when_the_server_has_no_such_round(self, tab: Tab) -> None:
        with served({}, []) as address:
            tab.open(f"{address}/verify/#{ROUND_ID}")
            tab.run("document.getElementById('fetch-form').requestSubmit()")
            settled(tab)
            assert said(tab) == "That did not work: the server answered 404."


class TestWhatItSays:
    def test_of_a_round_that_is_in_order(self, kept: Tab) -> None:
        paste(kept, [OPEN], trust_text(TRUST))
        text = shown(kept)
        assert ROUND_ID in text
        assert "rules not replayed" not in text
        assert "this page does not know the rules of the games" in text
        deck = kept.run("[...document.querySelectorAll('.deck:first-of-type .card')].map((card) => card.textContent)")
        assert deck[: OPEN["records"][1]["body"]["n"]] == ROUNDS["open"]["intermediate"]["deck"]
        rows = kept.run("[...document.querySelectorAll('tbody tr')].map((row) => row.innerText || row.textContent)")
        named = {(p["gen"], p["pos"]) for entry in OPEN["transcript"] for p in places(entry["events"])}
        assert len(rows) == len(named)
        states = kept.run("[...document.querySelectorAll('.state')].map((state) => state.textContent)")
        assert len(states) == len(BUNDLE)
        assert set(states) == {"passed", "not made"}

    @pytest.mark.parametrize("code", sorted(NEGATIVE.keys() - {"rules", "chain", "fork"}))
    def test_of_a_round_that_is_not(self, kept: Tab, code: str) -> None:
        bundles = NEGATIVE[code]
        if code == "beacon_signature":
            bundles = next(case["bundles"] for case in VECTORS["negative"] if case["about"].startswith("no signature"))
        paste(kept, bundles, trust_text(NEGATIVE_TRUST))
        assert "wrong" in said(kept)
        assert BUNDLE[code] in kept.run("document.querySelector('.findings').textContent")
        failed = kept.run("[...document.querySelectorAll('.checks .fail code')].map((found) => found.textContent)")
        assert code in failed

    def test_without_a_trust_file_that_it_proves_little(self, kept: Tab) -> None:
        paste(kept, [OPEN], None)
        assert said(kept) == "In order, as far as it tells about itself."
        assert "measured only against the keys that the file itself brings" in shown(kept)

    def test_of_a_void_that_everybody_gets_the_buy_in_back(self, kept: Tab) -> None:
        paste(kept, [ROUNDS["void"]["bundle"]], trust_text(TRUST))
        assert said(kept) == "This round is in order."
        assert "every buy-in goes back" in shown(kept)

    def test_of_a_round_with_a_beacon_what_a_browser_cannot_do(self, kept: Tab) -> None:
        paste(kept, [ROUNDS["beacon"]["bundle"]], trust_text(TRUST))
        assert said(kept) == "In order, but not fully checked."
        assert "browsers cannot do it" in kept.run("document.querySelector('.findings').textContent")

    def test_of_a_round_that_runs_that_more_is_to_come(self, kept: Tab) -> None:
        (running,) = next(case["bundles"] for case in VECTORS["cannot"] if case["code"] == "unfinished")
        paste(kept, [running], trust_text(TRUST))
        assert said(kept) == "In order so far."
        assert "The deck is fixed but secret" in shown(kept)

    def test_of_many_rounds_how_many_are_what(self, kept: Tab) -> None:
        paste(kept, [row["bundle"] for row in ROUNDS.values()], trust_text(TRUST))
        assert said(kept) == "8 rounds: 2 not fully checked, 6 in order."

    def test_of_an_unusable_trust_file_why(self, kept: Tab) -> None:
        paste(kept, [OPEN], "{}")
        expected = "the trust file cannot be used: a trust file has exactly the members log, root, witnesses and quorum"
        assert said(kept) == f"That did not work: {expected}."

    def test_of_nothing_what_to_do(self, kept: Tab) -> None:
        paste(kept, [], None)
        assert said(kept).startswith("There is nothing to check yet")

    def test_reads_nothing_of_a_bundle_as_markup(self, kept: Tab) -> None:
        bundle = json.loads(json.dumps(OPEN))
        bundle["transcript"][1]["events"][0]["card"]["card"] = "<u>x</u>#1"
        paste(kept, [bundle], trust_text(TRUST))
        assert "<u>x</u>#1 is shown" in shown(kept)
        assert kept.run("document.querySelector('#results u')") is None

    def test_of_a_browser_without_ed25519_that_it_cannot_tell(self, tab: Tab, page_path: Path) -> None:
        script = "SubtleCrypto.prototype.importKey = () => Promise.reject(new DOMException('', 'NotSupportedError'))"
        added = tab.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        try:
            tab.open(page_path.as_uri())
            tab.until("!document.getElementById('lacks').hidden")
            assert "cannot check Ed25519" in tab.run("document.getElementById('lacks').textContent")
            assert tab.run("document.getElementById('inputs').disabled")
        finally:
            tab.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


def places(value: Any) -> Iterator[dict[str, Any]]:
    """Give every place of a card in a value."""
    if isinstance(value, dict) and "gen" in value and "pos" in value:
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from places(item)


class TestUse:
    def test_by_choosing_a_file(self, kept: Tab, tmp_path: Path) -> None:
        path = tmp_path / "rounds.jsonl"
        path.write_bytes(b"\n".join(bundle_encode(row["bundle"]) for row in ROUNDS.values()) + b"\n")
        root = kept.call("DOM.getDocument")["root"]["nodeId"]
        node = kept.call("DOM.querySelector", nodeId=root, selector="#files")["nodeId"]
        kept.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])
        settled(kept)
        assert said(kept).startswith("8 rounds: ")

    def test_by_dropping_a_file(self, kept: Tab) -> None:
        script = """(text) => {
          const data = new DataTransfer();
          data.items.add(new File([text], "round.json"));
          document.querySelector("header").dispatchEvent(
            new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }"""
        kept.give(script, json.dumps(OPEN, indent=1))
        settled(kept)
        assert said(kept) == "In order, as far as it tells about itself."

    def test_with_the_keyboard_alone(self, kept: Tab) -> None:
        kept.give("(text) => { document.getElementById('paste').value = text; }", json.dumps(OPEN))
        where = "document.activeElement.id || document.activeElement.textContent.trim().slice(0, 20)"
        visited: list[str] = []
        while not visited or visited[-1] != "Check":
            kept.key("Tab")
            visited.append(kept.run(where))
            assert len(visited) < 20
        expected = ["Skip to the result", "Trust file: paste, ch", "files", "paste", "complete", "Check"]
        assert visited == [name[:20] if name not in ("files", "paste", "complete") else name for name in expected]
        kept.key("Enter")
        settled(kept)
        assert kept.run(where) == "verdict"
        kept.key("Tab")
        assert kept.run("document.activeElement.tagName") == "SUMMARY"
        before = kept.run("document.querySelectorAll('details[open]').length")
        kept.key("Enter")
        assert kept.run("document.querySelectorAll('details[open]').length") != before

    def test_with_a_screen_reader(self, kept: Tab) -> None:
        """Whatever takes the focus has a name, the verdict is announced, and headings descend one by one."""
        paste(kept, [OPEN], trust_text(TRUST))
        nodes = kept.call("Accessibility.getFullAXTree")["nodes"]
        live = [node for node in nodes if not node.get("ignored")]
        for node in live:
            traits = {trait["name"]: trait["value"].get("value") for trait in node.get("properties", [])}
            if traits.get("focusable") and node["role"]["value"] not in ("RootWebArea", "status"):
                assert node.get("name", {}).get("value"), node
        (status,) = [node for node in live if node["role"]["value"] == "status" and node_says(node, nodes)]
        assert {trait["name"]: trait["value"].get("value") for trait in status["properties"]}["live"] == "polite"
        levels = kept.run("[...document.querySelectorAll('h1, h2, h3, h4')].map((found) => Number(found.tagName[1]))")
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert kept.run("document.documentElement.lang") == "en"

    @pytest.mark.parametrize("dark", [False, True])
    @pytest.mark.parametrize("width", [320, 390, 1100])
    def test_on_every_width_in_light_and_dark(self, tab: Tab, page_path: Path, width: int, dark: bool) -> None:
        tab.width(width, dark=dark)
        tab.open(page_path.as_uri())
        paste(tab, NEGATIVE["card_face"], trust_text(NEGATIVE_TRUST))
        tab.run("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        assert tab.run("document.documentElement.scrollWidth <= window.innerWidth")
        paper = tab.run("getComputedStyle(document.body).backgroundColor")
        assert (luminance(*map(int, re.findall(r"\d+", paper)[:3])) < 0.1) is dark
        assert tab.picture().startswith(b"\x89PNG")

    def test_in_colours_that_can_be_read(self) -> None:
        style = (SOURCE / "style.css").read_text()
        light, dark = (
            dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", part)) for part in re.split(r"@media", style)[:2]
        )
        for colours in (light, dark):
            for ink in ("ink", "soft", "link", "pass", "fail", "part"):
                for paper in ("paper", "panel", *([f"{ink}-bg"] if f"{ink}-bg" in colours else [])):
                    assert contrast(colours[ink], colours[paper]) >= CONTRAST_MIN, (ink, paper)


def node_says(node: dict[str, Any], nodes: list[dict[str, Any]]) -> bool:
    """Tell whether a node of the accessibility tree holds the verdict."""
    texts = {other["nodeId"]: other.get("name", {}).get("value", "") for other in nodes}
    return any(texts.get(child, "") == "This round is in order." for child in node.get("childIds", []))


def luminance(red: int, green: int, blue: int) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = [value / 255 for value in (red, green, blue)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (WCAG 2.2)."""
    light, dark = sorted((luminance(*bytes.fromhex(colour[1:])) for colour in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
