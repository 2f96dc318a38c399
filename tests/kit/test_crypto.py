"""Tokens, sealing and signed links."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook.kit.crypto import (
    DataKey,
    Keyring,
    LinkRefused,
    SecretUnreadable,
    _encode_base64,
    _sign_body,
    hash_token,
    new_data_key,
    new_token,
)

OLD, NEW = "o" * 40, "n" * 40
NOWHERE = Path("/nonexistent/secret.key")


def ring(secret: str = NEW) -> Keyring:
    return Keyring(secret, NOWHERE)


class TestTokens:
    def test_43_characters_after_the_prefix(self) -> None:
        tokens = {new_token("ohk_") for _ in range(100)}
        assert len(tokens) == 100
        assert {len(token) for token in tokens} == {47}

    @given(st.text())
    def test_digest_takes_any_text(self, text: str) -> None:
        assert len(hash_token(text)) == 32


class TestSealing:
    @given(st.binary(max_size=200), st.binary(max_size=20))
    def test_opens_with_the_same_association(self, secret: bytes, associated: bytes) -> None:
        sealed = ring().seal(secret, associated)
        assert ring().open(sealed, associated) == secret
        assert len(secret) < 4 or secret not in sealed

    def test_other_association_other_key_damage(self) -> None:
        sealed = ring().seal(b"carrier password", b"org:1")
        for keyring, value, associated in (
            (ring(), sealed, b"org:2"),
            (ring(OLD), sealed, b"org:1"),
            (ring(), sealed[:-1] + bytes([sealed[-1] ^ 1]), b"org:1"),
            (ring(), sealed[:10], b"org:1"),
            (ring(), b"", b"org:1"),
        ):
            with pytest.raises(SecretUnreadable):
                keyring.open(value, associated)

    def test_never_the_same_twice(self) -> None:
        assert ring().seal(b"x", b"") != ring().seal(b"x", b"")

    def test_rotation(self) -> None:
        sealed = ring(OLD).seal(b"secret", b"")
        rotated = ring(f"{NEW}, {OLD}")
        assert rotated.open(sealed, b"") == b"secret"
        assert ring(NEW).open(rotated.seal(b"secret", b""), b"") == b"secret"


class TestKeyFile:
    def test_made_once_and_private(self, tmp_path: Path) -> None:
        file = tmp_path / "data" / "secret.key"
        sealed = Keyring(None, file).seal(b"secret", b"")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert Keyring(None, file).open(sealed, b"") == b"secret"
        assert list(file.parent.iterdir()) == [file]

    def test_processes_that_start_together_share_it(self, tmp_path: Path) -> None:
        rings = [Keyring(None, tmp_path / "secret.key") for _ in range(16)]
        with ThreadPoolExecutor(16) as pool:
            sealed = list(pool.map(lambda keyring: keyring.seal(b"secret", b""), rings))
        assert {rings[0].open(value, b"") for value in sealed} == {b"secret"}
        assert len(list(tmp_path.iterdir())) == 1

    def test_nothing_is_read_before_it_is_used(self) -> None:
        Keyring(None, NOWHERE)


class TestLinks:
    @given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 2**40))
    def test_valid_until_it_expires(self, payload: str, expires_at: int) -> None:
        token = ring().sign_link("recording", payload, expires_at)
        assert ring().verify_link("recording", token, expires_at) == payload
        with pytest.raises(LinkRefused):
            ring().verify_link("recording", token, expires_at + 1)

    @given(st.text())
    def test_a_stranger_s_text_is_refused(self, token: str) -> None:
        with pytest.raises(LinkRefused):
            ring().verify_link("recording", token, 0)

    @given(st.data())
    def test_no_character_may_change(self, data: st.DataObject) -> None:
        token = ring().sign_link("recording", "12", 2_000_000_000)
        at = data.draw(st.integers(0, len(token) - 2))  # the last one holds spare bits
        other = data.draw(st.sampled_from("AQgw059.-_").filter(lambda char: char != token[at]))
        with pytest.raises(LinkRefused):
            ring().verify_link("recording", token[:at] + other + token[at + 1 :], 0)

    def test_rotation_and_url_safety(self) -> None:
        token = ring(OLD).sign_link("recording", "12/é", 100)
        assert ring(f"{NEW},{OLD}").verify_link("recording", token, 50) == "12/é"
        assert set(token) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
        with pytest.raises(LinkRefused):
            ring(NEW).verify_link("recording", token, 50)

    def test_a_link_is_for_one_purpose(self) -> None:
        token = ring().sign_link("recording", "upload:12", 100)
        for other in ("upload", "record", "recording:upload", ""):
            with pytest.raises(LinkRefused):
                ring().verify_link(other, token, 50)
        with pytest.raises(LinkRefused):
            ring().verify_link("forward", token, 50, older_start="[")

    def test_links_of_earlier_versions_stay_valid(self) -> None:
        bare = f"{_encode_base64(b'[1, 2]')}.100"
        token = f"{bare}.{_encode_base64(_sign_body(ring()._derived_keys[0], bare))}"
        assert ring().verify_link("forward", token, 50, older_start="[") == "[1, 2]"
        for purpose in ("forward", "", "[1, 2]"):
            with pytest.raises(LinkRefused):
                ring().verify_link(purpose, token, 50)
        for purpose in ("run", "sized-recording-upload", "campaign-download"):
            bare = f"{_encode_base64(f'{purpose}:1'.encode())}.100"
            token = f"{bare}.{_encode_base64(_sign_body(ring()._derived_keys[0], bare))}"
            assert ring().verify_link(purpose, token, 50) == "1"


@pytest.mark.parametrize("left", [0, 7, 12, 27])
def test_what_was_cut_off_is_damaged(left: int) -> None:
    cipher = DataKey(1, new_data_key()).derive_cipher(b"file")
    with pytest.raises(SecretUnreadable):
        cipher.decrypt(0, cipher.encrypt(0, b"words")[:left])
