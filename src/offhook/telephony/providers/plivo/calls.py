"""Plivo's calls: the dialect's, plus ending calls that are still queued."""

from urllib.parse import quote

from offhook.telephony.carrier_kit.dialects.plivo.calls import PlivoDialectCalls, call_path
from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import CarrierAccount
from offhook.telephony.providers.plivo.api import GONE, PlivoApi


class PlivoCalls(PlivoDialectCalls):
    display_name = "Plivo"

    def __init__(self, http: CarrierHttp) -> None:
        super().__init__(PlivoApi(http))

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        """Ends a call. One that is still queued is a request and no call yet."""
        ended = await self._api.send_request(account, "DELETE", call_path(call_id), may_be_gone=True)
        if ended.status == GONE:
            await self._api.send_request(account, "DELETE", f"/Request/{quote(call_id, safe='')}/", may_be_gone=True)
