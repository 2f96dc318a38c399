"""Telnyx's REST API for calls and the events of calls."""

import asyncio
import base64
import json
import secrets
import uuid
from collections.abc import Mapping
from typing import Any, Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding as KeyEncoding
from cryptography.hazmat.primitives.serialization import PublicFormat

from offhook.kit.clock import Clock
from offhook.lab.carriers.core.callbacks import Callback, json_callback
from offhook.lab.carriers.core.calls import Call, Status
from offhook.lab.carriers.core.codecs import Encoding
from offhook.lab.carriers.core.emulator import Emulator, Number
from offhook.lab.carriers.core.number_formats import is_e164
from offhook.lab.carriers.core.phones import Voice, hum
from offhook.lab.carriers.core.rest import Reply, Request
from offhook.lab.carriers.telnyx import active_calls, conferences, numbers
from offhook.lab.carriers.telnyx.actions import Actions, stream_problem
from offhook.lab.carriers.telnyx.hangup_causes import how_it_ended
from offhook.lab.carriers.telnyx.replies import failure, ok
from offhook.lab.carriers.telnyx.stream import TelnyxStream

# How long a caller waits for somebody to answer.
PATIENCE_S = 60.0


class TelnyxEmulator(Emulator):
    """``applications`` by connection id, with Telnyx's names; there is one from the start, which inbound calls use:
    ``point_at(url)`` sets its webhook. Numbers' settings: ``connection_id``."""

    name = "telnyx"

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum) -> None:
        super().__init__(clock=clock, voice=voice)
        self.api_key = f"KEY{secrets.token_hex(16).upper()}_lab"
        self.key = Ed25519PrivateKey.generate()
        self.connection_id = str(secrets.randbelow(9 * 10**18) + 10**18)
        self.user_id = str(uuid.uuid4())
        self.applications: dict[str, dict[str, Any]] = {
            self.connection_id: {"application_name": "Lab", "webhook_event_url": ""}
        }
        self.leg_codec: Encoding = "PCMU"
        self.line_types: dict[str, str] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        self.post.user_agent = "telnyx-webhooks"
        self.post.attempts = 3
        self.post.is_fine = lambda status: 200 <= status < 300
        self._commands: set[tuple[str, str]] = set()
        self._dialled: dict[str, Call] = {}
        self.actions = Actions(self)
        self.route("POST", "/v2/calls", self._create)
        self.route("GET", "/v2/calls/{id}", self._fetch)
        self.route("POST", "/v2/calls/{id}/actions/{command}", self._command)
        self.route("GET", "/v2/balance", self._balance)
        active_calls.add_routes(self)
        conferences.add_routes(self)
        numbers.add_routes(self)

    @property
    def credentials(self) -> dict[str, str]:
        return {"api_key": self.api_key, "connection_id": self.connection_id, "webhook_public_key": self.public_key}

    @property
    def public_key(self) -> str:
        """As the portal shows it: base64 of 32 bytes."""
        return base64.b64encode(self.key.public_key().public_bytes(KeyEncoding.Raw, PublicFormat.Raw)).decode()

    def point_at(self, url: str, /) -> None:
        """Where the first application's events go."""
        self.applications[self.connection_id]["webhook_event_url"] = url

    def new_id(self, kind: Literal["call", "stream", "number", "room", "other"]) -> str:
        if kind == "call":
            return f"v3:{secrets.token_urlsafe(30)}"
        return str(secrets.randbelow(9 * 10**18) + 10**18) if kind == "number" else str(uuid.uuid4())

    # who may ask

    def guard(self, request: Request) -> Reply | None:
        if request.bearer() != self.api_key:
            detail = "The request could not be authenticated."
            return failure(401, "10009", "Authentication failed", detail)
        return None if self.has_room_for_request() else self.rate_limited()

    def missing(self, request: Request) -> Reply:
        return failure(404, "10005", "Resource not found", f"There is nothing at {request.path}.")

    def rate_limited(self) -> Reply:
        return failure(429, "10011", "Too many requests", "You have exceeded the maximum number of allowed requests.")

    def server_error(self) -> Reply:
        return failure(500, "10007", "Unexpected error", "An unexpected error occurred.")

    def sign(self, callback: Callback) -> Mapping[str, str]:
        """Ed25519 over the time and the raw body; the body says which attempt this is."""
        if callback.method == "GET":
            return {}
        if callback.attempt > 1:
            body = callback.json
            body["meta"]["attempt"] = callback.attempt
            callback.body = json.dumps(body).encode()
        if callback.forgery == "unsigned":
            return {}
        key = Ed25519PrivateKey.generate() if callback.forgery == "forged" else self.key
        at = str(int(self.now().timestamp()))
        signed = key.sign(f"{at}|".encode() + callback.body)
        return {"telnyx-signature-ed25519": base64.b64encode(signed).decode(), "telnyx-timestamp": at}

    # events

    def tell(self, call: Call, event: str, **payload: Any) -> None:
        """One event of a call."""
        application = self.applications.get(call.extra.get("connection_id", ""), {})
        url = call.extra.get("webhook_url") or application.get("webhook_event_url") or ""
        said = {
            "call_control_id": call.id,
            "call_leg_id": call.extra["leg_id"],
            "call_session_id": call.extra["session_id"],
            "connection_id": call.extra.get("connection_id"),
            "client_state": call.extra.get("client_state"),
            "from": call.from_number,
            "to": call.to_number,
            **payload,
        }
        data = {
            "record_type": "event",
            "event_type": event,
            "id": str(uuid.uuid4()),
            "occurred_at": self.now().isoformat().replace("+00:00", "Z"),
            "payload": said,
        }
        body = {"data": data, "meta": {"attempt": 1, "delivered_to": url}}
        self.post.post(json_callback(f"event:{event}", url, body, call_id=call.id))

    def new_call(self, direction: Literal["inbound", "outbound"], *arguments: Any, **named: Any) -> Call:
        call = super().new_call(direction, *arguments, **named)
        call.extra |= {"leg_id": str(uuid.uuid4()), "session_id": str(uuid.uuid4())}
        return call

    def reports(self, call: Call, status: Status) -> None:
        started = {"start_time": call.created_at.isoformat()}
        if status == "initiated" or (status == "ringing" and call.direction == "inbound"):
            is_in = call.direction == "inbound"
            words = (
                {"direction": "incoming", "state": "parked"}
                if is_in
                else {"direction": "outgoing", "state": "bridging"}
            )
            call.extra.setdefault(
                "connection_id", self.hello(call.to_number).settings.get("connection_id", self.connection_id)
            )
            self.tell(call, "call.initiated", **words, **started, caller_id_name=call.from_number)
        elif status == "answered":
            self.tell(call, "call.answered", state="answered", **started)
        elif status == "ended":
            self._tell_hangup(call, started)

    def _tell_hangup(self, call: Call, started: Mapping[str, str]) -> None:
        self.tell(call, "call.hangup", state="hangup", **started, end_time=self.now().isoformat(), **how_it_ended(call))
        application = self.applications.get(call.extra.get("connection_id", ""), {})
        if application.get("call_cost_in_webhooks") and call.duration_s:
            minutes = -(-call.duration_s // 60)
            costs = {"total_cost": f"{0.002 * minutes:.4f}", "billed_duration_secs": minutes * 60}
            self.tell(call, "call.cost", status="success", **costs)

    def pressed(self, call: Call, digit: str) -> None:
        self.tell(call, "call.dtmf.received", digit=digit)

    async def arrives(self, call: Call, number: Number) -> None:
        """Nothing happens until a command comes."""
        patience = call.plan.gives_up_s or PATIENCE_S
        try:
            async with asyncio.timeout(patience):
                await call.answered.wait()
        except TimeoutError:
            call.end("canceled", "caller")

    # calls

    async def _balance(self, request: Request) -> Reply:
        data = {"record_type": "balance", "balance": "100.00", "currency": "USD", "available_credit": "100.00"}
        return Reply(200, {"data": data})

    async def _create(self, request: Request) -> Reply:
        body = request.json
        command = body.get("command_id")
        if command and command in self._dialled:
            return ok(**self.rendered(self._dialled[command]))
        if refusal := _dial_refusal(self, body):
            return refusal
        call = self.new_call("outbound", str(body["from"]), str(body["to"]))
        call.extra["connection_id"] = str(body["connection_id"])
        self.remember(call, body)
        if body.get("link_to") and (linked := self.call(str(body["link_to"]))) is not None:
            call.extra["session_id"] = linked.extra["session_id"]
        if command:
            self._dialled[str(command)] = call
        reply = ok(**self.rendered(call))
        busy = self.limits.concurrent_calls
        if busy is not None and len([one for one in self.live_calls if one is not call]) >= busy:
            call.extra["sip"] = "403"
            self.tasks.start(self._over_limit(call), name="lab.telnyx")
        else:
            self.dial(call, body)
        return reply

    async def _over_limit(self, call: Call) -> None:
        """Too many calls at once is no HTTP error: the call is hung up with SIP 403."""
        call.move("initiated")
        call.end("rejected", "carrier")

    def dial(self, call: Call, body: Mapping[str, Any]) -> None:
        """Ring; its media socket opens before anybody has answered, and starts when somebody has."""
        if body.get("stream_url"):
            self.open_stream(call, body)

        async def answered() -> None:
            if stream := _of(call):
                await stream.opened.wait()
                self._begin(call, stream)
            if (detect := body.get("answering_machine_detection", "disabled")) != "disabled":
                call.beside(self._detect(call, str(detect)))

        self.place(call, float(body.get("timeout_secs") or 30), answered)

    def remember(self, call: Call, body: Mapping[str, Any]) -> None:
        """What any command may set for the events to come."""
        for name in ("webhook_url", "client_state"):
            if body.get(name):
                call.extra[name] = body[name]

    def open_stream(self, call: Call, settings: Mapping[str, Any]) -> TelnyxStream:
        start = {
            "user_id": self.user_id,
            "call_control_id": call.id,
            "call_session_id": call.extra["session_id"],
            "from": call.from_number,
            "to": call.to_number,
            "tags": [],
            "client_state": call.extra.get("client_state"),
            "custom_parameters": {one["name"]: one["value"] for one in settings.get("custom_parameters") or ()},
        }
        stream = TelnyxStream(
            self.new_id("stream"),
            settings,
            start,
            self.leg_codec,
            tunnels=self.post.tunnels,
            fault=self.chaos.for_socket(),
        )
        self.attach(call, stream)
        self.tasks.start(self._follow(call, stream), name="lab.telnyx.stream")
        return stream

    async def _follow(self, call: Call, stream: TelnyxStream) -> None:
        await stream.opened.wait()
        if call.answered.is_set():
            self._begin(call, stream)
        await stream.over.wait()
        news = {"stream_id": stream.id, "stream_url": stream.url}
        if stream.failure:
            self.tell(call, "streaming.failed", failure_reason="connection_failed", **news)
        elif stream.frames_sent or "begun" in call.extra:
            self.tell(call, "streaming.stopped", **news)
        # the call itself goes on: it ends by command, or when the phone hangs up
        if call.side is stream:
            call.connect(None)

    def _begin(self, call: Call, stream: TelnyxStream) -> None:
        if stream.state == "open":
            stream.begin()
            call.extra["begun"] = True
            self.tell(call, "streaming.started", stream_id=stream.id, stream_url=stream.url)

    async def _detect(self, call: Call, mode: str) -> None:
        plan = call.plan
        await asyncio.sleep(plan.verdict_s)
        is_premium = mode == "premium"
        prefix = "call.machine.premium" if is_premium else "call.machine"
        plain = {"human": "human", "machine": "machine", "fax": "machine", "unknown": "not_sure"}
        premium = {**plain, "human": "human_residence", "fax": "fax_detected"}
        self.tell(call, f"{prefix}.detection.ended", result=(premium if is_premium else plain)[plan.verdict])
        if plan.verdict == "machine" and mode in ("detect_beep", "greeting_end", "premium"):
            await asyncio.sleep(plan.greeting_s + 0.5)
            self.tell(call, f"{prefix}.greeting.ended", result="beep_detected" if plan.beeps else "ended")

    def rendered(self, call: Call) -> dict[str, Any]:
        return {
            "record_type": "call",
            "call_control_id": call.id,
            "call_leg_id": call.extra["leg_id"],
            "call_session_id": call.extra["session_id"],
            "is_alive": not call.is_over and call.answered.is_set(),
            "client_state": call.extra.get("client_state"),
        }

    async def _fetch(self, request: Request) -> Reply:
        call = self.call(request.parts["id"])
        if call is None:
            return self.missing(request)
        times = {"start_time": call.created_at.isoformat(), "call_duration": call.duration_s}
        return ok(**self.rendered(call), **times)

    async def _command(self, request: Request) -> Reply:
        call = self.call(request.parts["id"])
        if call is None:
            return self.missing(request)
        body, command = request.json, str(request.json.get("command_id") or "")
        if command and (call.id, command) in self._commands:
            return ok(result="ok")
        if call.is_over:
            return failure(422, "90018", "Call has already ended", "This call is no longer active.")
        reply = await self.actions.run(call, request.parts["command"], body)
        if reply is None:
            return self.missing(request)
        if command and reply.status == 200:
            self._commands.add((call.id, command))
        return reply


def _of(call: Call) -> TelnyxStream | None:
    return call.stream if isinstance(call.stream, TelnyxStream) else None


def _dial_refusal(server: TelnyxEmulator, body: Mapping[str, Any]) -> Reply | None:
    for name in ("to", "from"):
        if not is_e164(str(body.get(name, ""))):
            detail = f"The '{name}' parameter must be a phone number in E.164 format."
            return failure(422, "10016", "Phone number must be in +E.164 format", detail, f"/{name}")
    if str(body.get("connection_id", "")) not in server.applications:
        detail = "Invalid value for connection_id (Call Control App ID)."
        return failure(422, "10015", "Invalid value", detail, "/connection_id")
    if body["from"] not in server.numbers:
        detail = "Unverified origination number D51"
        return failure(403, "10010", "Authorization failed", detail, "/from")
    return stream_problem(body)
