"""A call's state in Twilio's terms."""

from offhook_lab.carriers.core.calls import EmulatedCall

_LIVE = {"queued": "queued", "initiated": "queued", "ringing": "ringing", "answered": "in-progress"}
_ENDED = {
    "normal": "completed",
    "time_limit": "completed",
    "busy": "busy",
    # a declined call is busy to Twilio, as the network reports it
    "rejected": "busy",
    "no_answer": "no-answer",
    "unreachable": "failed",
    "failed": "failed",
    "canceled": "canceled",
}
SIP_CODES = {"busy": "486", "rejected": "603", "no_answer": "487", "unreachable": "404", "canceled": "487"}


def status_of(call: EmulatedCall) -> str:
    """Returns ``CallStatus``; an answered call is completed, whatever ended it."""
    if call.status != "ended":
        return _LIVE[call.status]
    if call.answered.is_set():
        return "completed"
    if call.direction == "inbound" and call.cause == "rejected":
        return "failed" if call.rejected is None else "busy"
    if call.direction == "inbound" and call.cause in ("normal", "canceled"):
        return "no-answer"
    return _ENDED[call.cause or "failed"]
