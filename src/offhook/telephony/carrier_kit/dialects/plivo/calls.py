"""Places, ends, answers and transfers calls in the dialect. Each carrier sends its own requests."""

from collections.abc import Mapping
from typing import Any, Final, Protocol
from urllib.parse import quote

from offhook.telephony.carrier_kit.call_search import search_start
from offhook.telephony.carrier_kit.dialects.plivo import documents
from offhook.telephony.carrier_kit.dialects.plivo.webhooks import past_call
from offhook.telephony.carrier_kit.forms import strip_plus
from offhook.telephony.carrier_kit.http import CarrierResponse
from offhook.telephony.ports import (
    BlindTransfer,
    CallAnswerer,
    CallDialer,
    CallFinder,
    CallLinks,
    CarrierAccount,
    CarrierDocument,
    CarrierFailed,
    DialRequest,
    LostCallQuery,
    StatusUpdate,
    TransferLeg,
    TransferLegs,
    TransferOrder,
)

POST: Final = "POST"


class PlivoDialectApi(Protocol):
    async def send_request(
        self,
        account: CarrierAccount,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        params: Mapping[str, str] | None = None,
        may_be_gone: bool = False,
    ) -> CarrierResponse:
        """Sends a request to ``path`` below the account. With ``may_be_gone``, a 404 is a valid response. Raises
        CarrierFailed."""
        ...


class PlivoDialectCalls(CallDialer, CallFinder, CallAnswerer, BlindTransfer, TransferLegs):
    """``display_name`` is for messages; ``id_keys`` are the possible names of the id in the response to a new call."""

    display_name: str
    id_keys: tuple[str, ...] = ("request_uuid",)

    def __init__(self, api: PlivoDialectApi) -> None:
        self._api = api

    # Dialer

    async def place_call(self, account: CarrierAccount, request: DialRequest) -> str:
        links = request.links
        if links is None:
            message = f"{self.display_name} needs a public address for this server."
            raise CarrierFailed("carrier_misconfigured", message, retryable=False)
        body: dict[str, Any] = {"ring_url": links.callback_url("ring-callback"), "ring_method": POST}
        if request.has_machine_detection:
            # A detection with its own URL does not delay the document.
            body |= {
                "machine_detection": "true",
                "machine_detection_url": links.callback_url("ring-callback"),
                "machine_detection_method": POST,
            }
        hangup_url = links.callback_url("hangup-callback")
        numbers = (request.to_number, request.from_number)
        return await self._create_call(account, numbers, links.answer_url, hangup_url, request.ring_timeout_s, body)

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        await self._api.send_request(account, "DELETE", call_path(call_id), may_be_gone=True)

    # CallFinder

    async def find_calls(self, account: CarrierAccount, sought: LostCallQuery) -> list[StatusUpdate]:
        """Searches the queue, then live calls, then records, so that a call that moves on in between is found.
        Queued calls have nothing but an id: any of them may be a call that was not found."""
        numbers = {
            "from_number": strip_plus(sought.from_number),
            "to_number": strip_plus(sought.to_number),
            "limit": "20",
        }
        waiting = await self._list_call_ids(account, {"status": "queued"})
        live = await self._list_call_ids(account, {**numbers, "status": "live", "call_direction": "outbound"})
        past = {**numbers, "end_time__gte": search_start(sought).strftime("%Y-%m-%d %H:%M:%S")}
        records = (await self._api.send_request(account, "GET", "/Call/", params=past)).json().get("objects")
        found = [StatusUpdate("initiated", call_id=call_id) for call_id in live]
        for record in records if isinstance(records, list) else ():
            update = past_call(record)
            if update is not None and update.call_id not in live:
                found.append(update)
        if waiting and not found:
            message = f"Calls are still waiting at {self.display_name}."
            raise CarrierFailed("carrier_cannot_say", message, retryable=True)
        return found

    async def _list_call_ids(self, account: CarrierAccount, params: Mapping[str, str]) -> list[str]:
        ids = (await self._api.send_request(account, "GET", "/Call/", params=params)).json().get("calls")
        return [call_id for call_id in ids if isinstance(call_id, str)] if isinstance(ids, list) else []

    # Answerer

    async def answer_call(self, account: CarrierAccount, call_id: str, links: CallLinks) -> CarrierDocument:
        return documents.connect_stream(links.media_url, links.resume_url)

    def hang_up_document(self) -> CarrierDocument | None:
        return documents.hang_up()

    async def refuse_call(self, account: CarrierAccount, call_id: str, message: str) -> CarrierDocument:
        return documents.say_message(message)

    async def reject_as_busy(self, account: CarrierAccount, call_id: str) -> CarrierDocument | None:
        return documents.reject_as_busy()

    def unavailable_document(self, message: str) -> CarrierDocument:
        return documents.say_message(message)

    def conference_document(self, transfer_id: str) -> CarrierDocument | None:
        """Returns the document that joins the conference. The first participant creates it; no request does."""
        return documents.join_conference(transfer_id)

    def forward_document(self, to_number: str, from_number: str, timeout_s: float) -> CarrierDocument | None:
        return documents.forward_call(to_number, from_number, timeout_s)

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
        await self._redirect_leg(account, call_id, forward_url)

    async def start_leg(self, account: CarrierAccount, order: TransferOrder) -> str:
        numbers = (order.to_number, order.from_number)
        return await self._create_call(account, numbers, order.answer_url, order.result_url, order.timeout_s, {})

    async def join_caller(self, account: CarrierAccount, leg: TransferLeg) -> None:
        await self._redirect_leg(account, leg.call_id, leg.answer_url)

    # helpers

    async def _create_call(
        self,
        account: CarrierAccount,
        numbers: tuple[str, str],
        answer_url: str,
        hangup_url: str,
        ring_s: float,
        more: Mapping[str, Any],
    ) -> str:
        """Creates a call. ``numbers``: to and from. Without a separate address, the answer address would get the
        hang-up too."""
        to_number, from_number = numbers
        body = {
            "from": strip_plus(from_number),
            "to": strip_plus(to_number),
            "answer_url": answer_url,
            "answer_method": POST,
            "hangup_url": hangup_url,
            "hangup_method": POST,
            "ring_timeout": min(120, max(5, round(ring_s))),
            **more,
        }
        response = (await self._api.send_request(account, POST, "/Call/", body)).json()
        for name in self.id_keys:
            found = response.get(name)
            if isinstance(found, str) and found:
                return found
        message = f"{self.display_name}'s answer names no call."
        raise CarrierFailed("carrier_failed", message, retryable=False, is_fate_unknown=True)

    async def _redirect_leg(self, account: CarrierAccount, call_id: str, url: str) -> None:
        """Continues the caller's leg with the document at ``url``; its stream ends."""
        await self._api.send_request(
            account, POST, call_path(call_id), {"legs": "aleg", "aleg_url": url, "aleg_method": POST}
        )


def call_path(call_id: str) -> str:
    return f"/Call/{quote(call_id, safe='')}/"
