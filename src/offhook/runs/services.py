"""The services of runs, built once per process by ``register`` and passed to requests by one dependency."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from offhook.kit.clock import Clock
from offhook.kit.crypto import Keyring
from offhook.kit.files.file_store import FileStore
from offhook.root import base_url, use_service
from offhook.runs.artifacts.links import RunLinks
from offhook.runs.lists.usage_list import UsageReports
from offhook.runs.live.agent_factory import AgentFactory
from offhook.runs.live.calls import LiveCallRegistry
from offhook.runs.live.event_streams import RunStreams
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.live.sweeper import RunSweeper
from offhook.runs.modes import RunModes
from offhook.runs.partitions.run_partitions import RunPartitions
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.records.deletion import RunEraser
from offhook.runs.strips.call_strips import CallStrips


@dataclass(frozen=True, slots=True)
class RunServices:
    """The services of runs, for their endpoints and for the domains above."""

    writer: EventWriter
    streams: RunStreams
    agents: AgentFactory
    live: LiveCallRegistry
    sweeper: RunSweeper
    modes: RunModes
    usage_reports: UsageReports
    strips: CallStrips
    eraser: RunEraser
    partitions: RunPartitions
    storage: FileStore
    vault: RecordingVault
    keyring: Keyring
    clock: Clock


Services = Annotated[RunServices, Depends(use_service(RunServices))]


async def links_of(request: Request, services: Services) -> RunLinks:
    """Provides the links of this request's server to endpoints that create or verify them."""
    return RunLinks(base_url(request), services.keyring, services.clock)


Links = Annotated[RunLinks, Depends(links_of)]
