"""The one service of usage, built once per process by ``register``, as a dependency of requests."""

from typing import Annotated

from fastapi import Depends

from offhook.root import use_service
from offhook.usage.accounts import CreditService

Credits = Annotated[CreditService, Depends(use_service(CreditService))]
