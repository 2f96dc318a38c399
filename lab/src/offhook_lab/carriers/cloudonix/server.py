"""Cloudonix's REST API for sessions, and its many session updates."""

import secrets
import uuid
from collections.abc import Mapping
from typing import Any, Final, Literal

from offhook.kit.clock import Clock
from offhook_lab.carriers.cloudonix import applications
from offhook_lab.carriers.cloudonix.documents import CloudonixDocuments
from offhook_lab.carriers.core.callbacks import OutgoingCallback, json_callback
from offhook_lab.carriers.core.calls import EmulatedCall, Status
from offhook_lab.carriers.core.documents import DocumentSource
from offhook_lab.carriers.core.emulator import CarrierEmulator, EmulatedNumber
from offhook_lab.carriers.core.number_formats import with_plus
from offhook_lab.carriers.core.phones import Voice, hum_words
from offhook_lab.carriers.core.rest import RestReply, RestRequest

# Update statuses by session status, in order; they repeat, at least ten of them per call.
_UPDATES: Final[Mapping[Status, tuple[str, ...]]] = {
    "initiated": ("new", "new", "processing", "processing"),
    "ringing": ("processing", "ringing", "ringing"),
    "answered": ("connected", "connected", "answer"),
}
_ENDED: Final = {
    "normal": ("completed", "ANSWER"),
    "time_limit": ("completed", "ANSWER"),
    "busy": ("busy", "BUSY"),
    "rejected": ("busy", "BUSY"),
    "no_answer": ("noanswer", "NOANSWER"),
    "unreachable": ("congestion", "CONGESTION"),
    "canceled": ("cancel", "CANCEL"),
    "failed": ("failed", "FAILED"),
}


class CloudonixEmulator(CarrierEmulator):
    """Emulates Cloudonix. ``domain_settings``: ``callback`` (updates of every session) and ``cdr`` addresses.
    Applications are stored by name; ``point_at`` sets the first one's address. Numbers' settings: ``application``."""

    name = "cloudonix"

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum_words) -> None:
        super().__init__(clock=clock, voice=voice)
        self.domain = f"lab{secrets.token_hex(3)}.cloudonix.net"
        self.bearer_token = f"XI{secrets.token_hex(16).upper()}"
        self.webhook_api_key = secrets.token_hex(20)
        self.application = "lab"
        self.applications: dict[str, dict[str, Any]] = {}
        self.applications[self.application] = {
            "id": str(uuid.uuid4()),
            "name": self.application,
            "url": "",
            "method": "GET",
        }
        self.domain_settings = {"callback": "", "cdr": ""}
        self.knows_marks = True
        # ?? the documentation mentions signatures on updates and CDRs and shows none: they carry the key as well
        self.proves_updates = True
        self.callback_sender.user_agent = "cloudonix/2.0"
        own = "/customers/self/domains/{domain}"
        self.add_route("POST", "/calls/{domain}/application", self._create_session)
        self.add_route("POST", "/calls/{domain}/sessions/{token}/application", self._switch_document)
        self.add_route("GET", f"{own}/sessions", self._list_sessions)
        self.add_route("GET", f"{own}/sessions/{{token}}", self._fetch_session)
        self.add_route("DELETE", f"{own}/sessions/{{token}}", self._hang_up)
        applications.add_routes(self, own)

    @property
    def credentials(self) -> dict[str, str]:
        return {
            "bearer_token": self.bearer_token,
            "domain_id": self.domain,
            "application_name": self.application,
            "webhook_api_key": self.webhook_api_key,
        }

    def point_at(self, url: str, /, method: str = "POST") -> None:
        """Sets the URL that answers calls to our numbers."""
        self.applications[self.application] |= {"url": url, "method": method}

    def new_id(self, kind: Literal["call", "stream", "number", "room", "other"]) -> str:
        return secrets.token_hex(16)

    # authorization

    def check_request(self, request: RestRequest) -> RestReply | None:
        if request.bearer_token() != self.bearer_token:
            return RestReply(401, {"message": "Insufficient authority"})
        if not self.has_room_for_request():
            return self.rate_limited()
        parts = request.path.strip("/").split("/")
        named = next((parts[at + 1] for at, part in enumerate(parts[:-1]) if part in ("calls", "domains")), "")
        # a domain can be named without its suffix
        return None if named in ("", self.domain, self.domain.partition(".")[0]) else self.not_found_reply(request)

    def not_found_reply(self, request: RestRequest) -> RestReply:
        return RestReply(404, "Not found", content_type="text/plain")

    def sign_callback(self, callback: OutgoingCallback) -> Mapping[str, str]:
        """Returns a static key, nothing else."""
        call = self.find_call(callback.call_id)
        headers = {"X-CX-Domain": self.domain, "X-CX-Source": "voice-app", "X-CX-Session": call.id if call else ""}
        if callback.forgery == "unsigned" or (not self.proves_updates and callback.kind.startswith(("status", "cdr"))):
            return headers
        key = secrets.token_hex(20) if callback.forgery == "forged" else self.webhook_api_key
        return {**headers, "X-CX-APIKey": key}

    # webhooks

    def new_call(self, direction: Literal["inbound", "outbound"], *arguments: Any, **named: Any) -> EmulatedCall:
        call = super().new_call(direction, *arguments, **named)
        # a name that REST does not use
        call.extra["call_sid"] = str(uuid.uuid4())
        return call

    def call_direction(self, call: EmulatedCall) -> str:
        return "inbound" if call.direction == "inbound" else "outbound-api"

    def status_of(self, call: EmulatedCall) -> str:
        if call.status != "ended":
            return {"queued": "new", "initiated": "new", "ringing": "ringing", "answered": "connected"}[call.status]
        return "completed" if call.answered.is_set() else _ENDED[call.cause or "failed"][0]

    def voice_fields(self, call: EmulatedCall) -> dict[str, Any]:
        return {
            "CallSid": call.extra["call_sid"],
            "From": call.from_number,
            "To": call.to_number,
            "CallerName": "",
            "Direction": self.call_direction(call),
            "CallStatus": "in-progress" if call.answered.is_set() else "ringing",
            "Session": call.id,
            "Domain": self.domain,
            "AccountSid": self.domain,
            "SessionData": {"token": call.id, "profile": {"trunk-sip-headers": {}}},
        }

    def render_session(self, call: EmulatedCall, status: str | None = None) -> dict[str, Any]:
        """Returns the session as REST and updates show it; times are in milliseconds."""
        times = {"callStartTime": call.created_at, "callAnswerTime": call.answered_at, "callEndTime": call.ended_at}
        return {
            "token": call.id,
            "domain": self.domain,
            "callerId": call.from_number,
            "destination": call.to_number,
            "direction": self.call_direction(call),
            "status": status or self.status_of(call),
            **{name: int(at.timestamp() * 1000) if at else None for name, at in times.items()},
        }

    def send_status(self, call: EmulatedCall, status: Status) -> None:
        words = _UPDATES.get(status) or (self.status_of(call),) * 2
        url = call.extra.get("callback") or self.domain_settings["callback"]
        for number, word in enumerate(words):
            body = self.render_session(call, word)
            # an object or a list of one, for no documented reason
            said = [body] if number % 2 else body
            self.callback_sender.enqueue(json_callback(f"status:{word}", url, said, call_id=call.id))
        if status == "ended" and call.parent is None:
            self._send_cdr(call)

    def _send_cdr(self, call: EmulatedCall) -> None:
        disposition = "ANSWER" if call.answered.is_set() else _ENDED[call.cause or "failed"][1]
        until = call.ended_at or self.now()
        body = {
            "call_id": call.extra["call_sid"],
            "domain": self.domain,
            "subscriber": None,
            "cx_trunk_id": 1,
            "application": self.application,
            "route": "",
            "from": call.from_number,
            "to": call.to_number,
            "disposition": disposition,
            "duration": round((until - call.created_at).total_seconds()),
            "billsec": call.duration_s,
            "timestamp": int(until.timestamp()),
            "vapp_server": "lab",
            "session": self.render_session(call),
        }
        self.callback_sender.enqueue(json_callback("cdr", self.domain_settings["cdr"], body, call_id=call.id))

    async def deliver_inbound(self, call: EmulatedCall, number: EmulatedNumber) -> None:
        application = self.applications.get(number.settings.get("application", self.application), {})
        if not application.get("url"):
            call.end("unreachable", "carrier")
            return
        source = DocumentSource(application["url"], application.get("method") or "GET")
        await CloudonixDocuments(self, call).run_document(source)

    # sessions

    async def _create_session(self, request: RestRequest) -> RestReply:
        body = request.json
        to = str(body.get("destination") or "")
        # the specification of 2021 has callerId, the documentation caller-id
        sender = str(body.get("caller-id") or body.get("callerId") or "")
        source = self._read_source(body)
        if not to.lstrip("+").isdigit() or not sender or source is None:
            missing = "destination" if not to else "caller-id" if not sender else "application, url or cxml"
            return RestReply(400, f"Missing {missing}", content_type="text/plain")
        call = self.new_call("outbound", with_plus(sender), with_plus(to))
        call.extra["callback"] = str(body.get("callback") or "")

        async def on_answered() -> None:
            await CloudonixDocuments(self, call).run_document(source)

        self.place_call(call, float(body.get("timeout") or 60), on_answered)
        said = {"domainId": 1, "subscriberId": 1, "destination": to, "direction": "outbound-api", "token": call.id}
        return RestReply(200, said)

    def _read_source(self, body: Mapping[str, Any]) -> DocumentSource | None:
        if text := body.get("cxml"):
            return DocumentSource(text=str(text))
        if str(body.get("url") or "").startswith(("http://", "https://")):
            return DocumentSource(str(body["url"]), str(body.get("method") or "GET"))
        application = self.applications.get(str(body.get("application") or ""))
        return DocumentSource(application["url"], application.get("method") or "GET") if application else None

    def _find_live_session(self, request: RestRequest) -> EmulatedCall | None:
        call = self.find_call(request.parts["token"])
        return call if call is not None and not call.is_over else None

    async def _switch_document(self, request: RestRequest) -> RestReply:
        """Switches a live session to another document."""
        call, source = self._find_live_session(request), self._read_source(request.json)
        if call is None:
            return self.not_found_reply(request)
        if source is None or not call.answered.is_set():
            return RestReply(400, "Nothing to switch to, or not connected yet", content_type="text/plain")
        call.run_program(CloudonixDocuments(self, call).run_document(source))
        call.connect_to(None)
        return RestReply(200, {"token": call.id})

    async def _list_sessions(self, request: RestRequest) -> RestReply:
        return RestReply(200, [self.render_session(call) for call in self.live_calls])

    async def _fetch_session(self, request: RestRequest) -> RestReply:
        call = self._find_live_session(request)
        return RestReply(200, self.render_session(call)) if call is not None else self.not_found_reply(request)

    async def _hang_up(self, request: RestRequest) -> RestReply:
        call = self._find_live_session(request)
        if call is None:
            return self.not_found_reply(request)
        call.end("normal" if call.answered.is_set() else "canceled", "api")
        return RestReply(204)
