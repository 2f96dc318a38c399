"""Places, ends, answers and transfers Vonage calls."""

from collections.abc import Mapping
from typing import Any, Final

from offhook.telephony.carrier_kit.call_search import search_start
from offhook.telephony.carrier_kit.forms import any_fields, strip_plus
from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import (
    BlindTransfer,
    CallAnswerer,
    CallDialer,
    CallFinder,
    CallLinks,
    CarrierAccount,
    CarrierDocument,
    CarrierFailed,
    CarrierWebhook,
    DialRequest,
    LostCallQuery,
    StatusUpdate,
    TransferLeg,
    TransferLegs,
    TransferOrder,
)
from offhook.telephony.providers.vonage import documents, webhooks
from offhook.telephony.providers.vonage.api import VonageApi

_BEEP_TIMEOUT_S: Final = 45
# After these events of a synchronous action Vonage goes on with the actions of the response, if it has any.
_SOCKET_ENDS: Final = frozenset({"disconnected", "failed", "unanswered", "timeout", "rejected", "busy"})


class VonageCalls(CallDialer, CallFinder, CallAnswerer, BlindTransfer, TransferLegs):
    """Calls the destination of a transfer with its document, so that none is fetched."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = VonageApi(http)

    # Dialer

    async def place_call(self, account: CarrierAccount, request: DialRequest) -> str:
        """Places the call with POST for the document: for a GET, the signature covers the query only in its original
        order."""
        links = request.links
        if links is None:
            raise CarrierFailed(
                "carrier_misconfigured", "Vonage needs a public address for this server.", retryable=False
            )
        body: dict[str, Any] = {
            **_call_fields(
                request.to_number, request.from_number, request.ring_timeout_s, links.callback_url("events")
            ),
            "answer_url": [links.answer_url],
            "answer_method": "POST",
        }
        if request.has_machine_detection:
            body["advanced_machine_detection"] = {
                "behavior": "continue",
                "mode": "detect_beep",
                "beep_timeout": _BEEP_TIMEOUT_S,
            }
        return (await self._api.request_call(account, "POST", "", body)).require_text("uuid")

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        await self._api.request_call(account, "PUT", call_id, {"action": "hangup"}, may_be_gone=True)

    # CallFinder

    async def find_calls(self, account: CarrierAccount, sought: LostCallQuery) -> list[StatusUpdate]:
        """Returns the matching calls. Our media's leg has an address in place of a phone number."""
        begin = search_start(sought).strftime("%Y-%m-%dT%H:%M:%SZ")
        calls = await self._api.list_calls(account, {"date_start": begin, "order": "desc"})
        return [
            StatusUpdate(webhooks.status_of(call) or "initiated", call_id=str(call["uuid"]))
            for call in calls
            if call.get("uuid")
            and call.get("direction") != "inbound"
            and (_party_number(call, "to"), _party_number(call, "from"))
            == (strip_plus(sought.to_number), strip_plus(sought.from_number))
        ]

    # Answerer

    async def answer_call(self, account: CarrierAccount, call_id: str, links: CallLinks) -> CarrierDocument:
        return documents.build_document(documents.connect_stream(call_id, links))

    def hang_up_document(self) -> CarrierDocument | None:
        return documents.no_more_actions()

    def asks_what_follows(self, webhook: CarrierWebhook) -> bool:
        """Returns whether our socket's leg is over, or never began; its other events arrive at the same address."""
        return any_fields(webhook).get("status") in _SOCKET_ENDS

    async def refuse_call(self, account: CarrierAccount, call_id: str, message: str) -> CarrierDocument:
        return documents.build_document(documents.say_message(message))

    def unavailable_document(self, message: str) -> CarrierDocument:
        return documents.build_document(documents.say_message(message))

    # transfers

    async def redirect_caller(
        self,
        account: CarrierAccount,
        call_id: str,
        to_number: str,
        from_number: str,
        timeout_s: float,
        forward_url: str = "",
    ) -> None:
        await self._transfer_leg(account, call_id, documents.forward_call(to_number, from_number, timeout_s))

    async def start_leg(self, account: CarrierAccount, order: TransferOrder) -> str:
        body = {
            **_call_fields(order.to_number, order.from_number, order.timeout_s, order.result_url),
            "ncco": documents.join_conversation(order.transfer_id),
        }
        return (await self._api.request_call(account, "POST", "", body)).require_text("uuid")

    async def join_caller(self, account: CarrierAccount, leg: TransferLeg) -> None:
        """Moves the caller's leg out of its conversation with our socket, which then ends."""
        await self._transfer_leg(account, leg.call_id, documents.join_conversation(leg.transfer_id))

    async def _transfer_leg(self, account: CarrierAccount, call_id: str, ncco: documents.Ncco) -> None:
        body = {"action": "transfer", "destination": {"type": "ncco", "ncco": ncco}}
        await self._api.request_call(account, "PUT", call_id, body)


def _call_fields(to_number: str, from_number: str, ring_s: float, event_url: str) -> Mapping[str, Any]:
    return {
        "to": [{"type": "phone", "number": strip_plus(to_number)}],
        "from": {"type": "phone", "number": strip_plus(from_number)},
        "ringing_timer": min(120, max(1, round(ring_s))),
        "event_url": [event_url],
        "event_method": "POST",
    }


def _party_number(call: Mapping[str, Any], side: str) -> str:
    end = call.get(side)
    return str(end.get("number", "")) if isinstance(end, dict) else ""
