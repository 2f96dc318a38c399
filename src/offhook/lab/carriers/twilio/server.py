"""Twilio's REST API for calls, and the webhooks of calls' progress."""

import asyncio
import secrets
from collections.abc import Mapping
from email.utils import format_datetime
from typing import Any, Final, Literal

from offhook.kit.clock import Clock
from offhook.lab.carriers.core.callbacks import Callback, form_callback
from offhook.lab.carriers.core.calls import Call, Status
from offhook.lab.carriers.core.documents import Source, number_of
from offhook.lab.carriers.core.emulator import Emulator, Number
from offhook.lab.carriers.core.number_formats import is_e164
from offhook.lab.carriers.core.phones import Voice, hum
from offhook.lab.carriers.core.rest import Reply, Request
from offhook.lab.carriers.twilio import numbers
from offhook.lab.carriers.twilio.documents import TwilioDocuments
from offhook.lab.carriers.twilio.signature import signature
from offhook.lab.carriers.twilio.states import SIP_CODES, status_of

API_VERSION: Final = "2010-04-01"
_PREFIX: Final = {"call": "CA", "stream": "MZ", "number": "PN", "room": "CF", "other": "RE"}
_EVENTS: Final[Mapping[Status, str]] = {
    "initiated": "initiated",
    "ringing": "ringing",
    "answered": "answered",
    "ended": "completed",
}
_RING_S: Final = (1.0, 600.0)


def error(status: int, code: int, message: str) -> Reply:
    more = f"https://www.twilio.com/docs/errors/{code}"
    return Reply(status, {"code": code, "message": message, "more_info": more, "status": status})


class TwilioEmulator(Emulator):
    """Numbers' settings have Twilio's names: ``own("+1…", VoiceUrl="https://…", VoiceMethod="POST")``."""

    name = "twilio"

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum) -> None:
        super().__init__(clock=clock, voice=voice)
        self.account_sid = f"AC{secrets.token_hex(16)}"
        self.auth_token = secrets.token_hex(16)
        self.limits.calls_per_second = 1.0
        self.forgets_calls = False
        self.conference_callbacks: dict[str, dict[str, str]] = {}
        self.applications: dict[str, dict[str, str]] = {}
        self.line_types: dict[str, str] = {}
        self._sequences: dict[str, int] = {}
        self.post.user_agent = "TwilioProxy/1.1"
        base = f"/{API_VERSION}/Accounts/{{account}}"
        self.route("GET", f"{base}.json", self._account)
        self.route("POST", f"{base}/Calls.json", self._create)
        self.route("GET", f"{base}/Calls.json", self._list)
        self.route("GET", f"{base}/Calls/{{sid}}.json", self._fetch)
        self.route("POST", f"{base}/Calls/{{sid}}.json", self._update)
        numbers.add_routes(self, base)

    @property
    def credentials(self) -> dict[str, str]:
        return {"account_sid": self.account_sid, "auth_token": self.auth_token}

    def point_at(self, url: str, /) -> None:
        """Numbers that are owned now ask here."""
        for number in self.numbers.values():
            number.settings["VoiceUrl"] = url

    def new_id(self, kind: Literal["call", "stream", "number", "room", "other"]) -> str:
        return f"{_PREFIX[kind]}{secrets.token_hex(16)}"

    def next_in(self, sequence: str) -> int:
        number = self._sequences[sequence] = self._sequences.get(sequence, -1) + 1
        return number

    # who may ask

    def guard(self, request: Request) -> Reply | None:
        if request.basic() != (self.account_sid, self.auth_token):
            return error(401, 20003, "Authenticate")
        if not self.has_room_for_request():
            return self.rate_limited()
        account = request.path.partition("/Accounts/")[2].partition("/")[0].removesuffix(".json")
        return (
            error(404, 20404, "The requested resource was not found") if account not in ("", self.account_sid) else None
        )

    def missing(self, request: Request) -> Reply:
        return error(404, 20404, f"The requested resource {request.path} was not found")

    def rate_limited(self) -> Reply:
        return error(429, 20429, "Too Many Requests")

    def server_error(self) -> Reply:
        return error(500, 20500, "Internal Server Error")

    def sign(self, callback: Callback) -> Mapping[str, str]:
        headers = {"I-Twilio-Idempotency-Token": secrets.token_hex(16)}
        if callback.forgery == "unsigned":
            return headers
        token = secrets.token_hex(16) if callback.forgery == "forged" else self.auth_token
        form = () if callback.method == "GET" else callback.form
        return {**headers, "X-Twilio-Signature": signature(token, callback.url, form)}

    # webhooks

    def fields(self, call: Call) -> list[tuple[str, str]]:
        """What every voice webhook says of a call."""
        return [
            ("AccountSid", self.account_sid),
            ("ApiVersion", API_VERSION),
            ("CallSid", call.id),
            ("CallStatus", status_of(call)),
            ("Called", call.to_number),
            ("Caller", call.from_number),
            ("Direction", self.direction(call)),
            ("From", call.from_number),
            ("To", call.to_number),
            ("FromCountry", "US"),
            ("ToCountry", "US"),
            *([("ParentCallSid", call.parent.id)] if call.parent is not None else []),
            *([("AnsweredBy", call.extra["answered_by"])] if "answered_by" in call.extra else []),
        ]

    def direction(self, call: Call) -> str:
        return "inbound" if call.direction == "inbound" else str(call.extra.get("direction", "outbound-api"))

    def reports(self, call: Call, status: Status) -> None:
        event = _EVENTS.get(status)
        url = call.extra.get("status_callback")
        if not url or event not in call.extra.get("events", {"completed"}):
            return
        name = status_of(call)
        form = [
            *(
                (key, "initiated" if key == "CallStatus" and status == "initiated" else value)
                for key, value in self.fields(call)
            ),
            ("CallbackSource", "call-progress-events"),
            ("SequenceNumber", str(self.next_in(call.id))),
            ("Timestamp", format_datetime(self.now())),
        ]
        if status == "ended":
            form.append(("CallDuration", str(call.duration_s)))
            form.append(("Duration", str(-(-call.duration_s // 60))))
            form.append(("SipResponseCode", SIP_CODES.get(call.cause or "", "200") if not call.duration_s else "200"))
        kind = f"status:{'initiated' if status == 'initiated' else name}"
        method = call.extra.get("status_method", "POST")
        self.post.post(form_callback(kind, url, form, method=method, call_id=call.id))

    async def arrives(self, call: Call, number: Number) -> None:
        settings = dict(number.settings)
        if application := self.applications.get(settings.get("VoiceApplicationSid", "")):
            settings |= application
        if not settings.get("VoiceUrl"):
            call.end("unreachable", "carrier")
            return
        call.extra["status_callback"] = settings.get("StatusCallback", "")
        call.extra["status_method"] = settings.get("StatusCallbackMethod", "POST")
        source = Source(
            settings["VoiceUrl"], settings.get("VoiceMethod", "POST"), fallback_url=settings.get("VoiceFallbackUrl", "")
        )
        await TwilioDocuments(self, call).run(source)

    # calls

    async def _account(self, request: Request) -> Reply:
        return Reply(
            200,
            {"sid": self.account_sid, "friendly_name": "Lab", "status": "active", "type": "Full", "auth_token": "***"},
        )

    async def _create(self, request: Request) -> Reply:
        to, sender = request.field("To") or "", request.field("From") or ""
        if not is_e164(to):
            return error(400, 21211, f"Invalid 'To' Phone Number: {to}") if to else error(400, 21201, "No 'To' number")
        if not is_e164(sender):
            return error(400, 21212, f"Invalid 'From' Number: {sender}") if sender else error(400, 21213, "No 'From'")
        if sender not in self.numbers:
            return error(
                400, 21210, f"The source phone number provided, {sender}, is not yet verified for your account."
            )
        source = self._source(request)
        if source is None:
            return error(400, 21205, "Url is not a valid URL")
        timeout = number_of(request.field("Timeout"), 60.0)
        if not _RING_S[0] <= timeout <= _RING_S[1]:
            return error(400, 20001, "Timeout must be between 1 and 600")
        return Reply(201, self.rendered(self._start(request, source, timeout)))

    def _start(self, request: Request, source: Source, timeout: float) -> Call:
        call = self.new_call("outbound", request.field("From") or "", request.field("To") or "")
        call.extra["status_callback"] = request.field("StatusCallback") or ""
        call.extra["status_method"] = request.field("StatusCallbackMethod") or "POST"
        call.extra["events"] = set(request.form.get("StatusCallbackEvent") or ["completed"])
        self.tasks.start(self._dial(call, request, source, timeout), name="lab.twilio")
        return call

    async def call_into(self, request: Request, source: Source, conference: str) -> Reply:
        """The conference's way to call somebody: the same parameters, the document is given."""
        if not is_e164(request.field("To") or "") or (request.field("From") or "") not in self.numbers:
            return error(400, 21211, "Invalid 'To' or 'From'")
        call = self._start(request, source, number_of(request.field("Timeout"), 60.0))
        sid = self.room(conference).sid
        return Reply(
            201, {"call_sid": call.id, "conference_sid": sid, "account_sid": self.account_sid, "status": "queued"}
        )

    def _source(self, request: Request) -> Source | None:
        """What steers the call once it is answered; an address wins over a document."""
        url = request.field("Url") or ""
        if url.startswith(("http://", "https://")):
            return Source(url, request.field("Method") or "POST", fallback_url=request.field("FallbackUrl") or "")
        if not url and (text := request.field("Twiml")):
            return Source(text=text)
        application = self.applications.get(request.field("ApplicationSid") or "")
        return Source(application["VoiceUrl"], application.get("VoiceMethod", "POST")) if application else None

    async def _dial(self, call: Call, request: Request, source: Source, timeout: float) -> None:
        await self.turn_to_call()

        async def answered() -> None:
            detects = request.field("MachineDetection")
            if detects in ("Enable", "DetectMessageEnd"):
                if request.field("AsyncAmd") == "true":
                    call.beside(self._report_machine(call, request, detects))
                else:
                    await self._detect(call, detects)
            await TwilioDocuments(self, call).run(source)

        self.place(call, timeout, answered)

    async def _detect(self, call: Call, mode: str) -> None:
        plan = call.plan
        at_end = mode == "DetectMessageEnd" and plan.verdict == "machine"
        await asyncio.sleep(plan.verdict_s + (plan.greeting_s + 0.5 if at_end else 0.0))
        words = {"human": "human", "fax": "fax", "unknown": "unknown", "machine": "machine_start"}
        verdict = words[plan.verdict]
        if at_end:
            verdict = "machine_end_beep" if plan.beeps else "machine_end_silence"
        call.extra["answered_by"] = verdict

    async def _report_machine(self, call: Call, request: Request, mode: str) -> None:
        await self._detect(call, mode)
        form = [
            ("AccountSid", self.account_sid),
            ("CallSid", call.id),
            ("AnsweredBy", call.extra["answered_by"]),
            ("MachineDetectionDuration", str(round(call.plan.verdict_s * 1000))),
        ]
        url = request.field("AsyncAmdStatusCallback") or ""
        method = request.field("AsyncAmdStatusCallbackMethod") or "POST"
        self.post.post(form_callback("amd", url, form, method=method, call_id=call.id))

    def rendered(self, call: Call) -> dict[str, Any]:
        """The call resource. The price is null until the call was rated, a second after its end."""
        ended = call.ended_at
        is_rated = ended is not None and (self.now() - ended).total_seconds() >= 1 and call.duration_s
        return {
            "sid": call.id,
            "account_sid": self.account_sid,
            "api_version": API_VERSION,
            "status": status_of(call),
            "to": call.to_number,
            "from": call.from_number,
            "direction": self.direction(call),
            "parent_call_sid": call.parent.id if call.parent else None,
            "answered_by": call.extra.get("answered_by"),
            "queue_time": "0",
            "start_time": format_datetime(call.answered_at) if call.answered_at else None,
            "end_time": format_datetime(ended) if ended else None,
            "duration": str(call.duration_s) if ended else None,
            "price": f"-{0.0085 * -(-call.duration_s // 60):.5f}" if is_rated else None,
            "price_unit": "USD",
            "date_created": format_datetime(call.created_at),
            "uri": f"/{API_VERSION}/Accounts/{self.account_sid}/Calls/{call.id}.json",
        }

    async def _list(self, request: Request) -> Reply:
        wanted = {name: request.query[name][0] for name in ("To", "From", "Status") if name in request.query}
        found = [
            call
            for call in reversed(self.calls)
            if wanted.get("To", call.to_number) == call.to_number
            and wanted.get("From", call.from_number) == call.from_number
            and wanted.get("Status", status_of(call)) == status_of(call)
        ]
        return Reply(200, {"calls": [self.rendered(call) for call in found], "page": 0, "page_size": 50})

    async def _fetch(self, request: Request) -> Reply:
        call = self.call(request.parts["sid"])
        return Reply(200, self.rendered(call)) if call is not None else self.missing(request)

    async def _update(self, request: Request) -> Reply:
        """Hang up or redirect. An ended call's record stays, so that it answers 21220 to both, as clients in the field
        report; ``forgets_calls`` makes it a 404, which is said of calls that are gone altogether."""
        call = self.call(request.parts["sid"])
        if call is None or (call.is_over and self.forgets_calls):
            return self.missing(request)
        status, source = request.field("Status"), self._source(request)
        if call.is_over:
            return error(400, 21220, "Call is not in-progress. Cannot redirect.")
        if status == "completed" or (status == "canceled" and not call.answered.is_set()):
            call.end("normal" if call.answered.is_set() else "canceled", "api")
        elif status == "canceled":
            return error(400, 21220, "Invalid call state: only a queued or ringing call can be canceled")
        elif source is not None:
            if not call.answered.is_set():
                return error(400, 21220, "Call is not in-progress. Cannot redirect.")
            # the running document ends, and with it its stream
            call.run(TwilioDocuments(self, call).run(source))
            call.connect(None)
        else:
            return error(400, 20001, "Nothing to change")
        return Reply(200, self.rendered(call))
