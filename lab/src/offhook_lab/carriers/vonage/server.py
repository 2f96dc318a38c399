"""Vonage's REST API for calls, and the events of their legs."""

import asyncio
import uuid
from collections.abc import Mapping
from typing import Any, Final, Literal

from offhook.kit.clock import Clock
from offhook_lab.carriers.core.callbacks import json_callback
from offhook_lab.carriers.core.calls import EmulatedCall, Status
from offhook_lab.carriers.core.emulator import EmulatedNumber
from offhook_lab.carriers.core.number_formats import is_digits, with_plus, without_plus
from offhook_lab.carriers.core.phones import Voice, hum_words
from offhook_lab.carriers.core.rest import RestReply, RestRequest
from offhook_lab.carriers.vonage import accounts, numbers
from offhook_lab.carriers.vonage.accounts import VonageAccounts
from offhook_lab.carriers.vonage.ncco import NccoRunner
from offhook_lab.carriers.vonage.replies import problem_reply

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


class VonageEmulator(VonageAccounts):
    """Emulates Vonage. ``applications`` are stored by id, as their REST resource; there is one from the start, whose
    URLs ``point_at`` sets. Numbers' settings: ``app_id``."""

    name = "vonage"

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum_words) -> None:
        super().__init__(clock=clock, voice=voice)
        self.limits.calls_per_second = 3.0
        self.limits.requests_per_second = 15.0
        self.line_types: dict[str, str] = {}
        self.callback_sender.user_agent = "Vonage/VoiceApi"
        # three attempts for an answer URL, and for an event that we answer with a server error
        self.callback_sender.attempts = 3
        self._tokens: set[str] = set()
        self.add_route("POST", "/v1/calls", self._create_call)
        self.add_route("GET", "/v1/calls", self._list_calls)
        self.add_route("GET", "/v1/calls/{id}", self._fetch_call)
        self.add_route("PUT", "/v1/calls/{id}", self._update_call)
        numbers.add_routes(self)
        accounts.add_routes(self)

    def point_at(self, url: str, /, event_url: str = "", method: str = "POST") -> None:
        """Sets the first application's URLs for inbound calls."""
        webhooks = {"answer_url": {"address": url, "http_method": method}}
        if event_url:
            webhooks["event_url"] = {"address": event_url, "http_method": "POST"}
        self.applications[self.application_id]["capabilities"]["voice"]["webhooks"] = webhooks

    def new_id(self, kind: Literal["call", "stream", "number", "room", "other"]) -> str:
        return f"CON-{uuid.uuid4()}" if kind == "room" else str(uuid.uuid4())

    # authorization

    def check_request(self, request: RestRequest) -> RestReply | None:
        refusal = self._check_authorization(request)
        if refusal is not None:
            return refusal
        return None if self.has_room_for_request() else self.rate_limited()

    def _check_authorization(self, request: RestRequest) -> RestReply | None:
        """Checks the authorization: calls take an application's token, each once; the rest takes key and secret."""
        if self.account_asking(request) is None:
            return problem_reply(401)
        claims = self.token_claims(request)
        if claims is None:
            return None
        now, token = self.now().timestamp(), str(claims.get("jti", ""))
        if not token or token in self._tokens or not claims.get("iat"):
            return problem_reply(401)
        if float(claims.get("exp", now + 900)) <= now or float(claims["iat"]) > now + 60:
            return problem_reply(401)
        self._tokens.add(token)
        return None

    def not_found_reply(self, request: RestRequest) -> RestReply:
        return problem_reply(404)

    def rate_limited(self) -> RestReply:
        return problem_reply(429)

    def server_error(self) -> RestReply:
        return problem_reply(500)

    # events

    def new_call(self, direction: Literal["inbound", "outbound"], *arguments: Any, **named: Any) -> EmulatedCall:
        call = super().new_call(direction, *arguments, **named)
        call.extra["conversation"] = self.new_id("room")
        return call

    def status_of(self, call: EmulatedCall) -> str:
        if call.status != "ended":
            return _LIVE[call.status]
        return "completed" if call.answered.is_set() else _ENDED[call.cause or "failed"]

    def answer_fields(self, call: EmulatedCall) -> list[tuple[str, str]]:
        return [
            ("to", without_plus(call.to_number)),
            ("from", without_plus(call.from_number)),
            ("uuid", call.id),
            ("conversation_uuid", str(call.extra["conversation"])),
            ("endpoint_type", "phone"),
            ("region_url", self.base_url),
        ]

    def leg_fields(self, call: EmulatedCall) -> dict[str, Any]:
        """Returns the leg's part of an event."""
        leg: dict[str, Any] = {
            "uuid": call.id,
            "from": without_plus(call.from_number),
            "to": without_plus(call.to_number),
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

    def leg_event(self, call: EmulatedCall, status: str, leg: Mapping[str, Any]) -> dict[str, Any]:
        at = self.now().isoformat().replace("+00:00", "Z")
        return {
            "direction": "outbound",
            **leg,
            "status": status,
            "conversation_uuid": call.extra["conversation"],
            "timestamp": at,
        }

    def send_leg_event(self, call: EmulatedCall, status: str, leg: Mapping[str, Any], url: str = "") -> None:
        """Sends one event, to this URL or the call's."""
        to = url or str(call.extra.get("event_url", ""))
        self.callback_sender.enqueue(
            json_callback(f"event:{status}", to, self.leg_event(call, status, leg), call_id=call.id)
        )

    def send_status(self, call: EmulatedCall, status: Status) -> None:
        if status == "ended" and call.extra.get("asks_at_end") and not call.answered.is_set():
            return
        if status == "ringing" and call.direction == "inbound":
            self._adopt(call)
            self.send_leg_event(call, "started", self.leg_fields(call))
        self.send_leg_event(call, self.status_of(call), self.leg_fields(call))

    def _adopt(self, call: EmulatedCall) -> None:
        """Assigns an inbound call to its number's application."""
        application = self.applications.get(
            self.number_for(call.to_number).settings.get("app_id", self.application_id), {}
        )
        webhooks = application.get("capabilities", {}).get("voice", {}).get("webhooks", {})
        call.extra["webhooks"] = webhooks
        call.extra["event_url"] = webhooks.get("event_url", {}).get("address", "")

    async def deliver_inbound(self, call: EmulatedCall, number: EmulatedNumber) -> None:
        webhooks = call.extra["webhooks"]
        answer = webhooks.get("answer_url", {})
        if not answer.get("address"):
            call.end("unreachable", "carrier")
            return
        fallback = webhooks.get("fallback_answer_url", {}).get("address", "")
        await NccoRunner(self, call).fetch_and_run(answer["address"], answer.get("http_method", "GET"), fallback)

    # calls

    async def _create_call(self, request: RestRequest) -> RestReply:
        body = request.json
        to = (body.get("to") or [{}])[0]
        if to.get("type") != "phone" or not is_digits(str(to.get("number", ""))):
            return problem_reply(400, "to", "must be a phone number without a plus")
        sender = str((body.get("from") or {}).get("number", ""))
        account = self.account_asking(request) or ""
        owned = [e164 for e164 in self.numbers if self.account_of_number(e164) == account]
        if body.get("random_from_number") and owned:
            sender = without_plus(owned[0])
        if with_plus(sender) not in owned:
            return problem_reply(400, "from", "is not a number of this account")
        for name in ("answer_url", "event_url"):
            if name in body and not _is_address_list(body[name]):
                return problem_reply(400, name, "must be a list of one address")
        if ("answer_url" in body) == ("ncco" in body):
            return problem_reply(400, "answer_url", "either an answer_url or an ncco")
        if not self.has_room_for_call():
            return self.rate_limited()
        call = self.new_call("outbound", with_plus(sender), with_plus(str(to["number"])))
        application = self.applications[self.application_of(account)]
        webhooks = application["capabilities"]["voice"].get("webhooks", {})
        events = body.get("event_url") or [webhooks.get("event_url", {}).get("address", "")]
        call.extra["event_url"] = events[0]

        async def on_answered() -> None:
            if body.get("machine_detection") or body.get("advanced_machine_detection"):
                call.run_beside(self._detect_machine(call, body))
            ncco = NccoRunner(self, call)
            if "ncco" in body:
                await ncco.run_actions(body["ncco"])
            else:
                await ncco.fetch_and_run(str(body["answer_url"][0]), str(body.get("answer_method") or "GET"))

        self.place_call(call, float(body.get("ringing_timer") or 60), on_answered)
        said = {"uuid": call.id, "conversation_uuid": call.extra["conversation"]}
        return RestReply(201, {**said, "status": "started", "direction": "outbound"})

    async def _detect_machine(self, call: EmulatedCall, body: Mapping[str, Any]) -> None:
        """Detects a machine. The verdict's event names the call in another field than all others."""
        await asyncio.sleep(call.plan.verdict_s)
        is_machine = call.plan.verdict == "machine"
        self._send_verdict(call, {"status": "machine" if is_machine else "human"})
        advanced = body.get("advanced_machine_detection") or {}
        behavior = body.get("machine_detection") or advanced.get("behavior")
        if is_machine and advanced.get("mode") in ("detect_beep", "default"):
            await asyncio.sleep(call.plan.greeting_s + 0.5)
            self._send_verdict(
                call, {"status": "machine", "sub_state": "beep_start" if call.plan.beeps else "beep_timeout"}
            )
        if is_machine and behavior == "hangup":
            call.end("normal", "carrier")

    def _send_verdict(self, call: EmulatedCall, verdict: Mapping[str, str]) -> None:
        event = self.leg_event(call, verdict["status"], self.leg_fields(call))
        event["call_uuid"] = event.pop("uuid")
        body = {**event, **verdict}
        self.callback_sender.enqueue(
            json_callback(f"event:{verdict['status']}", str(call.extra["event_url"]), body, call_id=call.id)
        )

    def _render_call(self, call: EmulatedCall) -> dict[str, Any]:
        said = self.leg_fields(call)
        return {
            **said,
            "from": {"type": "phone", "number": said["from"]},
            "to": {"type": "phone", "number": said["to"]},
            "status": self.status_of(call),
            "conversation_uuid": call.extra["conversation"],
            "_links": {"self": {"href": f"/v1/calls/{call.id}"}},
        }

    async def _list_calls(self, request: RestRequest) -> RestReply:
        begin = (request.query.get("date_start") or [""])[0]
        size, index = (int((request.query.get(name) or [most])[0]) for name, most in _PAGE.items())
        found = [
            self._render_call(call) for call in self.calls_seen(request) if call.created_at.strftime(_SECONDS) >= begin
        ]
        page = {"count": len(found), "page_size": size, "record_index": index}
        return RestReply(200, {**page, "_embedded": {"calls": found[index : index + size]}})

    async def _fetch_call(self, request: RestRequest) -> RestReply:
        call = self.find_call_seen(request)
        return RestReply(200, self._render_call(call)) if call is not None else self.not_found_reply(request)

    async def _update_call(self, request: RestRequest) -> RestReply:
        call, body = self.find_call_seen(request), request.json
        if call is None or call.is_over:
            return self.not_found_reply(request)
        if body.get("action") == "hangup":
            call.end("normal" if call.answered.is_set() else "canceled", "api")
            return RestReply(204)
        if body.get("action") != "transfer":
            return problem_reply(400, "action", "is not one that this call takes")
        if not call.answered.is_set():
            return problem_reply(400, "action", "only an answered call can be transferred")
        destination = body.get("destination") or {}
        ncco = NccoRunner(self, call)
        if isinstance(destination.get("ncco"), list):
            call.run_program(ncco.run_actions(destination["ncco"]))
        elif _is_address_list(destination.get("url")):
            call.run_program(ncco.fetch_and_run(str(destination["url"][0]), "GET"))
        else:
            return problem_reply(400, "destination", "is neither an ncco nor a list of one address")
        call.connect_to(None)
        return RestReply(204)


def _is_address_list(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 1 and str(value[0]).startswith(("http://", "https://"))
