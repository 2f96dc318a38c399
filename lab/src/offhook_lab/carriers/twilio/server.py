"""Twilio's REST API for calls, and the webhooks of their progress."""

import asyncio
import secrets
from collections.abc import Mapping
from email.utils import format_datetime
from typing import Any, Final, Literal

from offhook.kit.clock import Clock
from offhook_lab.carriers.core.callbacks import form_callback
from offhook_lab.carriers.core.calls import EmulatedCall, Status
from offhook_lab.carriers.core.documents import DocumentSource, parse_number
from offhook_lab.carriers.core.emulator import EmulatedNumber
from offhook_lab.carriers.core.number_formats import is_e164
from offhook_lab.carriers.core.phones import Voice, hum_words
from offhook_lab.carriers.core.rest import RestReply, RestRequest
from offhook_lab.carriers.twilio import accounts, numbers
from offhook_lab.carriers.twilio.accounts import TwilioAccounts
from offhook_lab.carriers.twilio.documents import TwilioDocuments
from offhook_lab.carriers.twilio.states import SIP_CODES, status_of

API_VERSION: Final = "2010-04-01"
_PREFIX: Final = {"call": "CA", "stream": "MZ", "number": "PN", "room": "CF", "other": "RE"}
_EVENTS: Final[Mapping[Status, str]] = {
    "initiated": "initiated",
    "ringing": "ringing",
    "answered": "answered",
    "ended": "completed",
}
_RING_S: Final = (1.0, 600.0)


def error_reply(status: int, code: int, message: str) -> RestReply:
    more = f"https://www.twilio.com/docs/errors/{code}"
    return RestReply(status, {"code": code, "message": message, "more_info": more, "status": status})


class TwilioEmulator(TwilioAccounts):
    """Emulates Twilio. Numbers' settings have Twilio's names: ``add_number("+1…", VoiceUrl="https://…",
    VoiceMethod="POST")``."""

    name = "twilio"

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum_words) -> None:
        super().__init__(clock=clock, voice=voice)
        self.limits.calls_per_second = 1.0
        self.forgets_calls = False
        self.conference_callbacks: dict[str, dict[str, str]] = {}
        self.applications: dict[str, dict[str, str]] = {}
        self.line_types: dict[str, str] = {}
        self._sequences: dict[str, int] = {}
        self.callback_sender.user_agent = "TwilioProxy/1.1"
        base = f"/{API_VERSION}/Accounts/{{account}}"
        accounts.add_routes(self, f"/{API_VERSION}")
        self.add_route("POST", f"{base}/Calls.json", self._create_call)
        self.add_route("GET", f"{base}/Calls.json", self._list_calls)
        self.add_route("GET", f"{base}/Calls/{{sid}}.json", self._fetch_call)
        self.add_route("POST", f"{base}/Calls/{{sid}}.json", self._update_call)
        numbers.add_routes(self, base)

    @property
    def credentials(self) -> dict[str, str]:
        return {"account_sid": self.account_sid, "auth_token": self.auth_token}

    def point_at(self, url: str, /) -> None:
        """Sets the URL of all numbers owned now."""
        for number in self.numbers.values():
            number.settings["VoiceUrl"] = url

    def new_id(self, kind: Literal["call", "stream", "number", "room", "other"]) -> str:
        return f"{_PREFIX[kind]}{secrets.token_hex(16)}"

    def next_sequence(self, sequence: str) -> int:
        number = self._sequences[sequence] = self._sequences.get(sequence, -1) + 1
        return number

    # authorization

    def check_request(self, request: RestRequest) -> RestReply | None:
        sid = self.account_asking(request)
        if sid is None:
            return error_reply(401, 20003, "Authenticate")
        if not self.has_room_for_request():
            return self.rate_limited()
        account = accounts.account_in_path(request.path)
        may_act = account in ("", sid) or (sid == self.account_sid and account in self.sub_accounts)
        return None if may_act else error_reply(404, 20404, "The requested resource was not found")

    def not_found_reply(self, request: RestRequest) -> RestReply:
        return error_reply(404, 20404, f"The requested resource {request.path} was not found")

    def rate_limited(self) -> RestReply:
        return error_reply(429, 20429, "Too Many Requests")

    def server_error(self) -> RestReply:
        return error_reply(500, 20500, "Internal Server Error")

    # webhooks

    def call_fields(self, call: EmulatedCall) -> list[tuple[str, str]]:
        """Returns the call's fields in every voice webhook."""
        return [
            ("AccountSid", self.account_of_call(call)),
            ("ApiVersion", API_VERSION),
            ("CallSid", call.id),
            ("CallStatus", status_of(call)),
            ("Called", call.to_number),
            ("Caller", call.from_number),
            ("Direction", self.call_direction(call)),
            ("From", call.from_number),
            ("To", call.to_number),
            ("FromCountry", "US"),
            ("ToCountry", "US"),
            *([("ParentCallSid", call.parent.id)] if call.parent is not None else []),
            *([("AnsweredBy", call.extra["answered_by"])] if "answered_by" in call.extra else []),
        ]

    def call_direction(self, call: EmulatedCall) -> str:
        return "inbound" if call.direction == "inbound" else str(call.extra.get("direction", "outbound-api"))

    def send_status(self, call: EmulatedCall, status: Status) -> None:
        event = _EVENTS.get(status)
        url = call.extra.get("status_callback")
        if not url or event not in call.extra.get("events", {"completed"}):
            return
        name = status_of(call)
        form = [
            *(
                (key, "initiated" if key == "CallStatus" and status == "initiated" else value)
                for key, value in self.call_fields(call)
            ),
            ("CallbackSource", "call-progress-events"),
            ("SequenceNumber", str(self.next_sequence(call.id))),
            ("Timestamp", format_datetime(self.now())),
        ]
        if status == "ended":
            form.append(("CallDuration", str(call.duration_s)))
            form.append(("Duration", str(-(-call.duration_s // 60))))
            form.append(("SipResponseCode", SIP_CODES.get(call.cause or "", "200") if not call.duration_s else "200"))
        kind = f"status:{'initiated' if status == 'initiated' else name}"
        method = call.extra.get("status_method", "POST")
        self.callback_sender.enqueue(form_callback(kind, url, form, method=method, call_id=call.id))

    async def deliver_inbound(self, call: EmulatedCall, number: EmulatedNumber) -> None:
        settings = dict(number.settings)
        if application := self.applications.get(settings.get("VoiceApplicationSid", "")):
            settings |= application
        if not settings.get("VoiceUrl"):
            call.end("unreachable", "carrier")
            return
        call.extra["status_callback"] = settings.get("StatusCallback", "")
        call.extra["status_method"] = settings.get("StatusCallbackMethod", "POST")
        source = DocumentSource(
            settings["VoiceUrl"], settings.get("VoiceMethod", "POST"), fallback_url=settings.get("VoiceFallbackUrl", "")
        )
        await TwilioDocuments(self, call).run_document(source)

    # calls

    async def _create_call(self, request: RestRequest) -> RestReply:
        to, sender = request.first_value("To") or "", request.first_value("From") or ""
        if not is_e164(to):
            return (
                error_reply(400, 21211, f"Invalid 'To' Phone Number: {to}")
                if to
                else error_reply(400, 21201, "No 'To' number")
            )
        if not is_e164(sender):
            return (
                error_reply(400, 21212, f"Invalid 'From' Number: {sender}")
                if sender
                else error_reply(400, 21213, "No 'From'")
            )
        if sender not in self.numbers or self.account_of_number(sender) != request.parts["account"]:
            return error_reply(
                400, 21210, f"The source phone number provided, {sender}, is not yet verified for your account."
            )
        source = self._read_source(request)
        if source is None:
            return error_reply(400, 21205, "Url is not a valid URL")
        timeout = parse_number(request.first_value("Timeout"), 60.0)
        if not _RING_S[0] <= timeout <= _RING_S[1]:
            return error_reply(400, 20001, "Timeout must be between 1 and 600")
        return RestReply(201, self.render_call(self._start_call(request, source, timeout)))

    def _start_call(self, request: RestRequest, source: DocumentSource, timeout: float) -> EmulatedCall:
        call = self.new_call("outbound", request.first_value("From") or "", request.first_value("To") or "")
        call.extra["status_callback"] = request.first_value("StatusCallback") or ""
        call.extra["status_method"] = request.first_value("StatusCallbackMethod") or "POST"
        call.extra["events"] = set(request.form.get("StatusCallbackEvent") or ["completed"])
        self.tasks.start(self._dial_call(call, request, source, timeout), name="lab.twilio")
        return call

    async def call_into(self, request: RestRequest, source: DocumentSource, conference: str) -> RestReply:
        """Calls a participant for a conference: the same parameters, with a given document."""
        if not is_e164(request.first_value("To") or "") or (request.first_value("From") or "") not in self.numbers:
            return error_reply(400, 21211, "Invalid 'To' or 'From'")
        call = self._start_call(request, source, parse_number(request.first_value("Timeout"), 60.0))
        sid = self.get_room(conference).sid
        return RestReply(
            201, {"call_sid": call.id, "conference_sid": sid, "account_sid": self.account_sid, "status": "queued"}
        )

    def _read_source(self, request: RestRequest) -> DocumentSource | None:
        """Returns the document source once the call is answered; a URL wins over a document."""
        url = request.first_value("Url") or ""
        if url.startswith(("http://", "https://")):
            return DocumentSource(
                url, request.first_value("Method") or "POST", fallback_url=request.first_value("FallbackUrl") or ""
            )
        if not url and (text := request.first_value("Twiml")):
            return DocumentSource(text=text)
        application = self.applications.get(request.first_value("ApplicationSid") or "")
        return DocumentSource(application["VoiceUrl"], application.get("VoiceMethod", "POST")) if application else None

    async def _dial_call(
        self, call: EmulatedCall, request: RestRequest, source: DocumentSource, timeout: float
    ) -> None:
        await self.wait_for_call_slot()

        async def on_answered() -> None:
            detects = request.first_value("MachineDetection")
            if detects in ("Enable", "DetectMessageEnd"):
                if request.first_value("AsyncAmd") == "true":
                    call.run_beside(self._report_machine(call, request, detects))
                else:
                    await self._detect_machine(call, detects)
            await TwilioDocuments(self, call).run_document(source)

        self.place_call(call, timeout, on_answered)

    async def _detect_machine(self, call: EmulatedCall, mode: str) -> None:
        plan = call.plan
        at_end = mode == "DetectMessageEnd" and plan.verdict == "machine"
        await asyncio.sleep(plan.verdict_s + (plan.greeting_s + 0.5 if at_end else 0.0))
        words = {"human": "human", "fax": "fax", "unknown": "unknown", "machine": "machine_start"}
        verdict = words[plan.verdict]
        if at_end:
            verdict = "machine_end_beep" if plan.beeps else "machine_end_silence"
        call.extra["answered_by"] = verdict

    async def _report_machine(self, call: EmulatedCall, request: RestRequest, mode: str) -> None:
        await self._detect_machine(call, mode)
        form = [
            ("AccountSid", self.account_of_call(call)),
            ("CallSid", call.id),
            ("AnsweredBy", call.extra["answered_by"]),
            ("MachineDetectionDuration", str(round(call.plan.verdict_s * 1000))),
        ]
        url = request.first_value("AsyncAmdStatusCallback") or ""
        method = request.first_value("AsyncAmdStatusCallbackMethod") or "POST"
        self.callback_sender.enqueue(form_callback("amd", url, form, method=method, call_id=call.id))

    def render_call(self, call: EmulatedCall) -> dict[str, Any]:
        """Returns the call resource. The price is null until the call was rated, a second after its end."""
        ended = call.ended_at
        is_rated = ended is not None and (self.now() - ended).total_seconds() >= 1 and call.duration_s
        return {
            "sid": call.id,
            "account_sid": self.account_of_call(call),
            "api_version": API_VERSION,
            "status": status_of(call),
            "to": call.to_number,
            "from": call.from_number,
            "direction": self.call_direction(call),
            "parent_call_sid": call.parent.id if call.parent else None,
            "answered_by": call.extra.get("answered_by"),
            "queue_time": "0",
            "start_time": format_datetime(call.answered_at) if call.answered_at else None,
            "end_time": format_datetime(ended) if ended else None,
            "duration": str(call.duration_s) if ended else None,
            "price": f"-{0.0085 * -(-call.duration_s // 60):.5f}" if is_rated else None,
            "price_unit": "USD",
            "date_created": format_datetime(call.created_at),
            "uri": f"/{API_VERSION}/Accounts/{self.account_of_call(call)}/Calls/{call.id}.json",
        }

    async def _list_calls(self, request: RestRequest) -> RestReply:
        wanted = {name: request.query[name][0] for name in ("To", "From", "Status") if name in request.query}
        found = [
            call
            for call in reversed(self.calls_in(request))
            if wanted.get("To", call.to_number) == call.to_number
            and wanted.get("From", call.from_number) == call.from_number
            and wanted.get("Status", status_of(call)) == status_of(call)
        ]
        return RestReply(200, {"calls": [self.render_call(call) for call in found], "page": 0, "page_size": 50})

    async def _fetch_call(self, request: RestRequest) -> RestReply:
        call = self.find_call_in(request)
        return RestReply(200, self.render_call(call)) if call is not None else self.not_found_reply(request)

    async def _update_call(self, request: RestRequest) -> RestReply:
        """Hangs up or redirects. An ended call's record stays, so that it answers 21220 to both, as clients in the
        field report; ``forgets_calls`` makes it a 404, which Twilio documents for calls that no longer exist."""
        call = self.find_call_in(request)
        if call is None or (call.is_over and self.forgets_calls):
            return self.not_found_reply(request)
        status, source = request.first_value("Status"), self._read_source(request)
        if call.is_over:
            return error_reply(400, 21220, "Call is not in-progress. Cannot redirect.")
        if status == "completed" or (status == "canceled" and not call.answered.is_set()):
            call.end("normal" if call.answered.is_set() else "canceled", "api")
        elif status == "canceled":
            return error_reply(400, 21220, "Invalid call state: only a queued or ringing call can be canceled")
        elif source is not None:
            if not call.answered.is_set():
                return error_reply(400, 21220, "Call is not in-progress. Cannot redirect.")
            # the running document ends along with its stream
            call.run_program(TwilioDocuments(self, call).run_document(source))
            call.connect_to(None)
        else:
            return error_reply(400, 20001, "Nothing to change")
        return RestReply(200, self.render_call(call))
