"""Routes the calls of a Cloudonix domain and checks its key. Numbers come from the user's own trunks."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from offhook.telephony.carrier_kit.http import CarrierHttp, require_setting
from offhook.telephony.ports import CarrierAccount, CarrierFailed
from offhook.telephony.providers.cloudonix.api import GONE, CloudonixApi, domain_of


class CloudonixDomain:
    """Implements ``NumberRouting`` and ``AccountCheck``."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = CloudonixApi(http)

    async def route_number(self, account: CarrierAccount, number: str, inbound_url: str) -> None:
        """Sets the application's address. Which numbers lead to it is configured at Cloudonix, for some by patterns."""
        name = quote(require_setting(account, "application_name"), safe="")
        path = f"/customers/self/domains/{domain_of(account)}/applications/{name}"
        await self._api.send_request(account, "PATCH", path, {"url": inbound_url, "method": "POST"})

    async def check_account(self, account: CarrierAccount, inbound_url: str) -> Mapping[str, Any]:
        path = f"/customers/self/domains/{domain_of(account)}"
        if (await self._api.send_request(account, "GET", path, may_be_gone=True)).status == GONE:
            wrong = require_setting(account, "domain_id")
            raise CarrierFailed("carrier_misconfigured", f"Cloudonix has no domain {wrong}.", retryable=False)
        return {}
