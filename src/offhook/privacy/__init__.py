"""What an organization has about one person: erased and exported by phone number."""

from offhook.kit.crypto import Keyring
from offhook.privacy import endpoints
from offhook.privacy.retention import RETENTION_INTERVAL_S, RETENTION_JOB, RetentionSweep
from offhook.privacy.service import JOB, SWEEP_INTERVAL_S, SWEEP_JOB, PersonData
from offhook.privacy.services import PrivacyServices
from offhook.root import Root
from offhook.runs import RunServices

__all__ = ["PersonData", "PrivacyServices", "register"]


def register(root: Root) -> None:
    """Registers the routes and the jobs."""
    runs = root.get(RunServices)
    data = PersonData(root.db, root.storage, runs.vault, root.get(Keyring), root.clock, runs.eraser)
    root.provide(PrivacyServices, PrivacyServices(data, root.storage))
    root.jobs.add(JOB, data.handle_request)
    root.jobs.add(SWEEP_JOB, data.sweep_requests, every_s=SWEEP_INTERVAL_S)
    sweep = RetentionSweep(root.db, root.clock, runs.eraser)
    root.jobs.add(RETENTION_JOB, sweep.sweep, every_s=RETENTION_INTERVAL_S, lane="retention")
    root.api.include_router(endpoints.router)
