"""Whose webhook it is: the carriers' published cases, and everything that must not pass."""

import base64
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nacl.signing import SigningKey, VerifyKey
from plivo.utils import validate_v3_signature
from twilio.request_validator import RequestValidator

from offhook.telephony.carrier_kit.signatures import hmac_base64, hmac_hex, sha256_hex
from offhook.telephony.ports import CarrierWebhook, WebhookProof
from offhook.telephony.providers.plivo.signature import PlivoVerifier, signed_text
from offhook.telephony.providers.telnyx.signature import TelnyxVerifier, is_signed
from offhook.telephony.providers.twilio.signature import TwilioVerifier, signed_fields, url_variants
from offhook.telephony.providers.vobiz.signature import VobizVerifier, base_url
from tests.telephony.carrier_kit import account, form, got, posted
from tests.telephony.signature_cases import CASES, NOW, Case, accepts, cases, flat


class TestTwilio:
    verifier = TwilioVerifier()

    def signed(self, case: Case) -> CarrierWebhook:
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

        assert proof == WebhookProof(nonce=case["signature"])

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

    def signed(self, case: Case) -> CarrierWebhook:
        headers = {"telnyx_timestamp": case["timestamp"]}
        if case["signature"] is not None:
            headers["telnyx_signature_ed25519"] = case["signature"]
        return posted("https://a.example/events/7", case["body"].encode(), **headers)

    @pytest.mark.parametrize("case", [case for case in cases("telnyx") if "timestamp" in case.values[0]])
    def test_published_case(self, case: Case) -> None:
        """Those without a ``check`` need more than the key: a clock, a header that is missing, a key that is none."""
        now = float(case["clock"] if "clock" in case else case["timestamp"])
        accepted = accepts(self.verifier, self.signed(case), now, webhook_public_key=case["public_key"])

        assert accepted is case["valid"]

    def test_the_standards_own_case(self) -> None:
        [case] = [case for case in CASES["telnyx"] if case["name"] == "rfc8032_test2"]
        key, signature, message = (
            bytes.fromhex(case[f"{name}_hex"]) for name in ("public_key", "signature", "message")
        )

        assert is_signed(key, signature, message)
        assert not is_signed(key, signature, message + b"\0")

    def sign(self, body: bytes, timestamp: str = "1700000000") -> CarrierWebhook:
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


class TestPlivo:
    verifier = PlivoVerifier()
    url = "https://voice.example.org/hangup?token=s3cret&run=7"

    def signed(self, case: Case) -> CarrierWebhook:
        headers = {"x_plivo_signature_v3": case["signature"], "x_plivo_signature_v3_nonce": case["nonce"]}
        query = urlencode(flat(case["params"]))
        url = f"{case['url']}{'&' if '?' in case['url'] else '?'}{query}"
        return got(url, **headers)

    @pytest.mark.parametrize("case", cases("plivo", scheme="v3"))
    def test_published_case(self, case: Case) -> None:
        covered = signed_text(case["method"], case["url"], flat(case["params"]), case["nonce"])

        assert covered == case["string_to_sign"]
        assert hmac_base64(case["auth_token"], covered) == case["signature"]
        assert accepts(self.verifier, self.signed(case), auth_token=case["auth_token"]) is case["valid"]

    @pytest.mark.parametrize("case", cases("plivo", scheme="v2"))
    def test_version_2_is_computed_and_never_taken(self, case: Case) -> None:
        """It covers neither query nor body; the formula is Vobiz's too."""
        is_right = hmac_base64(case["auth_token"], base_url(case["url"]) + case["nonce"]) == case["signature"]
        headers = {"x_plivo_signature_v2": case["signature"], "x_plivo_signature_v2_nonce": case["nonce"]}

        assert is_right is case["valid"]
        assert not accepts(self.verifier, got(case["url"], **headers), auth_token=case["auth_token"])

    def sign(self, url: str, pairs: list[tuple[str, str]], method: str = "POST", header: str = "v3") -> CarrierWebhook:
        signature = hmac_base64("token", signed_text(method, url, pairs if method == "POST" else [], "n1"))
        headers = {f"x_plivo_signature_{header}": f"AAAA, {signature}", "x_plivo_signature_v3_nonce": "n1"}
        return form(url, pairs, **headers) if method == "POST" else got(url, **headers)

    @pytest.mark.parametrize("header", ["v3", "ma_v3"])
    def test_one_of_several_signatures_of_either_account(self, header: str) -> None:
        webhook = self.sign(self.url, [("CallUUID", "1")], header=header)

        assert self.verifier.verify(account("plivo", auth_token="token"), webhook, NOW) == WebhookProof("n1")

    def test_any_change_is_refused(self) -> None:
        right = self.sign(self.url, [("CallUUID", "1"), ("CallStatus", "ringing")])
        wrong = [
            replace(right, body=right.body.replace(b"ringing", b"completed")),
            replace(right, body=right.body + b"&Duration=1"),
            replace(right, url=right.url.replace("run=7", "run=8")),
            replace(right, url=right.url.replace("/hangup", "/ring")),
            replace(right, headers={**right.headers, "x-plivo-signature-v3-nonce": "n2"}),
            replace(right, headers={**right.headers, "x-plivo-signature-v3-nonce": ""}),
            replace(right, headers={**right.headers, "x-plivo-signature-v3": ""}),
            replace(right, headers={**right.headers, "content-type": "application/json"}, body=b"{}"),
            replace(right, method="GET"),
        ]

        assert accepts(self.verifier, right, auth_token="token")
        assert [accepts(self.verifier, webhook, auth_token="token") for webhook in wrong] == [False] * len(wrong)
        assert not accepts(self.verifier, right, auth_token="another account's")

    @pytest.mark.parametrize("url", ["https://a.example/x", "https://a.example:8443/x/?b=2&a=1&a=0&c="])
    @pytest.mark.parametrize("pairs", [[], [("To", "+1"), ("From", "a b"), ("To", "+0"), ("Empty", ""), ("Z", "~")]])
    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_plivos_own_library_agrees(self, method: str, url: str, pairs: list[tuple[str, str]]) -> None:
        if method == "GET" and pairs:
            url = f"{url}{'&' if '?' in url else '?'}{urlencode(pairs)}"
        webhook = self.sign(url, pairs, method)
        signature = webhook.headers["x-plivo-signature-v3"].removeprefix("AAAA, ")
        params = {name: values if len(values) > 1 else values[0] for name, values in Repeating(pairs).items()}

        assert accepts(self.verifier, webhook, auth_token="token")
        assert validate_v3_signature(method, url, "n1", "token", signature, params if method == "POST" else {})


class TestVobiz:
    verifier = VobizVerifier()

    @pytest.mark.parametrize("case", cases("vobiz"))
    def test_published_case(self, case: Case) -> None:
        """Vobiz publishes formulas and no values: version 2 is Plivo's, whose cases these are; the one of version 3
        (without a ``check``) was derived from the formula."""
        scheme = case["scheme"]
        headers = {f"x_vobiz_signature_{scheme}": case["signature"], f"x_vobiz_signature_{scheme}_nonce": case["nonce"]}

        accepted = accepts(self.verifier, posted(case["url"], {"any": 1}, **headers), auth_token=case["auth_token"])

        assert accepted is case["valid"]

    def dated(self, body: bytes, timestamp: str = "1700000000") -> CarrierWebhook:
        signature = hmac_hex("token", f"{timestamp}.".encode() + body)
        return posted("https://a.example/h?x=1", body, x_vobiz_signature=signature, x_vobiz_timestamp=timestamp)

    @pytest.mark.parametrize(("now", "is_fresh"), [(300, True), (-300, True), (301, False), (-301, False)])
    def test_the_pair_with_a_time(self, now: int, is_fresh: bool) -> None:
        assert accepts(self.verifier, self.dated(b"{}"), NOW + now, auth_token="token") is is_fresh

    def test_where_it_is_sent_it_decides(self) -> None:
        """Version 3 beside it would take any body."""
        url, nonce = "https://a.example/h", "n1"
        version3 = {
            "x-vobiz-signature-v3": hmac_base64("token", f"{url}.{nonce}"),
            "x-vobiz-signature-v3-nonce": nonce,
        }
        right = self.dated(b'{"CallStatus":"ringing"}')
        both = replace(right, url=url, headers={**right.headers, **version3})

        assert accepts(self.verifier, both, auth_token="token")
        assert not accepts(self.verifier, replace(both, body=b'{"CallStatus":"completed"}'), auth_token="token")
        for change in ({"x-vobiz-timestamp": "1700000001"}, {"x-vobiz-timestamp": ""}, {"x-vobiz-signature": ""}):
            assert not accepts(self.verifier, replace(both, headers={**both.headers, **change}), auth_token="token")
        assert not accepts(self.verifier, both, auth_token="another account's")

    @pytest.mark.parametrize("header", ["v3", "ma-v3", "v2", "ma-v2"])
    def test_versions_3_and_2_cover_the_path_and_a_nonce(self, header: str) -> None:
        url, nonce = "https://a.example/h?x=1", "n1"
        dot = "." if header.endswith("v3") else ""
        headers = {
            f"x-vobiz-signature-{header}": hmac_base64("token", f"https://a.example/h{dot}{nonce}"),
            f"x-vobiz-signature-{header[-2:]}-nonce": nonce,
        }
        right = replace(posted(url, {}), headers=headers)

        assert self.verifier.verify(account("vobiz", auth_token="token"), right, NOW) == WebhookProof("n1")
        wrong = [
            replace(right, url="https://a.example/h2?x=1"),
            replace(right, headers={**headers, f"x-vobiz-signature-{header[-2:]}-nonce": "n2"}),
            replace(right, headers={**headers, f"x-vobiz-signature-{header}": "AAAA"}),
            replace(right, headers={}),
        ]
        assert [accepts(self.verifier, webhook, auth_token="token") for webhook in wrong] == [False] * 4
        assert not accepts(self.verifier, right)

    @pytest.mark.parametrize("scheme", ["v3", "v2"])
    def test_the_platforms_account_does_not_speak_for_its_sub_accounts(self, scheme: str) -> None:
        """The operator may have sub-accounts whose holders choose where their callbacks go."""
        url = "https://a.example/inbound/run"
        signature = hmac_base64("token", f"{url}{'.' if scheme == 'v3' else ''}n1")
        platform = replace(account("vobiz", auth_token="token"), is_managed=True)
        for owner, is_right in (("", True), ("ma_", False)):
            headers = {f"x_vobiz_signature_{owner}{scheme}": signature, f"x_vobiz_signature_{scheme}_nonce": "n1"}
            assert (self.verifier.verify(platform, posted(url, {}, **headers), NOW) is not None) is is_right

    def test_the_nonce_of_a_run_without_its_secret_is_not_enough(self) -> None:
        """A pair that was seen once would do for any body: an address of a run must carry the run's secret."""
        url = "https://a.example/vobiz/hangup-callback/7"
        headers = {"x_vobiz_signature_v3": hmac_base64("token", f"{url}.n1"), "x_vobiz_signature_v3_nonce": "n1"}
        webhook = posted(f"{url}?token=x", {}, **headers)

        assert not accepts(self.verifier, webhook, auth_token="token")
        assert accepts(self.verifier, replace(webhook, has_secret=True), auth_token="token")
