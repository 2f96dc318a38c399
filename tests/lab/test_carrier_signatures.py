"""The emulators prove their callbacks as the carriers do: against vectors of the carriers' own SDKs."""

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from offhook_lab.carriers import TelnyxEmulator, VonageEmulator
from offhook_lab.carriers.core.callbacks import form_callback, json_callback
from offhook_lab.carriers.plivo import signature as plivo
from offhook_lab.carriers.twilio.signature import compute_signature
from offhook_lab.carriers.vobiz import server as vobiz
from offhook_lab.carriers.vonage.jwt import sign_hs256

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "signatures.json").read_text())["providers"]


def vectors(provider: str, *keys: str) -> list[Any]:
    """Those that have these keys and were recomputed."""
    return [
        pytest.param(one, id=one["name"])
        for one in VECTORS[provider]["vectors"]
        if all(key in one for key in keys) and one.get("check")
    ]


def pairs(params: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (name, value) for name, values in params.items() for value in (values if isinstance(values, list) else [values])
    ]


@pytest.mark.parametrize("one", vectors("twilio", "signature"))
def test_twilio(one: dict[str, Any]) -> None:
    url = one.get("signed_url_variant") or one["url"]
    made = compute_signature(one["auth_token"], url, pairs(one["params"] or {}))
    assert (made == one["signature"]) is one["valid"]


@pytest.mark.parametrize("one", vectors("plivo", "signature"))
def test_plivo(one: dict[str, Any]) -> None:
    if one["scheme"] == "v2":
        made = plivo.sign_v2(one["auth_token"], one["url"], one["nonce"])
    else:
        # a GET's parameters come in its address
        url = f"{one['url']}{'&' if '?' in one['url'] else '?'}{urlencode(pairs(one['params']))}"
        made = plivo.sign_v3(one["auth_token"], one["method"], url, one["nonce"])
    assert (made in one["signature"].split(",")) is one["valid"]


@pytest.mark.parametrize("one", vectors("vobiz", "signature"))
def test_vobiz(one: dict[str, Any]) -> None:
    sign = vobiz.sign_v2 if one["scheme"] == "v2" else vobiz.sign_v3
    assert (sign(one["auth_token"], one["url"], one["nonce"]) == one["signature"]) is one["valid"]


@pytest.mark.parametrize("one", vectors("telnyx", "public_key"))
def test_telnyx_vectors_verify(one: dict[str, Any]) -> None:
    """The way the tests of the emulator check its events is the way the vectors are."""
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(one["public_key"]))
    message = f"{one['timestamp']}|{one['body']}".encode()
    try:
        key.verify(base64.b64decode(one["signature"]), message)
        is_valid = True
    except InvalidSignature:
        is_valid = False
    assert is_valid is one["valid"]


def test_telnyx() -> None:
    carrier = TelnyxEmulator()
    callback = json_callback("event:call.answered", "https://us.example/events", {"data": {}, "meta": {"attempt": 1}})
    headers = carrier.sign_callback(callback)
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(carrier.public_key))
    message = headers["telnyx-timestamp"].encode() + b"|" + callback.body
    key.verify(base64.b64decode(headers["telnyx-signature-ed25519"]), message)
    callback.forgery = "forged"
    with pytest.raises(InvalidSignature):
        key.verify(base64.b64decode(carrier.sign_callback(callback)["telnyx-signature-ed25519"]), message)


@pytest.mark.parametrize("one", vectors("vonage", "token", "claims"))
def test_vonage(one: dict[str, Any]) -> None:
    """The signature of the same head and claims; a JSON writer's spaces differ, so both are signed again."""
    head, body, signed = one["token"].split(".")
    again = _signed(f"{head}.{body}", one["signature_secret"])
    assert (again == signed) is one["valid"]


def _signed(text: str, secret: str) -> str:
    return (
        base64.urlsafe_b64encode(hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest())
        .rstrip(b"=")
        .decode()
    )


def test_vonage_claims() -> None:
    carrier = VonageEmulator()
    callback = form_callback("answer", "https://us.example/answer?token=1", [("to", "1"), ("from", "2")], method="GET")
    token = carrier.sign_callback(callback)["Authorization"].removeprefix("Bearer ")
    head, body, signed = token.split(".")
    assert signed == _signed(f"{head}.{body}", carrier.signature_secret)
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    assert (claims["iss"], claims["api_key"]) == ("Vonage", carrier.api_key)
    # a GET's payload is its parameters as JSON, in order and without spaces
    assert claims["payload_hash"] == hashlib.sha256(b'{"token":"1","to":"1","from":"2"}').hexdigest()
    assert token != sign_hs256(claims, "other")
