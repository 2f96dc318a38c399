"""The one service of prices, provided by the domain that bills, as a dependency of requests."""

from typing import Annotated

from fastapi import Depends

from offhook.models.prices.ports import BillingPolicy
from offhook.root import use_service

Billing = Annotated[BillingPolicy, Depends(use_service(BillingPolicy))]
