"""Translates Telnyx's events into the platform's types."""

from typing import Any, Final

from offhook.runs.finishing import carrier_charges
from offhook.telephony.carrier_kit.forms import json_object, parse_e164
from offhook.telephony.ports import (
    CallBilled,
    CarrierReport,
    CarrierWebhook,
    InboundCall,
    MachineVerdict,
    StatusUpdate,
    StreamEnded,
    TransferUpdate,
    WebhookUnreadable,
)

_MOVES: Final = {"call.initiated": "initiated", "call.answered": "in_progress"}
_ENDED: Final = {
    "normal_clearing": "completed",
    "time_limit": "completed",
    "user_busy": "busy",
    "no_answer": "no_answer",
    "timeout": "no_answer",
    "originator_cancel": "canceled",
}
_TRANSFER_FAILED: Final = {"user_busy": "busy", "no_answer": "no_answer", "timeout": "no_answer"}
_OVER: Final = frozenset({"normal_clearing", "time_limit", "originator_cancel"})
_DETECTED: Final = frozenset({"call.machine.detection.ended", "call.machine.premium.detection.ended"})
_GREETED: Final = frozenset({"call.machine.greeting.ended", "call.machine.premium.greeting.ended"})
_STREAM_ENDED: Final = frozenset({"streaming.stopped", "streaming.failed"})
_HUMANS: Final = frozenset({"human", "human_residence", "human_business"})
_MACHINES: Final = frozenset({"machine", "fax_detected"})


def read_event(webhook: CarrierWebhook) -> tuple[str, dict[str, Any]]:
    """Returns the event type (with dots: some arrive with underscores) and the payload. Raises WebhookUnreadable."""
    data = json_object(webhook).get("data")
    payload = data.get("payload") if isinstance(data, dict) else None
    event = data.get("event_type") if isinstance(data, dict) else None
    if not isinstance(payload, dict) or not isinstance(event, str):
        raise WebhookUnreadable("data.event_type or data.payload is missing.")
    return event.replace("_", "."), payload


def call_id_of(payload: dict[str, Any]) -> str:
    call_id = payload.get("call_control_id")
    if not isinstance(call_id, str) or not call_id:
        raise WebhookUnreadable("call_control_id is missing.")
    return call_id


class TelnyxWebhooks:
    """Implements ``StatusParser`` and ``InboundParser``."""

    def parse_status(self, kind: str, webhook: CarrierWebhook) -> CarrierReport | None:
        event, payload = read_event(webhook)
        if event in _STREAM_ENDED:
            return _parse_stream_end(payload)
        if not event.startswith("call."):
            return None
        call_id = call_id_of(payload)
        if event in _MOVES:
            return StatusUpdate(_MOVES[event], call_id=call_id)
        if event == "call.hangup":
            # Only an answered call ends with normal clearing: an unanswered one is rejected, canceled or times out.
            cause = str(payload.get("hangup_cause") or "")
            status = _ENDED.get(cause, "failed")
            # Exceeding the account's limit of concurrent calls ends a call with 403 and not by a refused request.
            is_limited = str(payload.get("sip_hangup_cause", "")) == "403"
            reason = "carrier_limit" if is_limited else (cause or "failed")[:40]
            return StatusUpdate(status, call_id=call_id, end_reason=reason if status == "failed" else None)
        if event == "call.cost":
            return _parse_cost(payload, call_id)
        if event in _GREETED:
            return MachineVerdict(is_machine=True, call_id=call_id)
        if event in _DETECTED:
            return _parse_verdict(payload.get("result"), call_id)
        return None

    def parse_transfer(self, webhook: CarrierWebhook) -> TransferUpdate | None:
        event, payload = read_event(webhook)
        if event == "call.answered":
            return TransferUpdate("answered", call_id_of(payload))
        if event != "call.hangup":
            return None
        cause, call_id = str(payload.get("hangup_cause", "")), call_id_of(payload)
        if cause in _OVER:
            return TransferUpdate("ended", call_id)
        return TransferUpdate("failed", call_id, _TRANSFER_FAILED.get(cause, "call_failed"))

    def is_from_carrier(self, webhook: CarrierWebhook) -> bool:
        if "telnyx-signature-ed25519" in webhook.headers:
            return True
        try:
            event, payload = read_event(webhook)
        except WebhookUnreadable:
            return False
        return event.startswith("call.") and "call_control_id" in payload

    def account_reference(self, webhook: CarrierWebhook) -> str | None:
        try:
            reference = read_event(webhook)[1].get("connection_id")
        except WebhookUnreadable:
            return None
        return str(reference) if isinstance(reference, str | int) and reference != "" else None

    def parse_inbound(self, webhook: CarrierWebhook) -> InboundCall | None:
        event, payload = read_event(webhook)
        if event != "call.initiated" or payload.get("direction") != "incoming":
            return None
        to_number = parse_e164(payload.get("to"))
        if to_number is None:
            raise WebhookUnreadable("to is missing.")
        return InboundCall(
            call_id_of(payload), parse_e164(payload.get("from")), to_number, self.account_reference(webhook)
        )


def _parse_stream_end(payload: dict[str, Any]) -> StreamEnded | None:
    """Returns which stream has ended. One that failed has its address among its parameters."""
    parameters = payload.get("stream_params")
    media_url = payload.get("stream_url") or (parameters.get("stream_url") if isinstance(parameters, dict) else None)
    return StreamEnded(media_url, call_id_of(payload)) if isinstance(media_url, str) and media_url else None


def _parse_verdict(result: object, call_id: str) -> MachineVerdict | None:
    """Returns the verdict. The agent can speak to a machine when its greeting is over, which another event reports."""
    if result in _HUMANS:
        return MachineVerdict(is_machine=False, call_id=call_id)
    if result in _MACHINES:
        return MachineVerdict(is_machine=True, may_speak=False, call_id=call_id)
    return None


def _parse_cost(payload: dict[str, Any], call_id: str) -> CallBilled | None:
    """Returns the cost. Each part names its currency; the parts of one call have the same."""
    if payload.get("status") == "error":
        return None
    parts = payload.get("cost_parts")
    part = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], dict) else {}
    bill = carrier_charges.parse_carrier_bill(
        billed_s=payload.get("billed_duration_secs"), cost=payload.get("total_cost"), currency=part.get("currency")
    )
    return CallBilled(bill, call_id) if bill is not None else None
