"""The dialect's calls: placing, ending, answering and handing over. Each carrier has its own way of asking."""

from collections.abc import Mapping
from typing import Any, Final, Protocol
from urllib.parse import quote

from offhook.telephony.carrier_kit.call_search import since
from offhook.telephony.carrier_kit.dialects.plivo import documents
from offhook.telephony.carrier_kit.dialects.plivo.webhooks import past_call, transfer_news
from offhook.telephony.carrier_kit.forms import digits
from offhook.telephony.carrier_kit.http import CarrierAnswer
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

POST: Final = "POST"


class DialectApi(Protocol):
    async def ask(
        self,
        account: CarrierAccount,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        params: Mapping[str, str] | None = None,
        may_be_gone: bool = False,
    ) -> CarrierAnswer:
        """``path`` is below the account. ``may_be_gone``: a 404 is an answer. Raises CarrierFailed."""
        ...


class DialectCalls:
    """Implements ``Dialer``, ``CallFinder``, ``Answerer``, ``BlindTransfer`` and ``TransferLegs``. ``display_name`` is for messages,
    ``id_keys`` are the names under which the answer to a new call may have its id."""

    display_name: str
    id_keys: tuple[str, ...] = ("request_uuid",)

    def __init__(self, api: DialectApi) -> None:
        self._api = api

    # Dialer

    async def dial(self, account: CarrierAccount, request: DialRequest) -> str:
        links = request.links
        if links is None:
            message = f"{self.display_name} needs a public address of ours."
            raise CarrierFailed("carrier_misconfigured", message, retryable=False)
        body: dict[str, Any] = {"ring_url": links.callback("ring-callback"), "ring_method": POST}
        if request.has_machine_detection:
            # With an address of its own it does not hold the document back.
            body |= {
                "machine_detection": "true",
                "machine_detection_url": links.callback("ring-callback"),
                "machine_detection_method": POST,
            }
        hangup_url = links.callback("hangup-callback")
        numbers = (request.to_number, request.from_number)
        return await self._call(account, numbers, links.answer_url, hangup_url, request.ring_timeout_s, body)

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        await self._api.ask(account, "DELETE", call_path(call_id), may_be_gone=True)

    # CallFinder

    async def find(self, account: CarrierAccount, sought: SoughtCall) -> list[StatusUpdate]:
        """From the queue to the line to the records, so that a call that moves on meanwhile is seen. Nothing but an id
        is said of queued ones: with any of them, a call that is not found may be among them."""
        numbers = {"from_number": digits(sought.from_number), "to_number": digits(sought.to_number), "limit": "20"}
        waiting = await self._ids(account, {"status": "queued"})
        live = await self._ids(account, {**numbers, "status": "live", "call_direction": "outbound"})
        past = {**numbers, "end_time__gte": since(sought).strftime("%Y-%m-%d %H:%M:%S")}
        records = (await self._api.ask(account, "GET", "/Call/", params=past)).json().get("objects")
        found = [StatusUpdate("initiated", call_id=call_id) for call_id in live]
        for record in records if isinstance(records, list) else ():
            update = past_call(record)
            if update is not None and update.call_id not in live:
                found.append(update)
        if waiting and not found:
            message = f"Calls are still waiting at {self.display_name}."
            raise CarrierFailed("carrier_cannot_say", message, retryable=True)
        return found

    async def _ids(self, account: CarrierAccount, params: Mapping[str, str]) -> list[str]:
        ids = (await self._api.ask(account, "GET", "/Call/", params=params)).json().get("calls")
        return [call_id for call_id in ids if isinstance(call_id, str)] if isinstance(ids, list) else []

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
        numbers = (order.to_number, order.from_number)
        return await self._call(account, numbers, order.answer_url, order.result_url, order.timeout_s, {})

    def parse_transfer(self, webhook: Webhook) -> TransferNews | None:
        return transfer_news(webhook)

    async def seat(self, account: CarrierAccount, leg: TransferLeg) -> str | None:
        """Nothing to do: the destination's document is the room."""
        return None

    async def join(self, account: CarrierAccount, leg: TransferLeg) -> None:
        await self._move(account, leg.call_id, leg.answer_url)

    # parts

    async def _call(
        self,
        account: CarrierAccount,
        numbers: tuple[str, str],
        answer_url: str,
        hangup_url: str,
        ring_s: float,
        more: Mapping[str, Any],
    ) -> str:
        """``numbers``: to and from. The answer address would get the hang-up too, were there no other for it."""
        to_number, from_number = numbers
        body = {
            "from": digits(from_number),
            "to": digits(to_number),
            "answer_url": answer_url,
            "answer_method": POST,
            "hangup_url": hangup_url,
            "hangup_method": POST,
            "ring_timeout": min(120, max(5, round(ring_s))),
            **more,
        }
        said = (await self._api.ask(account, POST, "/Call/", body)).json()
        for name in self.id_keys:
            found = said.get(name)
            if isinstance(found, str) and found:
                return found
        message = f"{self.display_name}'s answer names no call."
        raise CarrierFailed("carrier_failed", message, retryable=False, is_fate_unknown=True)

    async def _move(self, account: CarrierAccount, call_id: str, url: str) -> None:
        """Let the caller's leg go on with the document at ``url``; its stream ends."""
        await self._api.ask(account, POST, call_path(call_id), {"legs": "aleg", "aleg_url": url, "aleg_method": POST})


def call_path(call_id: str) -> str:
    return f"/Call/{quote(call_id, safe='')}/"
