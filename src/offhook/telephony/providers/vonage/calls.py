"""Vonage: placing, ending, answering and handing over calls."""

from collections.abc import Mapping
from typing import Any, Final

from offhook.telephony.carrier_kit.call_search import since
from offhook.telephony.carrier_kit.forms import digits
from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import (
    CallLinks,
    CarrierAccount,
    CarrierFailed,
    DialRequest,
    Document,
    SoughtCall,
    StatusUpdate,
    TransferLeg,
    TransferNews,
    TransferOrder,
    Webhook,
)
from offhook.telephony.providers.vonage import documents, webhooks
from offhook.telephony.providers.vonage.api import VonageApi

_BEEP_TIMEOUT_S: Final = 45


class VonageCalls:
    """Implements ``Dialer``, ``CallFinder``, ``Answerer``, ``BlindTransfer`` and ``TransferLegs``."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = VonageApi(http)

    # Dialer

    async def dial(self, account: CarrierAccount, request: DialRequest) -> str:
        """POST for the document: of a GET the signature covers the query only in the order that it was sent in."""
        links = request.links
        if links is None:
            raise CarrierFailed("carrier_misconfigured", "Vonage needs a public address of ours.", retryable=False)
        body: dict[str, Any] = {
            **_between(request.to_number, request.from_number, request.ring_timeout_s, links.callback("events")),
            "answer_url": [links.answer_url],
            "answer_method": "POST",
        }
        if request.has_machine_detection:
            body["advanced_machine_detection"] = {
                "behavior": "continue",
                "mode": "detect_beep",
                "beep_timeout": _BEEP_TIMEOUT_S,
            }
        return (await self._api.call(account, "POST", "", body)).text("uuid")

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        await self._api.call(account, "PUT", call_id, {"action": "hangup"}, may_be_gone=True)

    # CallFinder

    async def find(self, account: CarrierAccount, sought: SoughtCall) -> list[StatusUpdate]:
        """Our media's leg has an address where a phone has its number."""
        begin = since(sought).strftime("%Y-%m-%dT%H:%M:%SZ")
        calls = await self._api.calls(account, {"date_start": begin, "order": "desc"})
        return [
            StatusUpdate(webhooks.status_of(call) or "initiated", call_id=str(call["uuid"]))
            for call in calls
            if call.get("uuid")
            and call.get("direction") != "inbound"
            and (_number(call, "to"), _number(call, "from")) == (digits(sought.to_number), digits(sought.from_number))
        ]

    # Answerer

    async def connect(self, account: CarrierAccount, call_id: str, links: CallLinks) -> Document:
        return documents.document(documents.connect(call_id, links))

    async def refuse(self, account: CarrierAccount, call_id: str, message: str) -> Document:
        return documents.document(documents.say(message))

    def unavailable(self, message: str) -> Document:
        return documents.document(documents.say(message))

    def room(self, transfer_id: str) -> Document | None:
        """The destination is called with its document; none is fetched."""
        return None

    def forward(self, to_number: str, from_number: str, timeout_s: float) -> Document | None:
        return None

    # transfers

    async def redirect(
        self,
        account: CarrierAccount,
        call_id: str,
        to_number: str,
        from_number: str,
        timeout_s: float,
        forward_url: str = "",
    ) -> None:
        await self._move(account, call_id, documents.forward(to_number, from_number, timeout_s))

    async def start(self, account: CarrierAccount, order: TransferOrder) -> str:
        body = {
            **_between(order.to_number, order.from_number, order.timeout_s, order.result_url),
            "ncco": documents.conversation(order.transfer_id),
        }
        return (await self._api.call(account, "POST", "", body)).text("uuid")

    def parse_transfer(self, webhook: Webhook) -> TransferNews | None:
        return webhooks.transfer_news(webhook)

    async def seat(self, account: CarrierAccount, leg: TransferLeg) -> str | None:
        """Nothing to do: the destination was called into the conversation."""
        return None

    async def join(self, account: CarrierAccount, leg: TransferLeg) -> None:
        """The caller's leg leaves the conversation with our socket, which ends with it."""
        await self._move(account, leg.call_id, documents.conversation(leg.transfer_id))

    async def _move(self, account: CarrierAccount, call_id: str, ncco: documents.Ncco) -> None:
        body = {"action": "transfer", "destination": {"type": "ncco", "ncco": ncco}}
        await self._api.call(account, "PUT", call_id, body)


def _between(to_number: str, from_number: str, ring_s: float, event_url: str) -> Mapping[str, Any]:
    return {
        "to": [{"type": "phone", "number": digits(to_number)}],
        "from": {"type": "phone", "number": digits(from_number)},
        "ringing_timer": min(120, max(1, round(ring_s))),
        "event_url": [event_url],
        "event_method": "POST",
    }


def _number(call: Mapping[str, Any], side: str) -> str:
    end = call.get(side)
    return str(end.get("number", "")) if isinstance(end, dict) else ""
