"""The services of tools, built once per process by ``register`` and passed to requests by one dependency."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from offhook.kit.crypto import Keyring
from offhook.root import use_service
from offhook.tools.ports import ReferenceFinder
from offhook.tools.tool_runner import ToolRunner


@dataclass(frozen=True, slots=True)
class ToolServices:
    """The services of tools; the workflows domain replaces ``find_references`` by its own."""

    runner: ToolRunner
    keyring: Keyring
    find_references: ReferenceFinder


Services = Annotated[ToolServices, Depends(use_service(ToolServices))]
