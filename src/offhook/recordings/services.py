"""The services of recordings, built once per process by ``register`` and passed to requests by one dependency."""

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends

from offhook.kit.clock import Clock
from offhook.kit.files.file_store import FileStore
from offhook.models.ports import ModelSource
from offhook.recordings.library import RecordingLibrary
from offhook.recordings.ports import RecordingUsers
from offhook.recordings.uploads import RecordingUploads
from offhook.root import use_service


@dataclass(frozen=True, slots=True)
class RecordingServices:
    """The services that the endpoints of recordings use. Domains above add to ``users``."""

    library: RecordingLibrary
    uploads: RecordingUploads
    models: ModelSource
    storage: FileStore
    clock: Clock
    users: list[RecordingUsers] = field(default_factory=list)


Services = Annotated[RecordingServices, Depends(use_service(RecordingServices))]
