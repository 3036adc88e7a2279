"""Player tokens: what is signed, what is refused."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.test import override_settings

from apps.accounts.errors import SessionExpired, TokenInvalid
from apps.accounts.principals import PlayerPrincipal
from apps.accounts.tokens import token_make, token_read

WHO = PlayerPrincipal(UUID(int=1), UUID(int=2**100), UUID(int=2**127 + 5), 4_294_967_295)
END = 1_700_000_000_000


class TestToken:
    def test_says_who_it_was_made_for(self) -> None:
        token = token_make(WHO, expires_ms=END)
        assert token_read(token, now_ms=END - 1) == WHO
        assert len(token) == 127

    def test_is_over_at_its_end(self) -> None:
        with pytest.raises(SessionExpired):
            token_read(token_make(WHO, expires_ms=END), now_ms=END)

    def test_is_refused_with_any_character_changed_added_or_removed(self) -> None:
        token = token_make(WHO, expires_ms=END)
        changed = [
            token[:i] + other + token[i + 1 :] for i in range(len(token)) for other in "A_b9" if other != token[i]
        ]
        for text in [*changed, token[:-1], token + "A", token + "=", token + "\n", " " + token, "", "pt_", "pt_é"]:
            with pytest.raises(TokenInvalid):
                token_read(text, now_ms=END - 1)

    def test_is_refused_under_another_secret_unless_it_is_a_fallback(self) -> None:
        token = token_make(WHO, expires_ms=END)
        with override_settings(SECRET_KEY="another"), pytest.raises(TokenInvalid):
            token_read(token, now_ms=0)
        with override_settings(SECRET_KEY="another", SECRET_KEY_FALLBACKS=["test-only-not-secret"]):
            assert token_read(token, now_ms=0) == WHO
