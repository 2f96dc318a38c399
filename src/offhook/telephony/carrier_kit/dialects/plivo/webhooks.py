"""Translates the dialect's webhooks into the platform's types."""

from typing import Any, Final
from urllib.parse import quote

from offhook.runs.finishing import carrier_charges
from offhook.runs.states import FINAL_STATES
from offhook.telephony.carrier_kit.forms import any_fields, parse_e164, query_pairs
from offhook.telephony.ports import (
    CarrierReport,
    CarrierWebhook,
    InboundCall,
    MachineVerdict,
    StatusUpdate,
    TransferUpdate,
    WebhookUnreadable,
)

STATUSES: Final = {
    "ringing": "ringing",
    "ring": "ringing",
    "in-progress": "in_progress",
    "completed": "completed",
    "busy": "busy",
    "no-answer": "no_answer",
    "timeout": "no_answer",
    "cancel": "canceled",
    "failed": "failed",
}
_ACCOUNT: Final = "account"
# What the ids of sub-accounts begin with.
_SUB_ACCOUNT: Final = "SA"
_EVENTS: Final = {"StartApp": "in_progress", "Ring": "ringing", "Hangup": "completed"}
_TRANSFER_FAILED: Final = {
    "busy": "busy",
    "no_answer": "no_answer",
    "canceled": "no_answer",
    "failed": "call_failed",
}


class PlivoDialectWebhooks:
    """Implements ``StatusParser`` and ``InboundParser``. ``carrier`` is its name in headers and in the user agent,
    ``currency`` the currency of its prices."""

    def __init__(self, carrier: str, currency: str = "USD") -> None:
        self._currency = currency
        self._header = f"x-{carrier}-signature"
        self._carrier = carrier

    def parse_status(self, kind: str, webhook: CarrierWebhook) -> CarrierReport | None:
        """Parses a status callback. ``answer`` is the request for the document; after a blocking detection it
        carries the verdict."""
        fields = any_fields(webhook)
        call_id, machine = call_id_of(fields), str(fields.get("Machine", "")).lower()
        is_over = fields.get("Event") == "Hangup" or kind == "hangup-callback"
        if machine in {"true", "false"} and not is_over:
            return MachineVerdict(is_machine=machine == "true", call_id=call_id)
        status = status_of(fields, is_over=is_over)
        if status is None:
            return None
        bill = carrier_charges.parse_carrier_bill(
            fields.get("Duration"), fields.get("BillDuration"), fields.get("TotalCost"), self._currency
        )
        return StatusUpdate(
            status,
            call_id=call_id,
            outcome="voicemail" if status == "completed" and machine == "true" else None,
            bill=bill if is_over else None,
        )

    def parse_transfer(self, webhook: CarrierWebhook) -> TransferUpdate | None:
        """Parses events of the destination's leg: answered when its document is fetched, ended when it is hung up."""
        fields = any_fields(webhook)
        call_id, is_over = call_id_of(fields), fields.get("Event") == "Hangup"
        status = status_of(fields, is_over=is_over)
        if status == "in_progress":
            return TransferUpdate("answered", call_id)
        if status in _TRANSFER_FAILED:
            return TransferUpdate("failed", call_id, _TRANSFER_FAILED[status])
        return TransferUpdate("ended", call_id) if status == "completed" else None

    def is_from_carrier(self, webhook: CarrierWebhook) -> bool:
        return any(name.startswith(self._header) for name in webhook.headers) or (
            self._carrier in webhook.headers.get("user-agent", "").lower()
        )

    def account_reference(self, webhook: CarrierWebhook) -> str | None:
        try:
            fields = any_fields(webhook)
        except WebhookUnreadable:
            return None
        reference = _named_account(webhook.url) or fields.get("ParentAuthID") or fields.get("AuthID")
        return str(reference) if reference else None

    def parse_inbound(self, webhook: CarrierWebhook) -> InboundCall | None:
        """Parses an inbound call. The same address also gets the hang-up where no other one was set."""
        fields = any_fields(webhook)
        if str(fields.get("Direction", "")).lower() != "inbound" or fields.get("Event", "StartApp") != "StartApp":
            return None
        if status_of(fields, is_over=False) in FINAL_STATES:
            return None
        to_number = parse_e164(fields.get("To"))
        if to_number is None:
            raise WebhookUnreadable("To is missing.")
        return InboundCall(
            call_id_of(fields), parse_e164(fields.get("From")), to_number, self.account_reference(webhook)
        )


def name_account(url: str, auth_id: str) -> str:
    """Returns the URL for the calls of an account's numbers. The carrier's requests name the main account only, so a
    sub-account is named in the URL, which the signature covers."""
    return f"{url}?{_ACCOUNT}={quote(auth_id, safe='')}" if auth_id.startswith(_SUB_ACCOUNT) else url


def _named_account(url: str) -> str | None:
    try:
        found = dict(query_pairs(url)).get(_ACCOUNT, "")
    except WebhookUnreadable:
        return None
    return found if found.startswith(_SUB_ACCOUNT) else None


def past_call(record: object) -> StatusUpdate | None:
    """Returns the status of a finished outbound call's record. Where no field names the outcome, its end and its
    length decide."""
    fields = record if isinstance(record, dict) else {}
    call_id = fields.get("call_uuid")
    if not isinstance(call_id, str) or not call_id or fields.get("call_direction") == "inbound":
        return None
    status = STATUSES.get(str(fields.get("call_status", "")).lower())
    if status not in FINAL_STATES:
        cause = str(fields.get("hangup_cause_name", "")).lower()
        unanswered = "busy" if "busy" in cause else "no_answer" if "answer" in cause else "failed"
        status = "completed" if fields.get("call_duration") else unanswered
    return StatusUpdate(status, call_id=call_id)


def status_of(fields: dict[str, Any], *, is_over: bool) -> str | None:
    """Returns the call's state. A call that is hung up always gets a final one, whatever its last state was."""
    status = STATUSES.get(str(fields.get("CallStatus", "")).lower())
    if is_over:
        return status if status in FINAL_STATES else "completed"
    return status or _EVENTS.get(str(fields.get("Event", "")))


def call_id_of(fields: dict[str, Any]) -> str:
    call_id = fields.get("CallUUID") or fields.get("call_uuid") or fields.get("RequestUUID")
    if not isinstance(call_id, str) or not call_id:
        raise WebhookUnreadable("CallUUID is missing.")
    return call_id
