"""Recordings: prerecorded speech for greetings, transitions and messages."""

from offhook.kit.crypto import Keyring
from offhook.recordings import endpoints, tasks
from offhook.recordings.library import RecordingLibrary
from offhook.recordings.uploads import RecordingUploads
from offhook.root import Root

__all__ = ["RecordingLibrary", "RecordingUploads", "register"]


def register(root: Root) -> None:
    """Adds the routes and the services; the workflows domain provides ``ports.RecordingUsers``."""
    root.provide(RecordingLibrary, RecordingLibrary(root.db, root.storage))
    keyring = root.get(Keyring)
    root.provide(
        RecordingUploads, RecordingUploads(db=root.db, storage=root.storage, keyring=keyring, clock=root.clock)
    )
    root.api.include_router(endpoints.router)
    root.jobs.add("recordings.sweep", tasks.sweep_handler(root), every_s=tasks.SWEEP_INTERVAL_S)
