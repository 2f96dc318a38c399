"""Vobiz's REST API: its differences from Plivo's, its numbers, and its three schemes to sign a callback."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from offhook.kit.clock import Clock
from offhook_lab.carriers.core.callbacks import OutgoingCallback
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.codecs import AudioTranscoder
from offhook_lab.carriers.core.emulator import EmulatedNumber
from offhook_lab.carriers.core.number_catalog import find_offers
from offhook_lab.carriers.core.number_formats import with_plus
from offhook_lab.carriers.core.phones import Voice, hum_words
from offhook_lab.carriers.core.plivo_like import PlivoLikeEmulator
from offhook_lab.carriers.core.plivo_media import L16, MULAW, PlivoLikeStream
from offhook_lab.carriers.core.plivo_xml import PlivoDocuments, requested_audio
from offhook_lab.carriers.core.rest import RestReply, RestRequest

_FROM_US: Final = {(MULAW, 8000), (L16, 8000), (L16, 16000), (L16, 24000)}


class VobizStream(PlivoLikeStream):
    """One media stream. Linear PCM is big-endian to us and little-endian from us. The directions are chosen
    separately: we can send any of ``_FROM_US``. ?? Digits are missing in one table of events and listed on another
    page: they are sent."""

    needs_stream_id = True
    plays_names_stream = False
    is_big_endian_to_us = True

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._readers: dict[tuple[str, int], AudioTranscoder] = {}

    def audio_from_us(self, kind: tuple[str, int]) -> AudioTranscoder | None:
        if kind not in _FROM_US:
            return None
        if kind not in self._readers:
            self._readers[kind] = AudioTranscoder("L16" if kind[0] == L16 else "PCMU", kind[1])
        return self._readers[kind]

    def obey_other(self, event: Any) -> bool:
        if event != "stop":
            return False
        # terminal: queued audio is never played
        self.playout.clear()
        self.was_stopped = True
        self.leave()
        return True


class VobizXml(PlivoDocuments):
    """Vobiz's rules for a <Stream>."""

    def refuses_stream(self, attributes: Mapping[str, str]) -> str | None:
        if attributes.get("bidirectional") == "true" and attributes.get("audioTrack", "inbound") != "inbound":
            return "a bidirectional Stream of both tracks hangs up"
        return None

    def new_stream(self, url: str, attributes: Mapping[str, str]) -> PlivoLikeStream:
        return VobizStream(
            self.owner.new_id("stream"),
            url,
            requested_audio(attributes),
            # an internal number, not the account's id
            {"callId": self.call.id, "accountId": "500042", "tracks": ["inbound"]},
            extra_headers=attributes.get("extraHeaders", ""),
            tunnels=self.owner.callback_sender.tunnels,
            fault=self.owner.chaos.for_socket(),
        )


def sign_v2(token: str, url: str, nonce: str) -> str:
    return _hmac_base64(token, _base_url(url) + nonce)


def sign_v3(token: str, url: str, nonce: str) -> str:
    return _hmac_base64(token, f"{_base_url(url)}.{nonce}")


def sign_body(token: str, timestamp: str, body: bytes) -> str:
    """Returns the pair ``x-vobiz-signature``/``x-vobiz-timestamp`` of hang-up and ring callbacks: hex, over time and
    body."""
    return hmac.new(token.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def _base_url(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def _hmac_base64(token: str, text: str) -> str:
    return base64.b64encode(hmac.new(token.encode(), text.encode(), hashlib.sha256).digest()).decode()


class VobizEmulator(PlivoLikeEmulator):
    """Emulates Vobiz. ``proofs`` are the schemes that sign callbacks: ``"nonce"`` (V2 and V3 headers), ``"body"``
    (the pair with a time, on hang-up and ring callbacks). Calls above 2 a second or 10 at once are refused with 429."""

    name = "vobiz"
    base = "/api/v1/Account"
    takes_plus = True
    tells_every_stop = False
    fired = "Call fired"

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum_words) -> None:
        super().__init__(clock=clock, voice=voice)
        self.limits.calls_per_second = 2.0
        self.limits.concurrent_calls = 10
        self.proofs = {"nonce", "body"}
        self.callback_sender.user_agent = "Vobiz"
        self.set_up(f"MA_{secrets.token_hex(4).upper()}", secrets.token_hex(20))
        base = f"{self.base}/{{account}}"
        self.add_route("GET", f"{base}/", self._get_account)
        self.add_route("GET", f"{base}/concurrency", self._get_concurrency)
        self.add_route("GET", f"{base}/cdr/{{id}}", self._get_cdr)
        self.add_route("GET", f"{base}/inventory/numbers", self._search_inventory)
        self.add_route("POST", f"{base}/numbers/purchase-from-inventory", self._buy_number)
        self.add_route("GET", f"{base}/numbers", self._list_numbers)
        self.add_route("POST", f"{base}/numbers/{{number}}/application", self._attach_application)
        self.add_route("DELETE", f"{base}/numbers/{{number}}/application", self._detach_application)
        self.add_route("DELETE", f"{base}/numbers/{{number}}", self._release_number)

    def check_request(self, request: RestRequest) -> RestReply | None:
        sent = (request.headers.get("x-auth-id"), request.headers.get("x-auth-token"))
        if sent != (self.auth_id, self.auth_token):
            return self.failure_reply(401, "Unauthorized")
        if not self.has_room_for_request():
            return self.rate_limited()
        account = request.path.removeprefix(f"{self.base}/").partition("/")[0]
        return self.not_found_reply(request) if account != self.auth_id else None

    def failure_reply(self, status: int, text: str) -> RestReply:
        return RestReply(status, {"error": text})

    async def may_call(self) -> RestReply | None:
        if self.limits.concurrent_calls is not None and len(self.live_calls) >= self.limits.concurrent_calls:
            return self.failure_reply(429, "concurrent call limit reached")
        return None if self.has_room_for_call() else self.failure_reply(429, "calls per second limit reached")

    def new_documents(self, call: EmulatedCall) -> PlivoDocuments:
        return VobizXml(self, call)

    def sign_callback(self, callback: OutgoingCallback) -> Mapping[str, str]:
        """Signs a callback. The nonce schemes cover the URL only, so body and query can be anything."""
        if callback.forgery == "unsigned":
            return {}
        token = secrets.token_hex(20) if callback.forgery == "forged" else self.auth_token
        headers = {}
        if "nonce" in self.proofs:
            nonce = str(secrets.randbelow(10**20))
            three, two = sign_v3(token, callback.url, nonce), sign_v2(token, callback.url, nonce)
            headers = {
                "X-Vobiz-Signature-V3": three,
                "X-Vobiz-Signature-MA-V3": three,
                "X-Vobiz-Signature-V3-Nonce": nonce,
                "X-Vobiz-Signature-V2": two,
                "X-Vobiz-Signature-MA-V2": two,
                "X-Vobiz-Signature-V2-Nonce": nonce,
            }
        if "body" in self.proofs and callback.kind in ("ring", "hangup"):
            at = str(int(self.now().timestamp()))
            headers |= {"x-vobiz-timestamp": at, "x-vobiz-signature": sign_body(token, at, callback.body)}
        return headers

    # account and numbers

    async def _get_account(self, request: RestRequest) -> RestReply:
        return RestReply(200, {"auth_id": self.auth_id, "name": "Lab", "is_active": True})

    async def _get_concurrency(self, request: RestRequest) -> RestReply:
        most, busy = self.limits.concurrent_calls or 10, len(self.live_calls)
        return RestReply(200, {"concurrent_calls": busy, "max_concurrent": most, "utilization_pct": 100 * busy / most})

    async def _get_cdr(self, request: RestRequest) -> RestReply:
        call = self.find_call(request.parts["id"])
        if call is None or not call.is_over:
            return self.not_found_reply(request)
        fields = dict(self.call_fields(call))
        minutes = -(-call.duration_s // 60)
        cost = {
            "duration": call.duration_s,
            "billsec": call.duration_s,
            "cost": round(0.5 * minutes, 4),
            "currency": "INR",
        }
        return RestReply(200, {"uuid": call.id, "from": fields["From"], "to": fields["To"], **cost})

    async def _fetch_call(self, request: RestRequest) -> RestReply:
        """Returns a call: a live one with ``status=live|queued``, a finished one without."""
        call = self.find_call(request.parts["id"])
        wants_live = (request.query.get("status") or [""])[0] in ("live", "queued")
        if call is None or call.is_over == wants_live:
            return self.not_found_reply(request)
        return await super()._fetch_call(request)

    async def _search_inventory(self, request: RestRequest) -> RestReply:
        country = (request.query.get("country") or ["IN"])[0].upper()
        search = (request.query.get("search") or [""])[0]
        found = find_offers(country, area=search if search.isdigit() else "", owned=self.numbers) or []
        items = [
            {"e164": one.e164, "country": country, "monthly_fee": 500, "setup_fee": 0, "currency": "INR"}
            for one in found
        ]
        return RestReply(200, {"items": items, "total": len(items), "page": 1, "per_page": 25})

    async def _buy_number(self, request: RestRequest) -> RestReply:
        wanted = str(request.json.get("e164") or "")
        if wanted in self.numbers or not wanted.startswith("+") or wanted.endswith("0000"):
            return self.failure_reply(404, "number is not in the inventory")
        return RestReply(200, self._render_number(self.add_number(wanted)))

    def _render_number(self, number: EmulatedNumber) -> dict[str, Any]:
        application = number.settings.get("app_id")
        return {"id": number.id, "e164": number.e164, "status": "active", "application_id": application}

    async def _list_numbers(self, request: RestRequest) -> RestReply:
        search = (request.query.get("search") or [""])[0].strip()
        items = [self._render_number(number) for number in self.numbers.values() if search in number.e164]
        return RestReply(200, {"items": items, "total": len(items), "page": 1, "per_page": 25})

    async def _attach_application(self, request: RestRequest) -> RestReply:
        number = self.numbers.get(with_plus(request.parts["number"]))
        application = str(request.json.get("application_id") or "")
        if number is None or application not in self.applications:
            return self.not_found_reply(request)
        number.settings["app_id"] = application
        return RestReply(200, self._render_number(number))

    async def _detach_application(self, request: RestRequest) -> RestReply:
        number = self.numbers.get(with_plus(request.parts["number"]))
        if number is None:
            return self.not_found_reply(request)
        number.settings["app_id"] = ""
        return RestReply(200, self._render_number(number))

    async def _release_number(self, request: RestRequest) -> RestReply:
        number = self.numbers.pop(with_plus(request.parts["number"]), None)
        if number is None:
            return self.not_found_reply(request)
        return RestReply(200, {**self._render_number(number), "status": "pending_release"})
