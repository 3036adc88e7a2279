"""The operator's client against the server itself, over a socket."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.test import override_settings

from apps.accounts import services
from apps.accounts.services import Signing
from apps.accounts.signatures import Algorithm, answer_keys
from apps.client.errors import AnswerInvalid, ApiError
from apps.client.history import histories
from apps.client.operator import OperatorClient
from apps.client.player import PlayerClient
from apps.client.signing import Ed25519Signer
from tests.older import older_ended
from tests.tables.conftest import House, house  # noqa: F401 - the fixture

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
SIGNER = Ed25519Signer(PRIVATE)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def api_key() -> str:
    """Return the key of a fresh operator whose requests are signed."""
    signing = Signing(Algorithm.ED25519, PRIVATE.public_key().public_bytes_raw())
    _operator, plaintext = services.operator_create(name="Acme", signing=signing)
    return plaintext


@pytest.fixture
def operator(live_server: Any, api_key: str) -> Iterator[OperatorClient]:
    """Return a client that signs and believes signed answers only."""
    keys = {key.kid: key.public_key for key in answer_keys()}
    with (
        override_settings(SEALDECK_REQUIRE_SIGNATURES=True),
        OperatorClient(live_server.url, api_key, signer=SIGNER, answer_keys=keys) as client,
    ):
        yield client


class TestOperator:
    def test_brings_a_player_and_looks_after_him(self, operator: OperatorClient, live_server: Any) -> None:
        player = operator.player_upsert("u-1", is_test=True, person_key="h:1")
        assert operator.player_upsert("u-1") == player == operator.player_get(player["id"])
        operator.limits_set(player["id"], [{"kind": "loss_day", "currency": "EUR", "value": 5_000}])
        assert operator.limits(player["id"])["limits"][0]["value"] == 5_000
        session = operator.session_create(player["id"], ttl_s=120)
        with PlayerClient(live_server.url, session["token"]) as me:
            assert me.me(player["id"])["status"] == "active"
            assert me.exclude_me(player["id"], None) == {"is_excluded": True, "until_ms": None}
            assert operator.exclusion(player["id"])["is_excluded"] is True
            operator.session_revoke(session["id"])
            with pytest.raises(ApiError) as caught:
                me.me(player["id"])
        assert caught.value.code == "token_invalid"
        assert operator.player_status_set(player["id"], "closed")["status"] == "closed"

    def test_rotates_its_keys(self, operator: OperatorClient, live_server: Any) -> None:
        public_key = base64.b64encode(PRIVATE.public_key().public_bytes_raw()).decode()
        made = operator.key_create(
            "next", ["read"], addresses=["127.0.0.0/8"], signature={"algorithm": "ed25519", "public_key": public_key}
        )
        with OperatorClient(live_server.url, made["api_key"], signer=SIGNER) as other:
            with pytest.raises(ApiError) as caught:
                other.keys()
            assert caught.value.code == "scope_missing"
            assert operator.key_revoke(made["id"])["revoked_at_ms"] is not None
            with pytest.raises(ApiError) as caught:
                other.keys()
        assert caught.value.code == "key_invalid"
        listed = operator.keys()
        assert [key["label"] for key in listed] == ["next", "main"]

    def test_must_sign_what_administers(self, operator: OperatorClient, live_server: Any, api_key: str) -> None:
        with OperatorClient(live_server.url, api_key) as unsigned, pytest.raises(ApiError) as caught:
            unsigned.keys()
        assert caught.value.code == "signature_required"
        assert len(operator.keys()) == 1

    def test_believes_the_servers_key_only(self, operator: OperatorClient, live_server: Any, api_key: str) -> None:
        wrong = {"0000000000000000": PRIVATE.public_key().public_bytes_raw()}
        client = OperatorClient(live_server.url, api_key, signer=SIGNER, answer_keys=wrong)
        with client, pytest.raises(AnswerInvalid):
            client.keys()

    def test_signs_paths_and_queries_that_need_escapes(self, operator: OperatorClient) -> None:
        with pytest.raises(ApiError) as caught:
            operator.transaction("dé p~1%")
        assert caught.value.status == 404
        with pytest.raises(ApiError) as caught:
            operator.transactions(cursor="ä +%&=")
        assert caught.value.code == "cursor_invalid"


class TestHistory:
    def test_is_read_by_the_operator_and_by_the_player(self, live_server: Any, house: House) -> None:  # noqa: F811
        place = house.table()
        rounds = [place.deal(0, 1).pk.hex]
        place.play_out()
        rounds.append(place.deal(0, 1).pk.hex)
        place.play_out()
        older_ended()
        with OperatorClient(live_server.url, house.key) as operator:
            assert [told["id"] for told in histories(operator, status="finished", limit=1)] == rounds[::-1]
            assert operator.rounds(player_id=str(place.players[0]))["next"] is None
        with PlayerClient(live_server.url, house.token(place.players[1])) as me:
            assert [told["id"] for told in me.rounds()["rounds"]] == rounds[::-1]
            assert me.history(rounds[0])["seats"][1]["is_yours"] is True
            assert me.history_text(rounds[0]).startswith(f"Sealdeck round {rounds[0]}\n")
