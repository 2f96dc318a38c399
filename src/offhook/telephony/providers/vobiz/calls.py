"""Vobiz: placing, ending, answering and handing over calls."""

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
from offhook.telephony.providers.vobiz.api import VobizApi

POST: Final = "POST"


class VobizCalls:
    """Implements ``Dialer``, ``Answerer``, ``BlindTransfer`` and ``TransferLegs``."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = VobizApi(http)

    # Dialer

    async def dial(self, account: CarrierAccount, request: DialRequest) -> str:
        links = request.links
        if links is None:
            raise CarrierFailed("carrier_misconfigured", "Vobiz needs a public address of ours.", retryable=False)
        body: dict[str, Any] = {
            "from": digits(request.from_number),
            "to": digits(request.to_number),
            "answer_url": links.answer_url,
            "answer_method": POST,
            "ring_url": links.callback("ring-callback"),
            "ring_method": POST,
            # Left out, the answer address would get the hang-up too.
            "hangup_url": links.callback("hangup-callback"),
            "hangup_method": POST,
            "ring_timeout": _ring_s(request.ring_timeout_s),
        }
        if request.has_machine_detection:
            body |= {
                "machine_detection": "true",
                "machine_detection_url": links.callback("ring-callback"),
                "machine_detection_method": POST,
            }
        return _uuid((await self._api.ask(account, POST, "/Call/", body)).json())

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        await self._api.ask(account, "DELETE", _call(call_id), may_be_gone=True)

    # Answerer

    async def connect(self, account: CarrierAccount, call_id: str, links: CallLinks) -> Document:
        return documents.connect(links.media_url)

    async def refuse(self, account: CarrierAccount, call_id: str, message: str) -> Document:
        return documents.say(message)

    def unavailable(self, message: str) -> Document:
        return documents.say(message)

    def room(self, transfer_id: str) -> Document | None:
        """A conference is made by whoever comes first; there is no request that makes one."""
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
        return _uuid((await self._api.ask(account, POST, "/Call/", body)).json())

    def parse_transfer(self, webhook: Webhook) -> TransferNews | None:
        return transfer_news(webhook)

    async def seat(self, account: CarrierAccount, leg: TransferLeg) -> str | None:
        """Nothing to do: the destination's document is the room."""
        return None

    async def join(self, account: CarrierAccount, leg: TransferLeg) -> None:
        await self._move(account, leg.call_id, leg.answer_url)

    async def _move(self, account: CarrierAccount, call_id: str, url: str) -> None:
        await self._api.ask(account, POST, _call(call_id), {"legs": "aleg", "aleg_url": url, "aleg_method": POST})


def _call(call_id: str) -> str:
    return f"/Call/{quote(call_id, safe='')}/"


def _uuid(said: dict[str, Any]) -> str:
    """The names are documented as the same thing."""
    for name in ("call_uuid", "request_uuid", "CallUUID"):
        found = said.get(name)
        if isinstance(found, str) and found:
            return found
    raise CarrierFailed("carrier_failed", "Vobiz's answer names no call.", retryable=False, is_fate_unknown=True)


def _ring_s(seconds: float) -> int:
    return min(120, max(5, round(seconds)))
