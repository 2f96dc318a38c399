"""A process that buys a number for an organization, to be killed while it does."""

import asyncio
import json
import sys
from pathlib import Path

from pydantic import SecretStr

from offhook.bootstrap import build_root
from offhook.orgs import Caller
from offhook.settings import Settings
from offhook.telephony.accounts.number_offers import PurchaseRequest
from offhook.telephony.services import TelephonyServices


async def buy(order: dict[str, str]) -> None:
    settings = Settings(
        data_dir=Path(order["data_dir"]),
        public_url="http://testserver",
        platform_carrier=order["provider"],
        platform_carrier_account=SecretStr(order["account"]),
        carrier_urls={order["provider"]: order["carrier"]},
    )
    root = build_root(settings, order["database"])
    caller = Caller.system(int(order["organization"]), role="owner")
    await root.get(TelephonyServices).managed_numbers.quick_connect(
        caller, PurchaseRequest("new", "US", phone_number=order["number"])
    )


def main() -> None:
    asyncio.run(buy(json.loads(sys.argv[1])))
