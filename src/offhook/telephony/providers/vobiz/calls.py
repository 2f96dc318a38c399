"""Vobiz's calls: the dialect's, and their id has several names, which are documented as the same thing."""

from offhook.telephony.carrier_http import CarrierHttp
from offhook.telephony.plivo_dialect.calls import DialectCalls
from offhook.telephony.providers.vobiz.api import VobizApi


class VobizCalls(DialectCalls):
    display_name = "Vobiz"
    id_keys = ("call_uuid", "request_uuid", "CallUUID")

    def __init__(self, http: CarrierHttp) -> None:
        super().__init__(VobizApi(http))
