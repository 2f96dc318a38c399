"""Recordings: fixed speech of an organization, for greetings, transitions and messages."""

from offhook.kit.crypto import Keyring
from offhook.recordings import endpoints, tasks
from offhook.recordings.library import Library
from offhook.recordings.uploads import Uploads
from offhook.root import Root

__all__ = ["Library", "Uploads", "register"]


def register(root: Root) -> None:
    """Add the routes and the services; the workflows domain provides ``ports.RecordingUsers``."""
    root.provide(Library, Library(root.db, root.storage))
    keyring = root.get(Keyring)
    root.provide(Uploads, Uploads(db=root.db, storage=root.storage, keyring=keyring, clock=root.clock))
    root.api.include_router(endpoints.router)
    root.jobs.add("recordings.sweep", tasks.sweep_handler(root), every_s=tasks.SWEEP_EVERY_S)
