"""The end of a call in Telnyx's terms."""

from typing import Final

from offhook_lab.carriers.core.calls import EmulatedCall

# hangup_cause and SIP code
_CAUSES: Final = {
    "normal": ("normal_clearing", "unspecified"),
    "time_limit": ("time_limit", "unspecified"),
    "busy": ("user_busy", "486"),
    "no_answer": ("timeout", "487"),
    "rejected": ("call_rejected", "603"),
    "unreachable": ("not_found", "404"),
    "canceled": ("originator_cancel", "487"),
    "failed": ("unspecified", "500"),
}


def hangup_fields(call: EmulatedCall) -> dict[str, str]:
    """Returns ``hangup_cause``, ``hangup_source`` and ``sip_hangup_cause`` of call.hangup."""
    cause, sip = _CAUSES[call.cause or "failed"]
    if call.cause == "no_answer" and call.plan.gives_up_s is not None:
        # the network gave up before the caller's own ring time
        cause, sip = "no_answer", "480"
    if call.direction == "inbound" and call.rejected is not None:
        cause = "user_busy" if call.rejected == "USER_BUSY" else "call_rejected"
    if "sip" in call.extra:
        cause, sip = "call_rejected", str(call.extra["sip"])
    source = "unknown"
    if call.ended_by == "api":
        source = "callee" if call.direction == "inbound" else "caller"
    elif call.ended_by in ("caller", "callee"):
        source = call.ended_by
    return {"hangup_cause": cause, "hangup_source": source, "sip_hangup_cause": "200" if call.duration_s else sip}
