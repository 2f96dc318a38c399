"""Calls as in Plivo's REST API, which Vobiz adopted: XML from URLs, ring and hang-up callbacks."""

import asyncio
import uuid
from abc import abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Final, Literal

from offhook_lab.carriers.core.callbacks import form_callback
from offhook_lab.carriers.core.calls import EmulatedCall, Status
from offhook_lab.carriers.core.documents import DocumentSource
from offhook_lab.carriers.core.emulator import CarrierEmulator, EmulatedNumber
from offhook_lab.carriers.core.number_formats import is_digits, is_e164, with_plus, without_plus
from offhook_lab.carriers.core.plivo_xml import PlivoDocuments
from offhook_lab.carriers.core.rest import RestReply, RestRequest

# (status, HangupCause, HangupCauseName, HangupCauseCode); the codes are those in Plivo's list [K].
_ENDS: Final = {
    "normal": ("completed", "NORMAL_CLEARING", "Normal Hangup", "4000"),
    "time_limit": ("completed", "ALLOTTED_TIMEOUT", "Reached Max Call Duration", "4010"),
    "busy": ("busy", "USER_BUSY", "Busy Line", "3010"),
    # ?? status of a declined call: the cause names it, so the status is assumed to be the general one
    "rejected": ("failed", "CALL_REJECTED", "Rejected", "3020"),
    "no_answer": ("no-answer", "NO_ANSWER", "No Answer", "3000"),
    "unreachable": ("failed", "UNALLOCATED_NUMBER", "Unallocated Number", "2000"),
    "canceled": ("cancel", "ORIGINATOR_CANCEL", "Cancelled", "1010"),
    "failed": ("failed", "NORMAL_TEMPORARY_FAILURE", "Network Error", "5010"),
}
_SOURCES: Final = {"caller": "Caller", "callee": "Callee", "api": "API Request", "carrier": "Carrier"}


class PlivoLikeApplications(CarrierEmulator):
    """The applications of a Plivo or Vobiz emulator, stored by id with the carrier's names."""

    def add_application_routes(self, base: str) -> None:
        """Serves the applications below ``base``, with one from the start."""
        self.application_id = self.new_id("other")
        self.applications: dict[str, dict[str, Any]] = {self.application_id: {"app_name": "Lab", "answer_url": ""}}
        self.add_route("POST", base, self._create_application)
        self.add_route("GET", base, self._list_applications)
        self.add_route("GET", f"{base}{{id}}/", self._fetch_application)
        self.add_route("POST", f"{base}{{id}}/", self._update_application)
        self.add_route("DELETE", f"{base}{{id}}/", self._delete_application)

    @abstractmethod
    def failure_reply(self, status: int, text: str) -> RestReply: ...

    def applications_seen(self, request: RestRequest) -> dict[str, dict[str, Any]]:
        """Returns the applications of the account that asks, by id."""
        return self.applications

    def application_fields(self, request: RestRequest) -> dict[str, Any]:
        """Returns the fields of a new application that the carrier sets."""
        return {}

    def _render_application(self, name: str) -> dict[str, Any]:
        return {"app_id": name, "enabled": True, **self.applications[name]}

    async def _create_application(self, request: RestRequest) -> RestReply:
        if not request.json.get("app_name"):
            return self.failure_reply(400, "app_name parameter not present")
        name = self.new_id("other")
        self.applications[name] = {**request.json, **self.application_fields(request)}
        return RestReply(201, {"api_id": str(uuid.uuid4()), "app_id": name, "message": "created"})

    async def _list_applications(self, request: RestRequest) -> RestReply:
        found = [self._render_application(name) for name in self.applications_seen(request)]
        return RestReply(200, {"meta": {"total_count": len(found)}, "objects": found})

    async def _fetch_application(self, request: RestRequest) -> RestReply:
        name = request.parts["id"]
        return (
            RestReply(200, self._render_application(name))
            if name in self.applications_seen(request)
            else self.not_found_reply(request)
        )

    async def _update_application(self, request: RestRequest) -> RestReply:
        found = self.applications_seen(request).get(request.parts["id"])
        if found is None:
            return self.not_found_reply(request)
        found |= request.json
        return RestReply(202, {"api_id": str(uuid.uuid4()), "message": "changed"})

    async def _delete_application(self, request: RestRequest) -> RestReply:
        if request.parts["id"] not in self.applications_seen(request):
            return self.not_found_reply(request)
        del self.applications[request.parts["id"]]
        return RestReply(204)


class PlivoLikeEmulator(PlivoLikeApplications):
    """Base class of the Plivo and Vobiz emulators. Applications are stored by id, with the carrier's names;
    ``point_at(url)`` sets the answer URL of the first one, which numbers have unless ``add_number`` names another
    (``app_id``)."""

    base: ClassVar[str]
    takes_plus: ClassVar[bool] = False
    tells_every_stop: ClassVar[bool] = True

    def set_up(self, auth_id: str, auth_token: str) -> None:
        """Sets up the emulator; called by the carrier's own constructor."""
        self.auth_id, self.auth_token = auth_id, auth_token
        base = f"{self.base}/{{account}}"
        self.add_route("POST", f"{base}/Call/", self._create_call)
        self.add_route("GET", f"{base}/Call/", self._list_calls)
        self.add_route("GET", f"{base}/Call/{{id}}/", self._fetch_call)
        self.add_route("POST", f"{base}/Call/{{id}}/", self._transfer_call)
        self.add_route("DELETE", f"{base}/Call/{{id}}/", self._hang_up)
        self.add_route("DELETE", f"{base}/Request/{{id}}/", self._cancel_call)
        self.add_application_routes(f"{base}/Application/")

    # carrier-specific parts

    @abstractmethod
    def new_documents(self, call: EmulatedCall) -> PlivoDocuments: ...

    @abstractmethod
    async def may_call(self) -> RestReply | None:
        """Waits for a call slot, or returns the refusal."""

    def is_own_number(self, request: RestRequest, number: str) -> bool:
        """Returns whether the account that asks has this number."""
        return number in self.numbers

    def calls_seen(self, request: RestRequest) -> list[EmulatedCall]:
        """Returns the calls of the account that asks."""
        return self.calls

    @property
    def credentials(self) -> dict[str, str]:
        return {"auth_id": self.auth_id, "auth_token": self.auth_token, "application_id": self.application_id}

    def point_at(self, url: str, /, **more: Any) -> None:
        """Sets the URL that answers calls to our numbers."""
        self.applications[self.application_id] |= {"answer_url": url, **more}

    def new_id(self, kind: Literal["call", "stream", "number", "room", "other"]) -> str:
        return str(uuid.uuid4().int)[:17] if kind == "other" else str(uuid.uuid4())

    def not_found_reply(self, request: RestRequest) -> RestReply:
        return self.failure_reply(404, "not found")

    def rate_limited(self) -> RestReply:
        return self.failure_reply(429, "too many requests")

    def server_error(self) -> RestReply:
        return self.failure_reply(500, "internal error")

    # webhooks

    def status_of(self, call: EmulatedCall) -> str:
        if call.status != "ended":
            return {"answered": "in-progress"}.get(call.status, "ringing")
        return "completed" if call.answered.is_set() else _ENDS[call.cause or "failed"][0]

    def hangup_of(self, call: EmulatedCall) -> str:
        return _ENDS[call.cause or "failed"][1]

    def call_fields(self, call: EmulatedCall) -> list[tuple[str, str]]:
        """Returns the call's fields in every webhook. Numbers have no plus."""
        machine = [("Machine", str(call.extra["machine"]).lower())] if "machine" in call.extra else []
        return [
            ("CallUUID", call.id),
            ("RequestUUID", call.id),
            ("From", without_plus(call.from_number)),
            ("To", without_plus(call.to_number)),
            ("CallStatus", self.status_of(call)),
            ("Direction", call.direction),
            ("ParentAuthID", self.auth_id),
            ("BillRate", "0.0085"),
            ("SessionStart", _format_time(call.created_at)),
            ("ALegUUID", (call.parent or call).id),
            ("ALegRequestUUID", (call.parent or call).id),
            *machine,
        ]

    def send_status(self, call: EmulatedCall, status: Status) -> None:
        if status == "ringing" and call.direction == "outbound":
            self._send_callback(call, "ring", [*self.call_fields(call), ("Event", "Ring")])
        elif status == "ended":
            _, cause, name, code = _ENDS[call.cause or "failed"]
            minutes = -(-call.duration_s // 60)
            form = [
                *self.call_fields(call),
                ("Event", "Hangup"),
                ("HangupCause", cause),
                ("HangupCauseName", name),
                ("HangupCauseCode", code),
                ("HangupSource", _SOURCES[call.ended_by or "carrier"]),
                ("Duration", str(call.duration_s)),
                ("BillDuration", str(minutes * 60)),
                ("TotalCost", f"{0.0085 * minutes:.5f}"),
                ("StartTime", _format_time(call.created_at)),
                ("AnswerTime", _format_time(call.answered_at)),
                ("EndTime", _format_time(call.ended_at)),
            ]
            self._send_callback(call, "hangup", form)

    def _send_callback(self, call: EmulatedCall, name: str, form: list[tuple[str, str]]) -> None:
        settings = call.extra.get("settings", {})
        # hang-ups go to the answer URL when they have none of their own
        url = settings.get(f"{name}_url") or (settings.get("answer_url", "") if name == "hangup" else "")
        method = settings.get(f"{name}_method") or "POST"
        self.callback_sender.enqueue(form_callback(name, url, form, method=method, call_id=call.id))

    async def deliver_inbound(self, call: EmulatedCall, number: EmulatedNumber) -> None:
        application = self.applications.get(number.settings.get("app_id", self.application_id), {})
        if not application.get("answer_url"):
            call.end("unreachable", "carrier")
            return
        call.extra["settings"] = application
        await self.new_documents(call).run_document(_answer_source(application))

    # calls

    async def _create_call(self, request: RestRequest) -> RestReply:
        body = request.json
        for name in ("from", "to", "answer_url"):
            if not body.get(name):
                return self.failure_reply(400, f"{name} parameter not present")
        sender, to = str(body["from"]), str(body["to"])
        good = [is_digits(number) or (self.takes_plus and is_e164(number)) for number in (sender, to)]
        if not all(good):
            return self.failure_reply(400, f"{'to' if good[0] else 'from'} is not a valid phone number")
        if not str(body["answer_url"]).startswith(("http://", "https://")):
            return self.failure_reply(400, "answer_url is not valid")
        if not self.is_own_number(request, with_plus(sender)):
            return self.failure_reply(400, "from number is not owned by this account")
        if (refusal := await self.may_call()) is not None:
            return refusal
        call = self.new_call("outbound", with_plus(sender), with_plus(to))
        call.extra["settings"] = body

        async def on_answered() -> None:
            await self._detect_machine(call, body)
            if not call.is_over:
                await self.new_documents(call).run_document(_answer_source(body))

        self.place_call(call, float(body.get("ring_timeout") or 120), on_answered)
        return RestReply(201, {"api_id": str(uuid.uuid4()), "message": self.fired, "request_uuid": call.id})

    fired: ClassVar[str] = "call fired"

    async def _detect_machine(self, call: EmulatedCall, body: Mapping[str, Any]) -> None:
        """Detects a machine. ``true`` with a URL reports there; without one the verdict comes with the answer
        request."""
        wanted = str(body.get("machine_detection") or "").lower()
        if wanted not in ("true", "hangup"):
            return
        if body.get("machine_detection_url") and wanted == "true":
            call.run_beside(self._report_machine(call, body))
            return
        await asyncio.sleep(call.plan.verdict_s)
        call.extra["machine"] = call.plan.verdict == "machine"
        if wanted == "hangup" and call.extra["machine"]:
            call.end("normal", "carrier")

    async def _report_machine(self, call: EmulatedCall, body: Mapping[str, Any]) -> None:
        await asyncio.sleep(call.plan.verdict_s)
        verdict = str(call.plan.verdict == "machine").lower()
        form = [*self.call_fields(call), ("Event", "MachineDetection"), ("Machine", verdict)]
        method = str(body.get("machine_detection_method") or "POST")
        url = str(body["machine_detection_url"])
        self.callback_sender.enqueue(form_callback("machine", url, form, method=method, call_id=call.id))

    def _find_live_call(self, request: RestRequest) -> EmulatedCall | None:
        call = self._find_call_seen(request)
        return call if call is not None and not call.is_over else None

    def _find_call_seen(self, request: RestRequest) -> EmulatedCall | None:
        return next((call for call in self.calls_seen(request) if call.id == request.parts["id"]), None)

    async def _hang_up(self, request: RestRequest) -> RestReply:
        call = self._find_live_call(request)
        if call is None:
            return self.not_found_reply(request)
        call.end("normal" if call.answered.is_set() else "canceled", "api")
        return RestReply(204)

    async def _cancel_call(self, request: RestRequest) -> RestReply:
        call = self._find_live_call(request)
        if call is None or call.answered.is_set():
            return self.not_found_reply(request)
        call.end("canceled", "api")
        return RestReply(204)

    async def _fetch_call(self, request: RestRequest) -> RestReply:
        call = self._find_call_seen(request)
        if call is None:
            return self.not_found_reply(request)
        return RestReply(200, {"api_id": str(uuid.uuid4()), **self._call_record(call)})

    def _call_record(self, call: EmulatedCall) -> dict[str, Any]:
        minutes = -(-call.duration_s // 60)
        return {
            "call_uuid": call.id,
            "call_state": "" if call.is_over else self.status_of(call),
            "call_status": self.status_of(call),
            "call_direction": call.direction,
            "from_number": without_plus(call.from_number),
            "to_number": without_plus(call.to_number),
            "call_duration": call.duration_s,
            "bill_duration": minutes * 60,
            "total_amount": f"{0.0085 * minutes:.5f}" if call.is_over else "0.00000",
            "hangup_cause_name": _ENDS[call.cause or "failed"][2] if call.is_over else None,
            "end_time": _format_time(call.ended_at),
        }

    async def _list_calls(self, request: RestRequest) -> RestReply:
        """Returns the ids of live and queued calls, and the records of finished ones."""
        asked = {name: values[0] for name, values in request.query.items()}
        found = [
            call
            for call in reversed(self.calls_seen(request))
            if asked.get("from_number", without_plus(call.from_number)) == without_plus(call.from_number)
            and asked.get("to_number", without_plus(call.to_number)) == without_plus(call.to_number)
            and asked.get("call_direction", call.direction) == call.direction
        ]
        if status := asked.get("status"):
            live = [call.id for call in found if not call.is_over and status == "live"]
            return RestReply(200, {"api_id": str(uuid.uuid4()), "calls": live})
        records = [
            self._call_record(call)
            for call in found
            if call.is_over and _format_time(call.ended_at) >= asked.get("end_time__gte", "")
        ]
        return RestReply(200, {"api_id": str(uuid.uuid4()), "meta": {"total_count": len(records)}, "objects": records})

    async def _transfer_call(self, request: RestRequest) -> RestReply:
        """Switches a leg to new XML; its program and its stream end."""
        call, body = self._find_live_call(request), request.json
        if call is None:
            return self.not_found_reply(request)
        if not call.answered.is_set():
            return self.failure_reply(400, "call is not in progress")
        legs = str(body.get("legs") or "aleg")
        other = next((child for child in call.children if not child.is_over), None)
        moves = [(call, "aleg")] if legs in ("aleg", "both") else []
        moves += [(other, "bleg")] if legs in ("bleg", "both") and other is not None else []
        for _, leg in moves:
            if not str(body.get(f"{leg}_url") or "").startswith(("http://", "https://")):
                return self.failure_reply(400, f"{leg}_url is not valid")
        if not moves:
            return self.failure_reply(404, "there is no such leg")
        for moved, leg in moves:
            source = DocumentSource(str(body[f"{leg}_url"]), str(body.get(f"{leg}_method") or "POST"))
            moved.run_program(self.new_documents(moved).run_document(source, {"Event": "Transfer"}))
            moved.connect_to(None)
        return RestReply(202, {"api_id": str(uuid.uuid4()), "message": "transfer executed", "call_uuids": [call.id]})


def _answer_source(settings: Mapping[str, Any]) -> DocumentSource:
    return DocumentSource(
        str(settings["answer_url"]),
        str(settings.get("answer_method") or "POST"),
        fallback_url=str(settings.get("fallback_url") or ""),
    )


def _format_time(at: datetime | None) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S") if at is not None else ""
