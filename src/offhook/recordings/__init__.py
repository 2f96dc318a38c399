"""Recordings: prerecorded speech for greetings, transitions and messages."""

from offhook.kit.crypto import Keyring
from offhook.models.ports import ModelSource
from offhook.orgs import StorageQuota
from offhook.recordings import endpoints, tasks
from offhook.recordings.library import RecordingLibrary
from offhook.recordings.service import UPLOADS_FOLDER
from offhook.recordings.services import RecordingServices
from offhook.recordings.uploads import RecordingUploads
from offhook.root import Root

__all__ = ["RecordingLibrary", "RecordingServices", "register"]


def register(root: Root) -> None:
    """Adds the routes and the services. Domains whose definitions name recordings add to ``users`` of the services."""
    library = RecordingLibrary(root.db, root.storage)
    quota = root.get(StorageQuota)
    quota.folders["recordings"] = UPLOADS_FOLDER
    uploads = RecordingUploads(
        db=root.db, storage=root.storage, keyring=root.get(Keyring), clock=root.clock, quota=quota
    )
    root.provide(RecordingLibrary, library)
    root.on_stop.append(library.close)
    models = root.get(ModelSource)  # type: ignore[type-abstract]  # found by its port
    root.provide(RecordingServices, RecordingServices(library, uploads, models, root.storage, root.clock))
    root.api.include_router(endpoints.router)
    drafts = tasks.DraftSweep(root.storage, root.clock)
    root.on_start.append(drafts.start)
    root.on_work.append(drafts.start)
    root.on_stop.append(drafts.close)
    root.jobs.add("recordings.sweep", tasks.sweep_handler(root), every_s=tasks.SWEEP_INTERVAL_S)
