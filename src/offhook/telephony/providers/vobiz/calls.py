"""Vobiz's calls: the dialect's, with an id under several names that are documented as synonyms."""

from urllib.parse import quote

from offhook.runs.finishing import carrier_charges
from offhook.telephony.carrier_kit.dialects.plivo.calls import PlivoDialectCalls
from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import CarrierAccount, CarrierCallBill
from offhook.telephony.providers.vobiz.api import CURRENCY, VobizApi


class VobizCalls(PlivoDialectCalls):
    display_name = "Vobiz"
    id_keys = ("call_uuid", "request_uuid", "CallUUID")

    def __init__(self, http: CarrierHttp) -> None:
        super().__init__(VobizApi(http))

    async def read_bill(self, account: CarrierAccount, call_id: str) -> CarrierCallBill:
        """Reads the bill from the call's record, which exists once the call is over. Implements ``BillReader``."""
        path = f"/cdr/{quote(call_id, safe='')}"
        record = (await self._api.send_request(account, "GET", path, may_be_gone=True)).json()
        found = carrier_charges.parse_carrier_bill(
            record.get("duration"), record.get("billsec"), record.get("cost"), record.get("currency") or CURRENCY
        )
        return found or CarrierCallBill()
