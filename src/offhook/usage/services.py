"""The services of usage, built once per process, as dependencies of requests."""

from typing import Annotated

from fastapi import Depends

from offhook.orgs import StorageQuota
from offhook.root import use_service
from offhook.usage.accounts import CreditService

Quota = Annotated[StorageQuota, Depends(use_service(StorageQuota))]
Credits = Annotated[CreditService, Depends(use_service(CreditService))]
