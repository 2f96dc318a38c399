"""The services of browser calls, built once per process by ``register`` and passed to the socket by one dependency."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from offhook.root import use_service
from offhook.runs import LiveCallRegistry


@dataclass(frozen=True, slots=True)
class BrowserServices:
    """The services that the socket of browser calls uses, and the limit of a message in bytes."""

    live: LiveCallRegistry
    max_message_bytes: int


Services = Annotated[BrowserServices, Depends(use_service(BrowserServices))]
