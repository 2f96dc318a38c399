"""Telnyx's REST API for calls, and the calls' events."""

import asyncio
import secrets
import uuid
from collections.abc import Mapping
from typing import Any, Literal

from offhook.kit.clock import Clock
from offhook_lab.carriers.core.callbacks import json_callback
from offhook_lab.carriers.core.calls import EmulatedCall, Status
from offhook_lab.carriers.core.codecs import Encoding
from offhook_lab.carriers.core.emulator import EmulatedNumber
from offhook_lab.carriers.core.number_formats import is_e164
from offhook_lab.carriers.core.phones import Voice, hum_words
from offhook_lab.carriers.core.rest import RestReply, RestRequest
from offhook_lab.carriers.telnyx import accounts, active_calls, conferences, numbers
from offhook_lab.carriers.telnyx.accounts import TelnyxAccounts, public_key
from offhook_lab.carriers.telnyx.actions import CallActions, stream_problem
from offhook_lab.carriers.telnyx.hangup_causes import hangup_fields
from offhook_lab.carriers.telnyx.replies import failure_reply, ok_reply
from offhook_lab.carriers.telnyx.stream import TelnyxStream

# Default time that a caller waits for an answer.
INBOUND_TIMEOUT_S = 60.0


class TelnyxEmulator(TelnyxAccounts):
    """Emulates Telnyx. ``applications`` are stored by connection id, with Telnyx's names; there is one from the
    start, for inbound calls: ``point_at(url)`` sets its webhook. Numbers' settings: ``connection_id``."""

    name = "telnyx"

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum_words) -> None:
        super().__init__(clock=clock, voice=voice)
        self.leg_codec: Encoding = "PCMU"
        self.line_types: dict[str, str] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        self.callback_sender.user_agent = "telnyx-webhooks"
        self.callback_sender.attempts = 3
        self.callback_sender.is_accepted = lambda status: 200 <= status < 300
        self._commands: set[tuple[str, str]] = set()
        self._dialled: dict[str, EmulatedCall] = {}
        self.actions = CallActions(self)
        self.add_route("POST", "/v2/calls", self._create_call)
        self.add_route("GET", "/v2/calls/{id}", self._fetch_call)
        self.add_route("POST", "/v2/calls/{id}/actions/{command}", self._run_command)
        self.add_route("GET", "/v2/balance", self._get_balance)
        accounts.add_routes(self)
        active_calls.add_routes(self)
        conferences.add_routes(self)
        numbers.add_routes(self)

    @property
    def credentials(self) -> dict[str, str]:
        return {"api_key": self.api_key, "connection_id": self.connection_id, "webhook_public_key": self.public_key}

    @property
    def public_key(self) -> str:
        """Returns the key as the portal shows it: base64 of 32 bytes."""
        return public_key(self.key)

    def point_at(self, url: str, /) -> None:
        """Sets the URL for the first application's events."""
        self.applications[self.connection_id]["webhook_event_url"] = url

    def new_id(self, kind: Literal["call", "stream", "number", "room", "other"]) -> str:
        if kind == "call":
            return f"v3:{secrets.token_urlsafe(30)}"
        return str(secrets.randbelow(9 * 10**18) + 10**18) if kind == "number" else str(uuid.uuid4())

    # authorization

    def check_request(self, request: RestRequest) -> RestReply | None:
        if self.account_asking(request) is None:
            detail = "The request could not be authenticated."
            return failure_reply(401, "10009", "Authentication failed", detail)
        return None if self.has_room_for_request() else self.rate_limited()

    def not_found_reply(self, request: RestRequest) -> RestReply:
        return failure_reply(404, "10005", "Resource not found", f"There is nothing at {request.path}.")

    def rate_limited(self) -> RestReply:
        return failure_reply(
            429, "10011", "Too many requests", "You have exceeded the maximum number of allowed requests."
        )

    def server_error(self) -> RestReply:
        return failure_reply(500, "10007", "Unexpected error", "An unexpected error occurred.")

    # events

    def send_event(self, call: EmulatedCall, event: str, **payload: Any) -> None:
        """Sends one event of a call."""
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
        self.callback_sender.enqueue(json_callback(f"event:{event}", url, body, call_id=call.id))

    def new_call(self, direction: Literal["inbound", "outbound"], *arguments: Any, **named: Any) -> EmulatedCall:
        call = super().new_call(direction, *arguments, **named)
        call.extra |= {"leg_id": str(uuid.uuid4()), "session_id": str(uuid.uuid4())}
        return call

    def send_status(self, call: EmulatedCall, status: Status) -> None:
        started = {"start_time": call.created_at.isoformat()}
        if status == "initiated" or (status == "ringing" and call.direction == "inbound"):
            is_in = call.direction == "inbound"
            words = (
                {"direction": "incoming", "state": "parked"}
                if is_in
                else {"direction": "outgoing", "state": "bridging"}
            )
            call.extra.setdefault(
                "connection_id", self.number_for(call.to_number).settings.get("connection_id", self.connection_id)
            )
            self.send_event(call, "call.initiated", **words, **started, caller_id_name=call.from_number)
        elif status == "answered":
            self.send_event(call, "call.answered", state="answered", **started)
        elif status == "ended":
            self._send_hangup(call, started)

    def _send_hangup(self, call: EmulatedCall, started: Mapping[str, str]) -> None:
        self.send_event(
            call, "call.hangup", state="hangup", **started, end_time=self.now().isoformat(), **hangup_fields(call)
        )
        application = self.applications.get(call.extra.get("connection_id", ""), {})
        if application.get("call_cost_in_webhooks") and call.duration_s:
            minutes = -(-call.duration_s // 60)
            costs = {"total_cost": f"{0.002 * minutes:.4f}", "billed_duration_secs": minutes * 60}
            self.send_event(call, "call.cost", status="success", **costs)

    def report_digit(self, call: EmulatedCall, digit: str) -> None:
        self.send_event(call, "call.dtmf.received", digit=digit)

    async def deliver_inbound(self, call: EmulatedCall, number: EmulatedNumber) -> None:
        """Announces the call; nothing else happens until a command arrives."""
        patience = call.plan.gives_up_s or INBOUND_TIMEOUT_S
        try:
            async with asyncio.timeout(patience):
                await call.answered.wait()
        except TimeoutError:
            call.end("canceled", "caller")

    # calls

    async def _get_balance(self, request: RestRequest) -> RestReply:
        data = {"record_type": "balance", "balance": "100.00", "currency": "USD", "available_credit": "100.00"}
        return RestReply(200, {"data": data})

    async def _create_call(self, request: RestRequest) -> RestReply:
        body = request.json
        command = body.get("command_id")
        if command and command in self._dialled:
            return ok_reply(**self.render_call(self._dialled[command]))
        if refusal := _dial_refusal(self, request):
            return refusal
        call = self.new_call("outbound", str(body["from"]), str(body["to"]))
        call.extra["connection_id"] = str(body["connection_id"])
        self.remember_settings(call, body)
        if body.get("link_to") and (linked := self.find_call(str(body["link_to"]))) is not None:
            call.extra["session_id"] = linked.extra["session_id"]
        if command:
            self._dialled[str(command)] = call
        reply = ok_reply(**self.render_call(call))
        busy = self.limits.concurrent_calls
        if busy is not None and len([one for one in self.live_calls if one is not call]) >= busy:
            call.extra["sip"] = "403"
            self.tasks.start(self._reject_over_limit(call), name="lab.telnyx")
        else:
            self.dial_call(call, body)
        return reply

    async def _reject_over_limit(self, call: EmulatedCall) -> None:
        """Hangs up a call above the limit with SIP 403; it is no HTTP error."""
        call.advance_to("initiated")
        call.end("rejected", "carrier")

    def dial_call(self, call: EmulatedCall, body: Mapping[str, Any]) -> None:
        """Rings the phone. Its media socket opens before the answer, and starts with it."""
        if body.get("stream_url"):
            self.open_stream(call, body)

        async def on_answered() -> None:
            if stream := _of(call):
                await stream.opened.wait()
                self._begin_stream(call, stream)
            if (detect := body.get("answering_machine_detection", "disabled")) != "disabled":
                call.run_beside(self._detect_machine(call, str(detect)))

        self.place_call(call, float(body.get("timeout_secs") or 30), on_answered)

    def remember_settings(self, call: EmulatedCall, body: Mapping[str, Any]) -> None:
        """Stores settings that any command can set for later events."""
        for name in ("webhook_url", "client_state"):
            if body.get(name):
                call.extra[name] = body[name]

    def open_stream(self, call: EmulatedCall, settings: Mapping[str, Any]) -> TelnyxStream:
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
            tunnels=self.callback_sender.tunnels,
            fault=self.chaos.for_socket(),
        )
        self.attach_stream(call, stream)
        self.tasks.start(self._follow_stream(call, stream), name="lab.telnyx.stream")
        return stream

    async def _follow_stream(self, call: EmulatedCall, stream: TelnyxStream) -> None:
        await stream.opened.wait()
        if call.answered.is_set():
            self._begin_stream(call, stream)
        await stream.over.wait()
        if stream.failure:
            told = {"failure_reason": "connection_failed", "stream_params": {"stream_url": stream.url}}
            self.send_event(call, "streaming.failed", stream_id=stream.id, **told)
        elif stream.frames_sent or "begun" in call.extra:
            self.send_event(call, "streaming.stopped", stream_id=stream.id, stream_url=stream.url)
        # the call itself continues: it ends by command, or when the phone hangs up
        if call.peer is stream:
            call.connect_to(None)

    def _begin_stream(self, call: EmulatedCall, stream: TelnyxStream) -> None:
        if stream.state == "open":
            stream.begin_audio()
            call.extra["begun"] = True
            self.send_event(call, "streaming.started", stream_id=stream.id, stream_url=stream.url)

    async def _detect_machine(self, call: EmulatedCall, mode: str) -> None:
        plan = call.plan
        await asyncio.sleep(plan.verdict_s)
        is_premium = mode == "premium"
        prefix = "call.machine.premium" if is_premium else "call.machine"
        plain = {"human": "human", "machine": "machine", "fax": "machine", "unknown": "not_sure"}
        premium = {**plain, "human": "human_residence", "fax": "fax_detected"}
        self.send_event(call, f"{prefix}.detection.ended", result=(premium if is_premium else plain)[plan.verdict])
        if plan.verdict == "machine" and mode in ("detect_beep", "greeting_end", "premium"):
            await asyncio.sleep(plan.greeting_s + 0.5)
            self.send_event(call, f"{prefix}.greeting.ended", result="beep_detected" if plan.beeps else "ended")

    def render_call(self, call: EmulatedCall) -> dict[str, Any]:
        return {
            "record_type": "call",
            "call_control_id": call.id,
            "call_leg_id": call.extra["leg_id"],
            "call_session_id": call.extra["session_id"],
            "is_alive": not call.is_over and call.answered.is_set(),
            "client_state": call.extra.get("client_state"),
        }

    async def _fetch_call(self, request: RestRequest) -> RestReply:
        call = self.find_call_seen(request)
        if call is None:
            return self.not_found_reply(request)
        times = {"start_time": call.created_at.isoformat(), "call_duration": call.duration_s}
        return ok_reply(**self.render_call(call), **times)

    async def _run_command(self, request: RestRequest) -> RestReply:
        call = self.find_call_seen(request)
        if call is None:
            return self.not_found_reply(request)
        body, command = request.json, str(request.json.get("command_id") or "")
        if command and (call.id, command) in self._commands:
            return ok_reply(result="ok")
        if call.is_over:
            return failure_reply(422, "90018", "Call has already ended", "This call is no longer active.")
        reply = await self.actions.run_command(call, request.parts["command"], body)
        if reply is None:
            return self.not_found_reply(request)
        if command and reply.status == 200:
            self._commands.add((call.id, command))
        return reply


def _of(call: EmulatedCall) -> TelnyxStream | None:
    return call.stream if isinstance(call.stream, TelnyxStream) else None


def _dial_refusal(server: TelnyxEmulator, request: RestRequest) -> RestReply | None:
    body = request.json
    for name in ("to", "from"):
        if not is_e164(str(body.get(name, ""))):
            detail = f"The '{name}' parameter must be a phone number in E.164 format."
            return failure_reply(422, "10016", "Phone number must be in +E.164 format", detail, f"/{name}")
    connection = str(body.get("connection_id", ""))
    if not server.is_seen(request, connection):
        detail = "Invalid value for connection_id (Call Control App ID)."
        return failure_reply(422, "10015", "Invalid value", detail, "/connection_id")
    if not server.may_dial_with(connection):
        detail = "The connection has no outbound voice profile."
        return failure_reply(403, "10010", "Authorization failed", detail, "/connection_id")
    if not server.is_own_number(request, str(body["from"])):
        detail = "Unverified origination number D51"
        return failure_reply(403, "10010", "Authorization failed", detail, "/from")
    return stream_problem(body)
