"""Translates Twilio's webhooks into the platform's types."""

from typing import Final

from offhook.runs.finishing import carrier_charges
from offhook.telephony.carrier_kit.forms import form_fields, parse_e164
from offhook.telephony.ports import (
    CarrierWebhook,
    InboundCall,
    MachineVerdict,
    StatusUpdate,
    TransferUpdate,
    WebhookUnreadable,
)

STATUSES: Final = {
    "queued": "initiated",
    "initiated": "initiated",
    "ringing": "ringing",
    "in-progress": "in_progress",
    "answered": "in_progress",
    "completed": "completed",
    "busy": "busy",
    "no-answer": "no_answer",
    "failed": "failed",
    "canceled": "canceled",
}
_TRANSFER_FAILED: Final = {"busy": "busy", "no-answer": "no_answer", "failed": "call_failed", "canceled": "no_answer"}
_STILL_TALKING: Final = "machine_start"


class TwilioWebhooks:
    """Implements ``StatusParser`` and ``InboundParser``."""

    def parse_status(self, kind: str, webhook: CarrierWebhook) -> StatusUpdate | MachineVerdict | None:
        fields = form_fields(webhook)
        call_id = _call_id(fields)
        by = fields.get("AnsweredBy", "")
        status = STATUSES.get(fields.get("CallStatus", ""))
        if by and (status is None or "MachineDetectionDuration" in fields) and status != "completed":
            return _parse_verdict(by, call_id)
        if status is None:
            return None
        is_machine = status == "completed" and _is_machine(by)
        return StatusUpdate(
            status,
            call_id=call_id,
            outcome="voicemail" if is_machine else None,
            bill=carrier_charges.parse_carrier_bill(fields.get("CallDuration")),
        )

    def parse_transfer(self, webhook: CarrierWebhook) -> TransferUpdate | None:
        """Parses events of the destination's leg. One that completes without an answer is reported as busy and so on."""
        fields = form_fields(webhook)
        status, call_id = fields.get("CallStatus", ""), _call_id(fields)
        if status in {"in-progress", "answered"}:
            return TransferUpdate("answered", call_id)
        if status in _TRANSFER_FAILED:
            return TransferUpdate("failed", call_id, _TRANSFER_FAILED[status])
        return TransferUpdate("ended", call_id) if status == "completed" else None

    def is_from_carrier(self, webhook: CarrierWebhook) -> bool:
        if "x-twilio-signature" in webhook.headers:
            return True
        fields = _try_fields(webhook)
        return "CallSid" in fields and "ApiVersion" in fields and fields.get("AccountSid", "").startswith("AC")

    def account_reference(self, webhook: CarrierWebhook) -> str | None:
        return _try_fields(webhook).get("AccountSid") or None

    def parse_inbound(self, webhook: CarrierWebhook) -> InboundCall | None:
        fields = form_fields(webhook)
        if fields.get("Direction") != "inbound" or fields.get("CallStatus") != "ringing":
            return None
        to_number = parse_e164(fields.get("To") or fields.get("Called"))
        if to_number is None:
            raise WebhookUnreadable("To is missing.")
        return InboundCall(
            _call_id(fields), parse_e164(fields.get("From")), to_number, fields.get("AccountSid") or None
        )


def _try_fields(webhook: CarrierWebhook) -> dict[str, str]:
    try:
        return form_fields(webhook)
    except WebhookUnreadable:
        return {}


def _call_id(fields: dict[str, str]) -> str:
    call_id = fields.get("CallSid", "")
    if not call_id:
        raise WebhookUnreadable("CallSid is missing.")
    return call_id


def _is_machine(by: str) -> bool:
    return by.startswith("machine") or by == "fax"


def _parse_verdict(by: str, call_id: str) -> MachineVerdict | None:
    if by == "human":
        return MachineVerdict(is_machine=False, call_id=call_id)
    if not _is_machine(by):
        return None
    return MachineVerdict(is_machine=True, may_speak=by != _STILL_TALKING, call_id=call_id)
