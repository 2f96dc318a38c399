"""Places, ends and transfers Cloudonix calls. A call's id is its session token; no other id works."""

from typing import Any
from urllib.parse import quote

from offhook.telephony.carrier_kit.dialects.twilio import documents
from offhook.telephony.carrier_kit.http import CarrierHttp, get_setting
from offhook.telephony.ports import (
    BlindTransfer,
    CallDialer,
    CarrierAccount,
    CarrierFailed,
    DialRequest,
    TransferLeg,
    TransferLegs,
    TransferOrder,
)
from offhook.telephony.providers.cloudonix.api import CloudonixApi, domain_of


class CloudonixCalls(CallDialer, BlindTransfer, TransferLegs):
    """Transfers a caller to the room in which the destination's call begins."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = CloudonixApi(http)

    # Dialer

    async def place_call(self, account: CarrierAccount, request: DialRequest) -> str:
        """Places the call with its document, because a request for one would arrive without proof."""
        links = request.links
        if links is None:
            raise CarrierFailed(
                "carrier_misconfigured", "Cloudonix needs a public address for this server.", retryable=False
            )
        cxml = documents.connect_stream(links.media_url).body.decode()
        status_url = links.callback_url("status-callback")
        return await self._create_call(
            account, request.to_number, request.from_number, request.ring_timeout_s, cxml, status_url
        )

    async def _create_call(
        self, account: CarrierAccount, to_number: str, from_number: str, ring_s: float, cxml: str, callback: str
    ) -> str:
        body: dict[str, Any] = {
            "destination": to_number,
            "caller-id": from_number,
            "cxml": cxml,
            "callback": callback,
            "timeout": min(600, max(5, round(ring_s))),
        }
        if trunk := get_setting(account, "trunk"):
            body["trunk"] = trunk
        return (
            await self._api.send_request(account, "POST", f"/calls/{domain_of(account)}/application", body)
        ).require_text("token")

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        path = f"/customers/self/domains/{domain_of(account)}/sessions/{quote(call_id, safe='')}"
        await self._api.send_request(account, "DELETE", path, may_be_gone=True)

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
        await self._replace_document(account, call_id, documents.forward_call(to_number, from_number, timeout_s))

    async def start_leg(self, account: CarrierAccount, order: TransferOrder) -> str:
        room = documents.join_conference(order.transfer_id)
        return await self._create_call(
            account, order.to_number, order.from_number, order.timeout_s, room, order.result_url
        )

    async def join_caller(self, account: CarrierAccount, leg: TransferLeg) -> None:
        await self._replace_document(account, leg.call_id, documents.join_conference(leg.transfer_id))

    async def _replace_document(self, account: CarrierAccount, call_id: str, cxml: str) -> None:
        path = f"/calls/{domain_of(account)}/sessions/{quote(call_id, safe='')}/application"
        await self._api.send_request(account, "POST", path, {"cxml": cxml})
