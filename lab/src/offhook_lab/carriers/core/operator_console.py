"""The lab's own endpoints beside a carrier's, for working with an emulator by hand: numbers, calls, callers."""

from typing import Any

from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.emulator import CarrierEmulator
from offhook_lab.carriers.core.number_formats import is_e164
from offhook_lab.carriers.core.phones import BY_NUMBER, greets
from offhook_lab.carriers.core.rest import LAB_PATH, RestReply, RestRequest


def add_console(carrier: CarrierEmulator) -> None:
    """Serves the endpoints below ``/lab`` without a key."""
    desk = _OperatorConsole(carrier)
    carrier.add_route("GET", f"{LAB_PATH}/calls", desk.list_calls)
    carrier.add_route("POST", f"{LAB_PATH}/call-in", desk.call_in)
    carrier.add_route("POST", f"{LAB_PATH}/numbers", desk.add_number)
    carrier.add_route("GET", f"{LAB_PATH}/callbacks", desk.list_callbacks)


class _OperatorConsole:
    def __init__(self, carrier: CarrierEmulator) -> None:
        self._carrier = carrier

    async def list_calls(self, request: RestRequest) -> RestReply:
        """Returns every call and its outcome."""
        return RestReply(200, [_render_call(call) for call in self._carrier.calls])

    async def call_in(self, request: RestRequest) -> RestReply:
        """Takes ``{"from", "to", "says": [...]}`` and calls one of our numbers."""
        body = request.json
        caller, to = (
            str(body.get("from") or "+12015550101"),
            str(body.get("to") or next(iter(self._carrier.numbers), "")),
        )
        if not is_e164(caller) or to not in self._carrier.numbers:
            return RestReply(
                422, {"message": "from and to are E.164, and to is a number of the account (POST /lab/numbers)"}
            )
        says = [str(text) for text in body.get("says") or ("Hello?", "Yes, please.", "Thank you, goodbye.")]
        call = self._carrier.call_in(caller, to, BY_NUMBER.get(caller[-2:]) if "says" not in body else greets(*says))
        return RestReply(201, _render_call(call))

    async def add_number(self, request: RestRequest) -> RestReply:
        """Takes ``{"number", "settings"?: {…}}`` and adds the number to the account."""
        number = str(request.json.get("number") or "")
        if not is_e164(number):
            return RestReply(422, {"message": "number is E.164"})
        owned = self._carrier.add_number(number, **(request.json.get("settings") or {}))
        return RestReply(201, {"number": owned.e164, "id": owned.id, "settings": owned.settings})

    async def list_callbacks(self, request: RestRequest) -> RestReply:
        """Returns the requests to us and our responses."""
        sent = self._carrier.callbacks
        said = [
            (one.kind, one.method, one.url, one.status, one.error, one.answer.decode("utf-8", "replace"))
            for one in sent
        ]
        return RestReply(
            200, [dict(zip(("kind", "method", "url", "status", "error", "answer"), one, strict=True)) for one in said]
        )


def _render_call(call: EmulatedCall) -> dict[str, Any]:
    stream = call.stream
    return {
        "id": call.id,
        "direction": call.direction,
        "from": call.from_number,
        "to": call.to_number,
        "status": call.status,
        "cause": call.cause,
        "ended_by": call.ended_by,
        "rejected": call.rejected,
        "duration_s": call.duration_s,
        "spoken": call.spoken,
        "heard_speech_s": round(call.phone.heard_speech_s, 2),
        "errors": call.errors,
        "stream": {"url": stream.url, "state": stream.state, "problems": stream.problems[-10:]} if stream else None,
    }
