"""Cloudonix: placing, ending and handing over calls. A call is its session's token; no other id works."""

from typing import Any
from urllib.parse import quote

from offhook.telephony.carrier_kit.dialects.twilio import documents
from offhook.telephony.carrier_kit.http import CarrierHttp, optional
from offhook.telephony.ports import (
    CarrierAccount,
    CarrierFailed,
    DialRequest,
    TransferLeg,
    TransferNews,
    TransferOrder,
    Webhook,
)
from offhook.telephony.providers.cloudonix import webhooks
from offhook.telephony.providers.cloudonix.api import CloudonixApi, domain_of


class CloudonixCalls:
    """Implements ``Dialer``, ``BlindTransfer`` and ``TransferLegs``."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = CloudonixApi(http)

    # Dialer

    async def dial(self, account: CarrierAccount, request: DialRequest) -> str:
        """The document goes along: a request for one would come without a proof."""
        links = request.links
        if links is None:
            raise CarrierFailed("carrier_misconfigured", "Cloudonix needs a public address of ours.", retryable=False)
        cxml = documents.connect(links.media_url).body.decode()
        status_url = links.callback("status-callback")
        return await self._dial(
            account, request.to_number, request.from_number, request.ring_timeout_s, cxml, status_url
        )

    async def _dial(
        self, account: CarrierAccount, to_number: str, from_number: str, ring_s: float, cxml: str, callback: str
    ) -> str:
        body: dict[str, Any] = {
            "destination": to_number,
            "caller-id": from_number,
            "cxml": cxml,
            "callback": callback,
            "timeout": min(600, max(5, round(ring_s))),
        }
        if trunk := optional(account, "trunk"):
            body["trunk"] = trunk
        return (await self._api.ask(account, "POST", f"/calls/{domain_of(account)}/application", body)).text("token")

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        path = f"/customers/self/domains/{domain_of(account)}/sessions/{quote(call_id, safe='')}"
        await self._api.ask(account, "DELETE", path, may_be_gone=True)

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
        await self._switch(account, call_id, documents.forward(to_number, from_number, timeout_s))

    async def start(self, account: CarrierAccount, order: TransferOrder) -> str:
        room = documents.join(order.transfer_id)
        return await self._dial(account, order.to_number, order.from_number, order.timeout_s, room, order.result_url)

    def parse_transfer(self, webhook: Webhook) -> TransferNews | None:
        return webhooks.transfer_news(webhook)

    async def seat(self, account: CarrierAccount, leg: TransferLeg) -> str | None:
        """Nothing to do: the destination was called into the room."""
        return None

    async def join(self, account: CarrierAccount, leg: TransferLeg) -> None:
        await self._switch(account, leg.call_id, documents.join(leg.transfer_id))

    async def _switch(self, account: CarrierAccount, call_id: str, cxml: str) -> None:
        path = f"/calls/{domain_of(account)}/sessions/{quote(call_id, safe='')}/application"
        await self._api.ask(account, "POST", path, {"cxml": cxml})
