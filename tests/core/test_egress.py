"""Requests to addresses that others chose never reach an inside address (hazard N1)."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from apps.core import egress
from tests.webhooks.conftest import Receiver


def answers(*addresses: str) -> Callable[[str, int], list[str]]:
    """Return a resolver that gives the addresses one call after the other, the last one for ever."""
    left = list(addresses)

    def resolver(_host: str, _port: int) -> list[str]:
        return [left.pop(0) if len(left) > 1 else left[0]]

    return resolver


@contextmanager
def listening(talk: Callable[[socket.socket], None]) -> Iterator[tuple[int, list[int]]]:
    """Listen on loopback, count connections, and let ``talk`` answer each."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.1)
    connected: list[int] = []
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            try:
                accepted, _ = server.accept()
            except TimeoutError:
                continue
            connected.append(1)
            with accepted:
                talk(accepted)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield server.getsockname()[1], connected
    finally:
        stop.set()
        thread.join()
        server.close()


def post(url: str, **options: Any) -> egress.Answer:
    """Send a small request."""
    return egress.post(url, headers={"content-type": "application/json"}, body=b"{}", **options)


class TestInsideAddresses:
    @pytest.mark.parametrize(
        "address",
        [
            "127.0.0.1",
            "127.8.8.8",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "192.0.2.1",
            "::1",
            "::",
            "fe80::1",
            "fe80::1%lo",
            "fc00::1",
            "fec0::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::1",
            "2001:0:0:0:0:0:f5ff:fffe",
        ],
    )
    def test_are_refused_whatever_name_has_them(self, address: str) -> None:
        answer = post("https://hooks.example.com/", resolver=answers(address))
        assert answer == egress.Answer(None, "target_refused")

    def test_one_bad_address_among_good_ones_refuses_all(self) -> None:
        answer = post("https://hooks.example.com/", resolver=lambda _host, _port: ["93.184.216.34", "10.0.0.1"])
        assert answer.error == "target_refused"

    @pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"])
    def test_a_public_address_is_fine(self, address: str) -> None:
        parts = egress.target_check("https://hooks.example.com/")
        assert egress.addresses_checked(parts, answers(address)) == [address]

    def test_a_name_that_moves_inside_after_the_check_is_not_followed(self, settings: Any) -> None:
        """The name is asked once; what it says later is never heard."""
        asked: list[str] = []

        def resolver(host: str, _port: int) -> list[str]:
            asked.append(host)
            return ["127.0.0.2"] if len(asked) == 1 else ["127.0.0.1"]

        settings.SEALDECK_WEBHOOK_NETWORKS = ["127.0.0.2/32"]
        with listening(lambda _accepted: None) as (port, connected):
            answer = post(f"http://moving.example:{port}/", resolver=resolver)
        assert (answer.status, connected, asked) == (None, [], ["moving.example"])

    def test_a_redirect_inside_is_a_failure_and_not_followed(self, receiver: Receiver) -> None:
        with listening(lambda _accepted: None) as (port, connected):
            receiver.answers = [(302, {"Location": f"http://127.0.0.1:{port}/"})]
            answer = post(receiver.url)
            assert (answer.status, connected) == (302, [])

    def test_loopback_is_refused_unless_settings_say_otherwise(self, receiver: Receiver, settings: Any) -> None:
        assert post(receiver.url).status == 204
        settings.SEALDECK_WEBHOOK_NETWORKS = []
        assert post(receiver.url).error == "target_refused"
        assert len(receiver.got) == 1


class TestAnswers:
    def test_a_name_without_address_is_said(self) -> None:
        def resolver(_host: str, _port: int) -> list[str]:
            raise socket.gaierror("unknown")

        assert post("https://nowhere.example/", resolver=resolver).error == "name_not_resolved"

    def test_nobody_there_is_said(self, settings: Any) -> None:
        settings.SEALDECK_WEBHOOK_NETWORKS = ["127.0.0.1/32"]
        with listening(lambda _accepted: None) as (port, _):
            pass
        assert post(f"http://127.0.0.1:{port}/").error == "connection_failed"

    @pytest.mark.parametrize("said", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 999999 x\r\n\r\n"])
    def test_what_is_no_http_is_no_answer(self, settings: Any, said: bytes) -> None:
        settings.SEALDECK_WEBHOOK_NETWORKS = ["127.0.0.1/32"]

        def talk(accepted: socket.socket) -> None:
            accepted.recv(65_536)
            accepted.sendall(said)

        with listening(talk) as (port, _):
            assert post(f"http://127.0.0.1:{port}/") == egress.Answer(None, "no_answer")

    def test_a_peer_that_drips_is_cut_off(self, settings: Any) -> None:
        settings.SEALDECK_WEBHOOK_NETWORKS = ["127.0.0.1/32"]
        over = threading.Event()

        def talk(accepted: socket.socket) -> None:
            accepted.recv(65_536)
            while not over.is_set():
                try:
                    accepted.sendall(b"H")
                except OSError:
                    return
                over.wait(0.05)

        with listening(talk) as (port, _):
            began = time.monotonic()
            answer = post(f"http://127.0.0.1:{port}/", total_s=0.4)
            took = time.monotonic() - began
            over.set()
        assert answer == egress.Answer(None, "no_answer")
        assert took < 5

    def test_a_huge_answer_is_not_read_to_its_end(self, settings: Any) -> None:
        settings.SEALDECK_WEBHOOK_NETWORKS = ["127.0.0.1/32"]

        def talk(accepted: socket.socket) -> None:
            accepted.recv(65_536)
            try:
                accepted.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n" + b"x" * 1_000_000)
            except OSError:
                return

        with listening(talk) as (port, _):
            assert post(f"http://127.0.0.1:{port}/").status == 200

    @pytest.mark.parametrize(
        ("value", "seconds"), [("120", 120), ("99999999", 86_400), ("-1", None), ("soon", None), ("1" * 30, None)]
    )
    def test_retry_after_is_read_and_bounded(self, receiver: Receiver, value: str, seconds: int | None) -> None:
        receiver.answers = [(503, {"Retry-After": value})]
        assert post(receiver.url) == egress.Answer(503, "", seconds)


def _certificate(folder: Path, *names: x509.GeneralName) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.now(tz=UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return server


class TestTls:
    @pytest.fixture
    def tls(self, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[socket.socket], None]:
        """Return a talker with a certificate for hooks.example.com that this process trusts."""
        settings.SEALDECK_WEBHOOK_NETWORKS = ["127.0.0.1/32"]
        server = _certificate(tmp_path, x509.DNSName("hooks.example.com"))
        trusted = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        monkeypatch.setattr(egress, "_tls", lambda: trusted)

        def talk(accepted: socket.socket) -> None:
            try:
                with server.wrap_socket(accepted, server_side=True) as wrapped:
                    got = b""
                    while not got.endswith(b"{}"):  # Closing on an unread body would break the connection.
                        part = wrapped.recv(65_536)
                        if not part:
                            return
                        got += part
                    wrapped.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
            except OSError:
                return

        return talk

    def test_the_certificate_is_of_the_name_not_of_the_address(self, tls: Callable[[socket.socket], None]) -> None:
        with listening(tls) as (port, _):
            assert post(f"https://hooks.example.com:{port}/", resolver=answers("127.0.0.1")).status == 204

    def test_another_name_is_refused(self, tls: Callable[[socket.socket], None]) -> None:
        with listening(tls) as (port, _):
            answer = post(f"https://other.example.com:{port}/", resolver=answers("127.0.0.1"))
        assert answer.error == "tls_failed"

    def test_the_address_itself_is_no_name(self, tls: Callable[[socket.socket], None]) -> None:
        assert ip_address("127.0.0.1").is_loopback
        with listening(tls) as (port, _):
            assert post(f"https://127.0.0.1:{port}/").error == "tls_failed"
