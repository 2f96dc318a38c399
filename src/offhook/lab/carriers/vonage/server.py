"""Vonage's REST API for calls, and the events of their legs."""

import asyncio
import hashlib
import json
import secrets
import uuid
from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, urlsplit

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from offhook.kit.clock import Clock
from offhook.lab.carriers.core.callbacks import Callback, json_callback
from offhook.lab.carriers.core.calls import Call, Status
from offhook.lab.carriers.core.emulator import Emulator, Number
from offhook.lab.carriers.core.number_formats import bare, is_digits, plus
from offhook.lab.carriers.core.phones import Voice, hum
from offhook.lab.carriers.core.rest import Reply, Request
from offhook.lab.carriers.vonage import numbers
from offhook.lab.carriers.vonage.jwt import claims_of, hs256
from offhook.lab.carriers.vonage.ncco import Ncco

_LIVE: Final = {"queued": "started", "initiated": "started", "ringing": "ringing", "answered": "answered"}
_ENDED: Final = {
    "normal": "completed",
    "time_limit": "completed",
    "busy": "busy",
    "rejected": "rejected",
    "no_answer": "unanswered",
    "unreachable": "failed",
    "canceled": "cancelled",
    "failed": "failed",
}
_DETAILS: Final = {
    "rejected": "declined",
    "unreachable": "invalid_number",
    "no_answer": "timeout",
    "failed": "restricted",
}
_PAGE: Final = {"page_size": "10", "record_index": "0"}
_SECONDS: Final = "%Y-%m-%dT%H:%M:%SZ"


class VonageEmulator(Emulator):
    """``applications`` by id, as their REST resource; there is one from the start, whose addresses ``point_at`` sets.
    Numbers' settings: ``app_id``."""

    name = "vonage"

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum) -> None:
        super().__init__(clock=clock, voice=voice)
        self.api_key, self.api_secret = secrets.token_hex(4), secrets.token_urlsafe(12)
        self.signature_secret = secrets.token_urlsafe(24)
        self.application_id = str(uuid.uuid4())
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.applications: dict[str, dict[str, Any]] = {
            self.application_id: {"name": "Lab", "capabilities": {"voice": {"webhooks": {}, "signed_callbacks": True}}}
        }
        self.limits.calls_per_second = 3.0
        self.limits.requests_per_second = 15.0
        self.line_types: dict[str, str] = {}
        self.post.user_agent = "Vonage/VoiceApi"
        # an answer address is tried three times, and so is an event that we answer with a fault of ours
        self.post.attempts = 3
        self._tokens: set[str] = set()
        self.route("POST", "/v1/calls", self._create)
        self.route("GET", "/v1/calls", self._list)
        self.route("GET", "/v1/calls/{id}", self._fetch)
        self.route("PUT", "/v1/calls/{id}", self._update)
        numbers.add_routes(self)

    @property
    def credentials(self) -> dict[str, str]:
        pem = self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        return {
            "api_key": self.api_key,
            "api_secret": self.api_secret,
            "application_id": self.application_id,
            "private_key": pem,
            "signature_secret": self.signature_secret,
        }

    def point_at(self, url: str, /, event_url: str = "", method: str = "POST") -> None:
        """The first application's addresses for inbound calls."""
        webhooks = {"answer_url": {"address": url, "http_method": method}}
        if event_url:
            webhooks["event_url"] = {"address": event_url, "http_method": "POST"}
        self.applications[self.application_id]["capabilities"]["voice"]["webhooks"] = webhooks

    def new_id(self, kind: Literal["call", "stream", "number", "room", "other"]) -> str:
        return f"CON-{uuid.uuid4()}" if kind == "room" else str(uuid.uuid4())

    # who may ask

    def guard(self, request: Request) -> Reply | None:
        refusal = self._unauthorized(request)
        if refusal is not None:
            return refusal
        return None if self.has_room_for_request() else self.rate_limited()

    def _unauthorized(self, request: Request) -> Reply | None:
        """Calls take an application's token, each once; the rest takes key and secret."""
        if not request.path.startswith(("/v1/calls", "/identity-insights")):
            both = (request.field("api_key"), request.field("api_secret"))
            good = (self.api_key, self.api_secret)
            return None if request.basic() == good or both == good else _refusal(401)
        claims = claims_of(request.bearer() or "", self.key.public_key())
        if claims is None or claims.get("application_id") != self.application_id:
            return _refusal(401)
        now, token = self.now().timestamp(), str(claims.get("jti", ""))
        if not token or token in self._tokens or not claims.get("iat"):
            return _refusal(401)
        if float(claims.get("exp", now + 900)) <= now or float(claims["iat"]) > now + 60:
            return _refusal(401)
        self._tokens.add(token)
        return None

    def missing(self, request: Request) -> Reply:
        return _refusal(404)

    def rate_limited(self) -> Reply:
        return _refusal(429)

    def server_error(self) -> Reply:
        return _refusal(500)

    def sign(self, callback: Callback) -> Mapping[str, str]:
        """A token over the hash of what is sent: the body, or a GET's parameters as JSON in their order."""
        voice = self.applications[self.application_id].get("capabilities", {}).get("voice", {})
        if callback.forgery == "unsigned" or not voice.get("signed_callbacks", True):
            return {}
        payload = callback.body
        if callback.method == "GET":
            pairs = parse_qsl(urlsplit(callback.url).query, keep_blank_values=True)
            payload = json.dumps(dict(pairs), separators=(",", ":")).encode()
        claims = {
            "iat": int(self.now().timestamp()),
            "jti": str(uuid.uuid4()),
            "iss": "Vonage",
            "payload_hash": hashlib.sha256(payload).hexdigest(),
            "api_key": self.api_key,
            "application_id": self.application_id,
        }
        secret = secrets.token_urlsafe(24) if callback.forgery == "forged" else self.signature_secret
        return {"Authorization": f"Bearer {hs256(claims, secret)}"}

    # events

    def new_call(self, direction: Literal["inbound", "outbound"], *arguments: Any, **named: Any) -> Call:
        call = super().new_call(direction, *arguments, **named)
        call.extra["conversation"] = self.new_id("room")
        return call

    def status_of(self, call: Call) -> str:
        if call.status != "ended":
            return _LIVE[call.status]
        return "completed" if call.answered.is_set() else _ENDED[call.cause or "failed"]

    def answer_fields(self, call: Call) -> list[tuple[str, str]]:
        return [
            ("to", bare(call.to_number)),
            ("from", bare(call.from_number)),
            ("uuid", call.id),
            ("conversation_uuid", str(call.extra["conversation"])),
            ("endpoint_type", "phone"),
            ("region_url", self.base_url),
        ]

    def event_of(self, call: Call) -> dict[str, Any]:
        """The leg's part of an event."""
        leg: dict[str, Any] = {
            "uuid": call.id,
            "from": bare(call.from_number),
            "to": bare(call.to_number),
            "direction": call.direction,
        }
        if call.is_over and call.answered.is_set():
            minutes = -(-call.duration_s // 60)
            leg |= {
                "start_time": call.answered_at.isoformat() if call.answered_at else None,
                "end_time": call.ended_at.isoformat() if call.ended_at else None,
                "duration": str(call.duration_s),
                "rate": "0.01270000",
                "price": f"{0.0127 * minutes:.8f}",
                "network": "310456",
            }
        elif call.is_over:
            leg["detail"] = _DETAILS.get(call.cause or "", "unavailable")
        return leg

    def leg_event(self, call: Call, status: str, leg: Mapping[str, Any]) -> dict[str, Any]:
        at = self.now().isoformat().replace("+00:00", "Z")
        return {
            "direction": "outbound",
            **leg,
            "status": status,
            "conversation_uuid": call.extra["conversation"],
            "timestamp": at,
        }

    def tell_leg(self, call: Call, status: str, leg: Mapping[str, Any], url: str = "") -> None:
        """One event, to this address or the call's."""
        to = url or str(call.extra.get("event_url", ""))
        self.post.post(json_callback(f"event:{status}", to, self.leg_event(call, status, leg), call_id=call.id))

    def reports(self, call: Call, status: Status) -> None:
        if status == "ended" and call.extra.get("asks_at_end") and not call.answered.is_set():
            return
        if status == "ringing" and call.direction == "inbound":
            self._adopt(call)
            self.tell_leg(call, "started", self.event_of(call))
        self.tell_leg(call, self.status_of(call), self.event_of(call))

    def _adopt(self, call: Call) -> None:
        """An inbound call belongs to its number's application."""
        application = self.applications.get(self.hello(call.to_number).settings.get("app_id", self.application_id), {})
        webhooks = application.get("capabilities", {}).get("voice", {}).get("webhooks", {})
        call.extra["webhooks"] = webhooks
        call.extra["event_url"] = webhooks.get("event_url", {}).get("address", "")

    async def arrives(self, call: Call, number: Number) -> None:
        webhooks = call.extra["webhooks"]
        answer = webhooks.get("answer_url", {})
        if not answer.get("address"):
            call.end("unreachable", "carrier")
            return
        fallback = webhooks.get("fallback_answer_url", {}).get("address", "")
        await Ncco(self, call).fetch_and_run(answer["address"], answer.get("http_method", "GET"), fallback)

    # calls

    async def _create(self, request: Request) -> Reply:
        body = request.json
        to = (body.get("to") or [{}])[0]
        if to.get("type") != "phone" or not is_digits(str(to.get("number", ""))):
            return _refusal(400, "to", "must be a phone number without a plus")
        sender = str((body.get("from") or {}).get("number", ""))
        if body.get("random_from_number") and self.numbers:
            sender = bare(next(iter(self.numbers)))
        if plus(sender) not in self.numbers:
            return _refusal(400, "from", "is not a number of this account")
        for name in ("answer_url", "event_url"):
            if name in body and not _is_address_list(body[name]):
                return _refusal(400, name, "must be a list of one address")
        if ("answer_url" in body) == ("ncco" in body):
            return _refusal(400, "answer_url", "either an answer_url or an ncco")
        if not self.has_room_for_call():
            return self.rate_limited()
        call = self.new_call("outbound", plus(sender), plus(str(to["number"])))
        webhooks = self.applications[self.application_id]["capabilities"]["voice"].get("webhooks", {})
        events = body.get("event_url") or [webhooks.get("event_url", {}).get("address", "")]
        call.extra["event_url"] = events[0]

        async def answered() -> None:
            if body.get("machine_detection") or body.get("advanced_machine_detection"):
                call.beside(self._detect(call, body))
            ncco = Ncco(self, call)
            if "ncco" in body:
                await ncco.run(body["ncco"])
            else:
                await ncco.fetch_and_run(str(body["answer_url"][0]), str(body.get("answer_method") or "GET"))

        self.place(call, float(body.get("ringing_timer") or 60), answered)
        said = {"uuid": call.id, "conversation_uuid": call.extra["conversation"]}
        return Reply(201, {**said, "status": "started", "direction": "outbound"})

    async def _detect(self, call: Call, body: Mapping[str, Any]) -> None:
        """The verdict's event names the call in another field than all others."""
        await asyncio.sleep(call.plan.verdict_s)
        is_machine = call.plan.verdict == "machine"
        self._tell_verdict(call, {"status": "machine" if is_machine else "human"})
        advanced = body.get("advanced_machine_detection") or {}
        behaviour = body.get("machine_detection") or advanced.get("behavior")
        if is_machine and advanced.get("mode") in ("detect_beep", "default"):
            await asyncio.sleep(call.plan.greeting_s + 0.5)
            self._tell_verdict(
                call, {"status": "machine", "sub_state": "beep_start" if call.plan.beeps else "beep_timeout"}
            )
        if is_machine and behaviour == "hangup":
            call.end("normal", "carrier")

    def _tell_verdict(self, call: Call, verdict: Mapping[str, str]) -> None:
        event = self.leg_event(call, verdict["status"], self.event_of(call))
        event["call_uuid"] = event.pop("uuid")
        body = {**event, **verdict}
        self.post.post(json_callback(f"event:{verdict['status']}", str(call.extra["event_url"]), body, call_id=call.id))

    def _rendered(self, call: Call) -> dict[str, Any]:
        said = self.event_of(call)
        return {
            **said,
            "from": {"type": "phone", "number": said["from"]},
            "to": {"type": "phone", "number": said["to"]},
            "status": self.status_of(call),
            "conversation_uuid": call.extra["conversation"],
            "_links": {"self": {"href": f"/v1/calls/{call.id}"}},
        }

    async def _list(self, request: Request) -> Reply:
        begin = (request.query.get("date_start") or [""])[0]
        size, index = (int((request.query.get(name) or [most])[0]) for name, most in _PAGE.items())
        found = [self._rendered(call) for call in self.calls if call.created_at.strftime(_SECONDS) >= begin]
        page = {"count": len(found), "page_size": size, "record_index": index}
        return Reply(200, {**page, "_embedded": {"calls": found[index : index + size]}})

    async def _fetch(self, request: Request) -> Reply:
        call = self.call(request.parts["id"])
        return Reply(200, self._rendered(call)) if call is not None else self.missing(request)

    async def _update(self, request: Request) -> Reply:
        call, body = self.call(request.parts["id"]), request.json
        if call is None or call.is_over:
            return self.missing(request)
        if body.get("action") == "hangup":
            call.end("normal" if call.answered.is_set() else "canceled", "api")
            return Reply(204)
        if body.get("action") != "transfer":
            return _refusal(400, "action", "is not one that this call takes")
        if not call.answered.is_set():
            return _refusal(400, "action", "only an answered call can be transferred")
        destination = body.get("destination") or {}
        ncco = Ncco(self, call)
        if isinstance(destination.get("ncco"), list):
            call.run(ncco.run(destination["ncco"]))
        elif _is_address_list(destination.get("url")):
            call.run(ncco.fetch_and_run(str(destination["url"][0]), "GET"))
        else:
            return _refusal(400, "destination", "is neither an ncco nor a list of one address")
        call.connect(None)
        return Reply(204)


def _is_address_list(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 1 and str(value[0]).startswith(("http://", "https://"))


def _refusal(status: int, name: str = "", reason: str = "") -> Reply:
    titles = {400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Rate Limited", 500: "Internal Error"}
    body: dict[str, Any] = {
        "type": f"https://developer.vonage.com/api-errors#{titles[status].lower().replace(' ', '-')}",
        "title": titles[status],
        "detail": f"{name} {reason}".strip() or titles[status],
        "instance": secrets.token_hex(16),
    }
    if name:
        body["invalid_parameters"] = [{"name": name, "reason": reason}]
    return Reply(status, body, content_type="application/problem+json")
