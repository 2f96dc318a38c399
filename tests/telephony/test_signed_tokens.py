"""Whose webhook it is, where a token or a key says so: Vonage and Cloudonix."""

from dataclasses import replace
from typing import Any, ClassVar

import jwt
import pytest
from vonage_jwt.verify_jwt import verify_signature

from offhook.telephony.carrier_kit.signatures import sha256_hex
from offhook.telephony.ports import CarrierWebhook, WebhookProof
from offhook.telephony.providers.cloudonix.signature import CloudonixVerifier
from offhook.telephony.providers.vonage.signature import VonageVerifier, signed_claims
from tests.telephony.carrier_kit import account, got, posted
from tests.telephony.signature_cases import CASES, NOW, Case, accepts, cases


class TestVonage:
    verifier = VonageVerifier()
    config: ClassVar[dict[str, Any]] = {"api_key": "a1b2c3d", "application_id": "app1", "signature_secret": "s" * 32}
    body = b'{"status":"answered","uuid":"u1"}'

    @pytest.mark.parametrize("case", cases("vonage", scheme="jwt-hs256"))
    def test_published_case(self, case: Case) -> None:
        """``not_a_jwt`` has no ``check``: the library raises where we find nothing signed."""
        claims = signed_claims(case["token"], case["signature_secret"])

        assert (claims is not None) is case["valid"]
        assert claims == case.get("claims")
        assert signed_claims(case["token"], "another account's secret, long as well") is None

    def test_published_hash_of_a_body(self) -> None:
        [case] = [case for case in CASES["vonage"] if case["scheme"] == "payload_hash"]

        assert sha256_hex(case["body"].encode()) == case["payload_hash"]

    def token(self, secret: str = "s" * 32, algorithm: str = "HS256", **claims: Any) -> str:
        known = {
            "iss": "Vonage",
            "iat": int(NOW),
            "jti": "j1",
            "api_key": "a1b2c3d",
            "application_id": "app1",
            "payload_hash": sha256_hex(self.body),
        }
        wanted = {name: value for name, value in {**known, **claims}.items() if value is not None}
        return jwt.encode(wanted, secret, algorithm)

    def sent(self, token: str, body: bytes | None = None) -> CarrierWebhook:
        return posted(
            "https://a.example/events/7", self.body if body is None else body, authorization=f"Bearer {token}"
        )

    def test_what_vonage_sends(self) -> None:
        webhook = self.sent(self.token())

        assert self.verifier.verify(account("vonage", **self.config), webhook, NOW) == WebhookProof("j1")
        assert accepts(self.verifier, self.sent(self.token(application_id=None)), **self.config)
        assert verify_signature(self.token(), "s" * 32)
        assert not verify_signature(self.token(), "t" * 32)

    @pytest.mark.parametrize(
        "claims",
        [
            {"iss": "Somebody"},
            {"iss": None},
            {"api_key": "another"},
            {"api_key": None},
            {"application_id": "another"},
            {"payload_hash": sha256_hex(b"{}")},
            {"payload_hash": None},
            {"iat": int(NOW) - 301},
            {"iat": int(NOW) + 301},
            {"iat": None},
            {"iat": "now"},
            {"exp": int(NOW) - 301},
            {"secret": "t" * 32},
            {"algorithm": "HS512", "secret": "s" * 64},
            {"algorithm": "none", "secret": ""},
        ],
    )
    def test_what_it_does_not_send(self, claims: dict[str, Any]) -> None:
        assert not accepts(self.verifier, self.sent(self.token(**claims)), **self.config)

    def test_an_altered_body_or_none_of_it(self) -> None:
        assert not accepts(self.verifier, self.sent(self.token(), self.body + b" "), **self.config)
        assert not accepts(self.verifier, self.sent(self.token(), b""), **self.config)
        assert not accepts(self.verifier, self.sent("not.a.jwt"), **self.config)
        assert not accepts(self.verifier, posted("https://a.example/e", self.body), **self.config)
        without = {name: value for name, value in self.config.items() if name != "signature_secret"}
        assert not accepts(self.verifier, self.sent(self.token()), **without)

    def test_a_get_is_hashed_as_json_of_its_query(self) -> None:
        url = "https://a.example/answer?to=44&from=1%2B1&uuid=u1"
        right = self.token(payload_hash=sha256_hex(b'{"to":"44","from":"1+1","uuid":"u1"}'))

        assert accepts(self.verifier, got(url, authorization=f"Bearer {right}"), **self.config)
        assert not accepts(self.verifier, got(f"{url}&x=1", authorization=f"Bearer {right}"), **self.config)
        assert not accepts(self.verifier, got(url, authorization=f"Bearer {self.token()}"), **self.config)


class TestCloudonix:
    """There are no published cases: nothing is signed."""

    verifier = CloudonixVerifier()

    @pytest.mark.parametrize(
        ("key", "has_secret", "is_accepted"),
        [
            ("right", False, True),
            ("right", True, True),
            ("wrong", False, False),
            ("wrong", True, False),
            ("", True, False),
            (None, False, False),
            (None, True, True),
        ],
    )
    def test_the_key_or_the_secret_of_the_address(self, key: str | None, has_secret: bool, is_accepted: bool) -> None:
        webhook = posted("https://a.example/cdr", {}, **({} if key is None else {"x_cx_apikey": key}))

        accepted = accepts(self.verifier, replace(webhook, has_secret=has_secret), webhook_api_key="right")

        assert CASES["cloudonix"] == []
        assert accepted is is_accepted

    def test_without_a_configured_key_none_is_right(self) -> None:
        assert not accepts(self.verifier, posted("https://a.example/cdr", {}, x_cx_apikey=""), webhook_api_key="")
        assert not accepts(self.verifier, posted("https://a.example/cdr", {}, x_cx_apikey="x"))
