"""Translates Vonage's webhooks into the platform's types. Both legs of a call, the telephone's and our socket's,
report to the same address."""

from typing import Any, Final

from offhook.runs.finishing import carrier_charges
from offhook.telephony.carrier_kit.forms import any_fields, parse_e164
from offhook.telephony.ports import (
    CarrierWebhook,
    InboundCall,
    MachineVerdict,
    StatusUpdate,
    TransferUpdate,
    WebhookUnreadable,
)
from offhook.telephony.providers.vonage.signature import token_of, unproven_claims

STATUSES: Final = {
    "started": "initiated",
    "ringing": "ringing",
    "answered": "in_progress",
    "completed": "completed",
    "busy": "busy",
    "unanswered": "no_answer",
    "timeout": "no_answer",
    "cancelled": "canceled",
    "failed": "failed",
    "rejected": "failed",
}
_TRANSFER_FAILED: Final = {
    "busy": "busy",
    "no_answer": "no_answer",
    "canceled": "no_answer",
    "failed": "call_failed",
}
_BEEPED: Final = frozenset({"beep_start", "beep_timeout"})


class VonageWebhooks:
    """Implements ``StatusParser`` and ``InboundParser``."""

    def parse_status(self, kind: str, webhook: CarrierWebhook) -> StatusUpdate | MachineVerdict | None:
        """Parses a status callback. ``disconnected`` is our socket's end and not the call's."""
        fields = any_fields(webhook)
        reported_status = fields.get("status")
        if reported_status in {"machine", "human"}:
            call_id = _call_id(fields, "call_uuid", "uuid")
            may_speak = reported_status == "human" or fields.get("sub_state") in _BEEPED
            return MachineVerdict(is_machine=reported_status == "machine", may_speak=may_speak, call_id=call_id)
        status = status_of(fields)
        if status is None or str(fields.get("to", "")).startswith(("ws:", "wss:")):
            return None
        reason = fields.get("detail") if status == "failed" else None
        # Vonage counts in euros without naming the currency.
        bill = carrier_charges.parse_carrier_bill(fields.get("duration"), cost=fields.get("price"), currency="EUR")
        return StatusUpdate(
            status,
            call_id=_call_id(fields, "uuid"),
            end_reason=reason[:40] if isinstance(reason, str) and reason else None,
            bill=bill if status == "completed" else None,
        )

    def parse_transfer(self, webhook: CarrierWebhook) -> TransferUpdate | None:
        fields = any_fields(webhook)
        status = status_of(fields)
        if status is None:
            return None
        call_id = _call_id(fields, "uuid")
        if status == "in_progress":
            return TransferUpdate("answered", call_id)
        if status in _TRANSFER_FAILED:
            return TransferUpdate("failed", call_id, _TRANSFER_FAILED[status])
        return TransferUpdate("ended", call_id) if status == "completed" else None

    def is_from_carrier(self, webhook: CarrierWebhook) -> bool:
        token = token_of(webhook)
        if token is not None and {"api_key", "application_id"} & unproven_claims(token).keys():
            return True
        try:
            fields = any_fields(webhook)
        except WebhookUnreadable:
            return False
        return {"uuid", "conversation_uuid"} <= fields.keys()

    def account_reference(self, webhook: CarrierWebhook) -> str | None:
        token = token_of(webhook)
        reference = unproven_claims(token).get("api_key") if token is not None else None
        return reference if isinstance(reference, str) and reference else None

    def parse_inbound(self, webhook: CarrierWebhook) -> InboundCall | None:
        """Parses an inbound call. Events of calls have a status; requests for a document have none."""
        fields = any_fields(webhook)
        if "status" in fields:
            return None
        to_number = parse_e164(fields.get("to"))
        if to_number is None:
            raise WebhookUnreadable("to is missing.")
        caller = parse_e164(fields.get("from") or fields.get("from_user"))
        return InboundCall(_call_id(fields, "uuid"), caller, to_number, self.account_reference(webhook))


def status_of(fields: dict[str, Any]) -> str | None:
    """Returns the call's state. Rejected means either that the number cannot be called or that the callee declined."""
    if fields.get("status") == "rejected" and "declined" in str(fields.get("detail", "")):
        return "busy"
    return STATUSES.get(str(fields.get("status", "")))


def _call_id(fields: dict[str, Any], *names: str) -> str:
    for name in names:
        found = fields.get(name)
        if isinstance(found, str) and found:
            return found
    raise WebhookUnreadable(f"{names[0]} is missing.")
