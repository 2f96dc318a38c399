"""Whose webhook it is: the carriers' published cases, and everything that must not pass."""

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nacl.signing import SigningKey, VerifyKey
from twilio.request_validator import RequestValidator

from offhook.telephony.ports import Proof, Verifier, Webhook
from offhook.telephony.providers.telnyx.signature import TelnyxVerifier, is_signed
from offhook.telephony.providers.twilio.signature import TwilioVerifier, signed_fields, url_variants
from offhook.telephony.signatures import hmac_base64, sha256_hex
from tests.telephony.carriers import account, form, got, posted

CASES: dict[str, list[dict[str, Any]]] = {
    name: carrier["vectors"]
    for name, carrier in json.loads((Path(__file__).parents[1] / "data" / "signatures.json").read_text())[
        "providers"
    ].items()
}
NOW = 1_700_000_000.0
Case = dict[str, Any]


def cases(carrier: str, **wanted: object) -> list[Any]:
    """The carrier's cases whose fields are these, named by their names."""
    return [
        pytest.param(case, id=case["name"])
        for case in CASES[carrier]
        if all(case.get(name) == value for name, value in wanted.items())
    ]


def accepts(verifier: Verifier, webhook: Webhook, now_s: float = NOW, **config: Any) -> bool:
    return verifier.verify(account("any", **config), webhook, now_s) is not None


def flat(params: Mapping[str, str | list[str]]) -> list[tuple[str, str]]:
    return [
        (name, value) for name, values in params.items() for value in (values if isinstance(values, list) else [values])
    ]


class TestTwilio:
    verifier = TwilioVerifier()

    def signed(self, case: Case) -> Webhook:
        signature = {"x_twilio_signature": case["signature"]}
        if "body" in case and "bodySHA256" in case["url"]:
            return posted(case["url"], case["body"].encode(), **signature)
        return form(case["url"], flat(case["params"]), **signature)

    @pytest.mark.parametrize("case", cases("twilio"))
    def test_published_case(self, case: Case) -> None:
        """``check`` is true for all of them: each can be recomputed from what is in the case."""
        assert accepts(self.verifier, self.signed(case), auth_token=case["auth_token"]) is case["valid"]

    @pytest.mark.parametrize("case", cases("twilio"))
    def test_any_change_is_refused(self, case: Case) -> None:
        right, token = self.signed(case), case["auth_token"]
        wrong = [
            replace(right, headers={"content-type": "application/x-www-form-urlencoded"}),
            replace(right, headers={**right.headers, "x-twilio-signature": "AAAA"}),
            replace(right, headers={**right.headers, "x-twilio-signature": ""}),
            replace(right, body=right.body + b"&CallStatus=completed"),
            replace(right, url=right.url + "&x=1"),
            replace(right, url=right.url.replace("mycompany", "other").replace("example", "other")),
            replace(right, url=right.url.replace("/myapp.php", "/myapp.php/")),
        ]

        assert [accepts(self.verifier, webhook, auth_token=token) for webhook in wrong] == [False] * len(wrong)
        assert not accepts(self.verifier, right, auth_token="another account's")
        assert not accepts(self.verifier, right)

    def test_a_body_that_nothing_covers_is_refused(self) -> None:
        url = "https://mycompany.com/myapp.php?foo=1"
        signature = hmac_base64("12345", url, "sha1")

        assert accepts(self.verifier, got(url, x_twilio_signature=signature), auth_token="12345")
        assert not accepts(
            self.verifier, posted(url, {"CallStatus": "completed"}, x_twilio_signature=signature), auth_token="12345"
        )
        twice = f"{url}&bodySHA256={sha256_hex(b'{}')}&bodySHA256={sha256_hex(b'[]')}"
        signature = hmac_base64("12345", twice, "sha1")
        assert not accepts(self.verifier, posted(twice, b"[]", x_twilio_signature=signature), auth_token="12345")

    def test_the_signature_is_what_may_come_once(self) -> None:
        case = CASES["twilio"][0]

        proof = self.verifier.verify(account("twilio", auth_token="12345"), self.signed(case), NOW)

        assert proof == Proof(nonce=case["signature"])

    @pytest.mark.parametrize("url", ["https://a.example/x?y=1", "https://a.example:8443/x", "http://a.example:80/x"])
    @pytest.mark.parametrize(
        "pairs", [[], [("To", "+1"), ("From", "a b&c=d"), ("To", "+2"), ("To", "+1"), ("é", "ü"), ("Empty", "")]]
    )
    def test_twilios_own_library_agrees(self, url: str, pairs: list[tuple[str, str]]) -> None:
        theirs = RequestValidator("12345")
        for variant in url_variants(url):
            signature = theirs.compute_signature(variant, Repeating(pairs))

            assert signature == hmac_base64("12345", variant + signed_fields(pairs), "sha1")
            assert accepts(self.verifier, form(url, pairs, x_twilio_signature=signature), auth_token="12345")
            assert theirs.validate(url, Repeating(pairs), signature)


class Repeating(dict[str, list[str]]):
    """Fields that may repeat, as web frameworks hand them to the libraries."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        super().__init__()
        for name, value in pairs:
            self.setdefault(name, []).append(value)

    def getall(self, name: str) -> list[str]:
        return self[name]


class TestTelnyx:
    verifier = TelnyxVerifier()
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))

    def signed(self, case: Case) -> Webhook:
        headers = {"telnyx_timestamp": case["timestamp"]}
        if case["signature"] is not None:
            headers["telnyx_signature_ed25519"] = case["signature"]
        return posted("https://a.example/events/7", case["body"].encode(), **headers)

    @pytest.mark.parametrize("case", [case for case in cases("telnyx") if "timestamp" in case.values[0]])
    def test_published_case(self, case: Case) -> None:
        """Those without a ``check`` need more than the key: a clock, a header that is missing, a key that is none."""
        now = float(case.get("clock", case["timestamp"]))
        accepted = accepts(self.verifier, self.signed(case), now, webhook_public_key=case["public_key"])

        assert accepted is case["valid"]

    def test_the_standards_own_case(self) -> None:
        [case] = [case for case in CASES["telnyx"] if case["name"] == "rfc8032_test2"]
        key, signature, message = (
            bytes.fromhex(case[f"{name}_hex"]) for name in ("public_key", "signature", "message")
        )

        assert is_signed(key, signature, message)
        assert not is_signed(key, signature, message + b"\0")

    def sign(self, body: bytes, timestamp: str = "1700000000") -> Webhook:
        signature = base64.b64encode(self.key.sign(f"{timestamp}|".encode() + body)).decode()
        return posted("https://a.example/e", body, telnyx_timestamp=timestamp, telnyx_signature_ed25519=signature)

    @property
    def public_key(self) -> str:
        return base64.b64encode(self.key.public_key().public_bytes_raw()).decode()

    @pytest.mark.parametrize(("now", "is_fresh"), [(300, True), (-300, True), (301, False), (-301, False)])
    def test_five_minutes_and_no_more(self, now: int, is_fresh: bool) -> None:
        assert accepts(self.verifier, self.sign(b"{}"), NOW + now, webhook_public_key=self.public_key) is is_fresh

    def test_any_change_is_refused(self) -> None:
        right = self.sign(b'{"data":{}}')
        wrong = [
            replace(right, body=right.body + b" "),
            replace(right, headers={**right.headers, "telnyx-timestamp": "1700000001"}),
            replace(right, headers={**right.headers, "telnyx-timestamp": "soon"}),
            replace(right, headers={**right.headers, "telnyx-timestamp": ""}),
            replace(right, headers={"telnyx-timestamp": "1700000000"}),
        ]

        assert accepts(self.verifier, right, webhook_public_key=self.public_key)
        assert [accepts(self.verifier, webhook, webhook_public_key=self.public_key) for webhook in wrong] == [False] * 5
        others = base64.b64encode(Ed25519PrivateKey.generate().public_key().public_bytes_raw()).decode()
        assert not accepts(self.verifier, right, webhook_public_key=others)
        assert not accepts(self.verifier, right)

    def test_the_library_that_telnyxs_own_uses_agrees(self) -> None:
        body = b'{"data":{"event_type":"call.answered"}}'
        theirs = SigningKey(bytes(range(32)))
        signature = theirs.sign(b"1700000000|" + body).signature

        webhook = posted(
            "https://a.example/e",
            body,
            telnyx_timestamp="1700000000",
            telnyx_signature_ed25519=base64.b64encode(signature).decode(),
        )
        assert accepts(self.verifier, webhook, webhook_public_key=self.public_key)
        VerifyKey(base64.b64decode(self.public_key)).verify(
            b"1700000000|" + body, base64.b64decode(self.sign(body).headers["telnyx-signature-ed25519"])
        )
