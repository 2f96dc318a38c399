"""Translates Cloudonix's webhooks into the platform's types: voice requests, session updates, call detail records."""

import json
from typing import Any, Final

from offhook.runs.finishing import carrier_charges
from offhook.telephony.carrier_kit.forms import any_fields, parse_e164
from offhook.telephony.ports import CarrierWebhook, InboundCall, StatusUpdate, TransferUpdate, WebhookUnreadable

STATUSES: Final = {
    "new": "initiated",
    "processing": "initiated",
    "ringing": "ringing",
    "connected": "in_progress",
    "answer": "in_progress",
    "answered": "in_progress",
    "busy": "busy",
    "noanswer": "no_answer",
    "no-answer": "no_answer",
    "cancel": "canceled",
    "canceled": "canceled",
    "nocredit": "failed",
    "congestion": "failed",
    "error": "failed",
    "failed": "failed",
    "completed": "completed",
    "external": "completed",
    "hangup": "completed",
}
DISPOSITIONS: Final = {
    "ANSWER": "completed",
    "BUSY": "busy",
    "NOANSWER": "no_answer",
    "CANCEL": "canceled",
    "CONGESTION": "failed",
    "FAILED": "failed",
}
_TRANSFER_FAILED: Final = {
    "busy": "busy",
    "no_answer": "no_answer",
    "canceled": "no_answer",
    "failed": "call_failed",
}
_REASONS: Final = frozenset({"nocredit", "congestion"})


class CloudonixWebhooks:
    """Implements ``StatusParser`` and ``InboundParser``."""

    def parse_status(self, kind: str, webhook: CarrierWebhook) -> StatusUpdate | None:
        """Parses a session's update, whose times are in milliseconds, or a call detail record."""
        fields = fields_of(webhook)
        reason = None
        if kind == "cdr" or "disposition" in fields:
            status = DISPOSITIONS.get(str(fields.get("disposition", "")).upper())
            connected_s = fields.get("billsec")
        else:
            reported = str(fields.get("status") or fields.get("CallStatus") or "").lower()
            status = STATUSES.get(reported)
            reason = reported if reported in _REASONS else None
            connected_s, answered, ended = None, fields.get("callAnswerTime"), fields.get("callEndTime")
            if isinstance(answered, int) and isinstance(ended, int) and 0 < answered <= ended:
                connected_s = (ended - answered) / 1000
        if status is None:
            return None
        bill = carrier_charges.parse_carrier_bill(connected_s) if status == "completed" else None
        return StatusUpdate(status, call_id=session_of(fields), end_reason=reason, bill=bill)

    def parse_transfer(self, webhook: CarrierWebhook) -> TransferUpdate | None:
        """Parses events of the destination's session and its entry into the room."""
        fields = fields_of(webhook)
        if fields.get("StatusCallbackEvent") == "participant-join":
            return TransferUpdate("answered", session_of(fields))
        status = STATUSES.get(str(fields.get("status") or fields.get("CallStatus") or "").lower())
        if status is None or status in {"initiated", "ringing"}:
            return None
        call_id = session_of(fields)
        if status == "in_progress":
            return TransferUpdate("answered", call_id)
        if status in _TRANSFER_FAILED:
            return TransferUpdate("failed", call_id, _TRANSFER_FAILED[status])
        return TransferUpdate("ended", call_id)

    def is_from_carrier(self, webhook: CarrierWebhook) -> bool:
        if any(name.startswith("x-cx-") for name in webhook.headers):
            return True
        if "cloudonix" in webhook.headers.get("user-agent", "").lower():
            return True
        return (self.account_reference(webhook) or "").lower().endswith(".cloudonix.net")

    def account_reference(self, webhook: CarrierWebhook) -> str | None:
        try:
            fields = fields_of(webhook)
        except WebhookUnreadable:
            return None
        names = ("Domain", "domain", "AccountSid")
        return next((fields[name] for name in names if isinstance(fields.get(name), str) and fields[name]), None)

    def parse_inbound(self, webhook: CarrierWebhook) -> InboundCall | None:
        fields = fields_of(webhook)
        if fields.get("Direction") != "inbound":
            return None
        to_number = parse_e164(fields.get("To"))
        if to_number is None:
            raise WebhookUnreadable("To is missing.")
        return InboundCall(
            session_of(fields), parse_e164(fields.get("From")), to_number, self.account_reference(webhook)
        )


def fields_of(webhook: CarrierWebhook) -> dict[str, Any]:
    """Returns the fields of an object, a list with one, a form or a query. Raises WebhookUnreadable."""
    if webhook.body[:1] == b"[":
        try:
            found = json.loads(webhook.body)
        except (ValueError, RecursionError):
            raise WebhookUnreadable("The body is not JSON.") from None
        if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict):
            return found[0]
        raise WebhookUnreadable("The body is not one object.")
    return any_fields(webhook)


def session_of(fields: dict[str, Any]) -> str:
    """Returns the session's token from whichever of its fields the request has."""
    session = fields.get("session") or fields.get("SessionData")
    nested = session.get("token") if isinstance(session, dict) else None
    for found in (nested, fields.get("Session"), fields.get("token"), session):
        if isinstance(found, str) and found:
            return found
    raise WebhookUnreadable("The session is missing.")
