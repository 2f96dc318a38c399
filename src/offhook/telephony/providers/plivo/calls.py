"""Plivo: placing, ending, answering and handing over calls."""

from typing import Any, Final
from urllib.parse import quote

from offhook.telephony.carrier_forms import digits
from offhook.telephony.carrier_http import CarrierHttp
from offhook.telephony.plivo_dialect import documents
from offhook.telephony.plivo_dialect.webhooks import transfer_news
from offhook.telephony.ports import (
    CallLinks,
    CarrierAccount,
    CarrierFailed,
    DialRequest,
    Document,
    TransferLeg,
    TransferNews,
    TransferOrder,
    Webhook,
)
from offhook.telephony.providers.plivo.api import PlivoApi

POST: Final = "POST"


class PlivoCalls:
    """Implements ``Dialer``, ``Answerer``, ``BlindTransfer`` and ``TransferLegs``."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = PlivoApi(http)

    # Dialer

    async def dial(self, account: CarrierAccount, request: DialRequest) -> str:
        links = request.links
        if links is None:
            raise CarrierFailed("carrier_misconfigured", "Plivo needs a public address of ours.", retryable=False)
        body: dict[str, Any] = {
            "from": digits(request.from_number),
            "to": digits(request.to_number),
            "answer_url": links.answer_url,
            "answer_method": POST,
            "ring_url": links.callback("ring-callback"),
            "ring_method": POST,
            "hangup_url": links.callback("hangup-callback"),
            "hangup_method": POST,
            "ring_timeout": _ring_s(request.ring_timeout_s),
        }
        if request.has_machine_detection:
            # With an address of its own it does not hold the document back.
            body |= {
                "machine_detection": "true",
                "machine_detection_url": links.callback("ring-callback"),
                "machine_detection_method": POST,
            }
        return (await self._api.ask(account, POST, "/Call/", body)).text("request_uuid")

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        """A call that is not fired yet is no call but a request."""
        ended = await self._api.ask(account, "DELETE", _call(call_id), may_be_gone=True)
        if ended.status == 404:
            await self._api.ask(account, "DELETE", f"/Request/{quote(call_id, safe='')}/", may_be_gone=True)

    # Answerer

    async def connect(self, account: CarrierAccount, call_id: str, links: CallLinks) -> Document:
        return documents.connect(links.media_url)

    async def refuse(self, account: CarrierAccount, call_id: str, message: str) -> Document:
        return documents.say(message)

    def unavailable(self, message: str) -> Document:
        return documents.say(message)

    def room(self, transfer_id: str) -> Document | None:
        return documents.conference(transfer_id)

    def forward(self, to_number: str, from_number: str, timeout_s: float) -> Document | None:
        return documents.forward(to_number, from_number, timeout_s)

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
        await self._move(account, call_id, forward_url)

    async def start(self, account: CarrierAccount, order: TransferOrder) -> str:
        body = {
            "from": digits(order.from_number),
            "to": digits(order.to_number),
            "answer_url": order.answer_url,
            "answer_method": POST,
            "hangup_url": order.result_url,
            "hangup_method": POST,
            "ring_timeout": _ring_s(order.timeout_s),
        }
        return (await self._api.ask(account, POST, "/Call/", body)).text("request_uuid")

    def parse_transfer(self, webhook: Webhook) -> TransferNews | None:
        return transfer_news(webhook)

    async def seat(self, account: CarrierAccount, leg: TransferLeg) -> str | None:
        """Nothing to do: the destination's document is the room."""
        return None

    async def join(self, account: CarrierAccount, leg: TransferLeg) -> None:
        await self._move(account, leg.call_id, leg.answer_url)

    async def _move(self, account: CarrierAccount, call_id: str, url: str) -> None:
        """Let the caller's leg go on with the document at ``url``; its stream ends."""
        await self._api.ask(account, POST, _call(call_id), {"legs": "aleg", "aleg_url": url, "aleg_method": POST})


def _call(call_id: str) -> str:
    return f"/Call/{quote(call_id, safe='')}/"


def _ring_s(seconds: float) -> int:
    return min(120, max(5, round(seconds)))
