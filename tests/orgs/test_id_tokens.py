"""ID tokens: what a hostile provider, or somebody between, could send instead."""

import base64
import hashlib
import hmac
import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from offhook.kit.crypto import hash_token
from offhook.orgs.identity_provider.errors import IdentityRefused
from offhook.orgs.identity_provider.id_tokens import TokenExpectation, read_identity
from tests.orgs.identity_providers import KEY_ID, public_keys, sign, signing_key

ISSUER = "https://id.acme.example"
EXPECTED = TokenExpectation(ISSUER, "offhook", hash_token("n0"))


def claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    given = {
        "iss": ISSUER,
        "aud": "offhook",
        "sub": "1001",
        "iat": now,
        "exp": now + 300,
        "nonce": "n0",
        "email": "ann@acme.example",
        "email_verified": True,
        "name": "Ann",
        **changes,
    }
    return {name: value for name, value in given.items() if value is not ...}


def _part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def refusal(token: str, keys: dict[str, Any] | None = None) -> str:
    with pytest.raises(IdentityRefused) as caught:
        read_identity(token, public_keys() if keys is None else keys, EXPECTED)
    return caught.value.message


def test_a_good_token_says_who_it_is() -> None:
    identity = read_identity(sign(claims()), public_keys(), EXPECTED)
    assert (identity.subject, identity.email, identity.name) == ("1001", "ann@acme.example", "Ann")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"nonce": "n1"}, "another sign-in"),
        ({"nonce": ...}, "incomplete"),
        ({"nonce": ["n0"]}, "another sign-in"),
        ({"nonce": "\ud800"}, "another sign-in"),
        ({"iat": float("inf")}, "damaged"),
        ({"exp": float("inf")}, "damaged"),
        ({"aud": "another"}, "another application"),
        ({"aud": ["offhook", "another"]}, "another application"),
        ({"aud": "offhook", "azp": "another"}, "another application"),
        ({"aud": []}, "incomplete"),
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"iss": ISSUER + "/"}, "another issuer"),
        ({"exp": 1}, "expired"),
        ({"exp": ...}, "incomplete"),
        ({"iat": 4102444800, "exp": 4102448400}, "not valid yet"),
        ({"nbf": 4102444800}, "not valid yet"),
        ({"sub": ...}, "incomplete"),
        ({"sub": ""}, "identify the user"),
        ({"sub": "x" * 256}, "identify the user"),
        ({"sub": 1001}, "damaged"),
        ({"sub": "\ud800"}, "identify the user"),
    ],
)
def test_a_token_of_something_else_is_refused(changes: dict[str, Any], reason: str) -> None:
    assert reason in refusal(sign(claims(**changes)))


def test_brackets_in_brackets_are_refused() -> None:
    """The library reads them until its stack is full."""
    nested = base64.urlsafe_b64encode(b"[" * 100_000).rstrip(b"=").decode()
    head = _part({"alg": "ES256", "kid": KEY_ID})
    signature = (
        base64.urlsafe_b64encode(ECAlgorithm(hashes.SHA256).sign(f"{head}.{nested}".encode(), signing_key()))
        .rstrip(b"=")
        .decode()
    )
    assert "damaged" in refusal(f"{head}.{nested}.{signature}")
    assert "damaged" in refusal(f"{nested}.{_part(claims())}.{signature}")


def test_a_token_for_several_needs_this_party() -> None:
    shared = claims(aud=["offhook", "another"], azp="offhook")
    assert read_identity(sign(shared), public_keys(), EXPECTED).subject == "1001"


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "HS256", "RS1", ""])
def test_unsigned_and_shared_secret_algorithms_are_refused(algorithm: str) -> None:
    token = f"{_part({'alg': algorithm, 'kid': KEY_ID})}.{_part(claims())}."
    assert "not accepted" in refusal(token)


def test_the_public_key_is_no_shared_secret() -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    listed = {"keys": [{**json.loads(RSAAlgorithm.to_jwk(key.public_key())), "kid": KEY_ID}]}
    assert read_identity(jwt.encode(claims(), key, "RS256", {"kid": KEY_ID}), listed, EXPECTED).subject == "1001"
    pem = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    signed = f"{_part({'alg': 'HS256', 'kid': KEY_ID})}.{_part(claims())}"
    seal = base64.urlsafe_b64encode(hmac.digest(pem, signed.encode(), hashlib.sha256)).rstrip(b"=").decode()
    assert "not accepted" in refusal(f"{signed}.{seal}", listed)
    # Nor does a set of keys that brings a shared secret make one.
    shared = {"keys": [{"kty": "oct", "k": _part("secret"), "kid": KEY_ID, "alg": "RS256"}]}
    assert "does not publish the key" in refusal(jwt.encode(claims(), key, "RS256", {"kid": KEY_ID}), shared)


def test_another_key_is_refused() -> None:
    forged = jwt.encode(claims(), ec.generate_private_key(ec.SECP256R1()), "ES256", {"kid": KEY_ID})
    assert "signature is wrong" in refusal(forged)
    assert "does not publish the key" in refusal(sign(claims(), kid="k2"))
    assert "does not publish the key" in refusal(sign(claims()), public_keys(use="enc"))
    assert "does not publish the key" in refusal(sign(claims()), public_keys(alg="ES384"))
    # a key that the token brings along counts for nothing
    own = {"kid": "k9", "jwk": public_keys()["keys"][0], "jku": "https://evil.example/jwks"}
    assert "does not publish the key" in refusal(jwt.encode(claims(), signing_key(), "ES256", own))


@pytest.mark.parametrize("keys", [{}, {"keys": None}, {"keys": "k"}, {"keys": [1, {}, {"kty": "EC", "kid": KEY_ID}]}])
def test_damaged_keys_are_refused(keys: dict[str, Any]) -> None:
    assert "does not publish the key" in refusal(sign(claims()), keys)


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "..", "é.é.é", _part({"alg": "ES256"}) + ".e30.AAAA"])
def test_damaged_tokens_are_refused(token: str) -> None:
    assert refusal(token)


@pytest.mark.parametrize("verified", [False, None, "false", "yes", 1, ..., [True]])
def test_an_address_counts_only_when_it_is_confirmed(verified: Any) -> None:
    assert read_identity(sign(claims(email_verified=verified)), public_keys(), EXPECTED).email is None


def test_true_in_words_is_confirmed() -> None:
    assert read_identity(sign(claims(email_verified="true")), public_keys(), EXPECTED).email == "ann@acme.example"


@pytest.mark.parametrize("more", [{}, {"p": "AQAB", "q": "AQAB", "dp": "AQAB", "dq": "AQAB", "qi": "AQAB"}])
def test_a_private_key_is_not_worked_out(more: dict[str, str]) -> None:
    """Its prime factors would be, for as long as the provider likes, while nothing else runs: six seconds for 16,000 bits,
    days for what fits into a set of keys."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    token = jwt.encode(claims(), key, "RS256", {"kid": KEY_ID})
    number = base64.urlsafe_b64encode(b"\xff" * 3000).decode()
    listed = {"keys": [{"kty": "RSA", "kid": KEY_ID, "e": "AQAB", "n": number, "d": number, **more}]}
    began = time.process_time()
    assert refusal(token, listed)
    assert time.process_time() - began < 1
    # The public part of one that was published by mistake is a key as any other.
    own = {"keys": [{**json.loads(RSAAlgorithm.to_jwk(key)), "kid": KEY_ID}]}
    assert read_identity(token, own, EXPECTED).subject == "1001"


def test_a_key_of_a_hundred_kilobytes_is_none() -> None:
    number = base64.urlsafe_b64encode(b"\xff" * 100_000).decode()
    listed = {"keys": [{"kty": "RSA", "kid": KEY_ID, "e": number, "n": number}]}
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    assert "does not publish the key" in refusal(jwt.encode(claims(), key, "RS256", {"kid": KEY_ID}), listed)


def test_half_a_character_of_a_name_is_left_out() -> None:
    identity = read_identity(sign(claims(name="An\ud800n", email="ann\ud800@acme.example")), public_keys(), EXPECTED)
    assert (identity.name, identity.email) == ("Ann", None)
