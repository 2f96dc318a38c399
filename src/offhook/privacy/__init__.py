"""What an organization has about one person, erased and exported by phone number; and organizations, deleted."""

from offhook.campaigns import CampaignServices
from offhook.kit.crypto import Keyring
from offhook.privacy import endpoints, organization_endpoints
from offhook.privacy.organization_deletion import JOB as DELETION_JOB
from offhook.privacy.organization_eraser import SWEEP_INTERVAL_S as DELETION_SWEEP_INTERVAL_S
from offhook.privacy.organization_eraser import SWEEP_JOB as DELETION_SWEEP_JOB
from offhook.privacy.organization_eraser import OrganizationEraser
from offhook.privacy.retention import endpoints as retention_endpoints
from offhook.privacy.retention.sweep import RETENTION_INTERVAL_S, RETENTION_JOB, RetentionSweep
from offhook.privacy.service import (
    ARCHIVES_INTERVAL_S,
    ARCHIVES_JOB,
    JOB,
    SWEEP_INTERVAL_S,
    SWEEP_JOB,
    PersonData,
)
from offhook.privacy.services import PrivacyServices
from offhook.root import Root
from offhook.runs import RunServices
from offhook.scenarios.services import ScenarioServices
from offhook.telephony import TelephonyServices

__all__ = ["PersonData", "PrivacyServices", "register"]


def register(root: Root) -> None:
    """Registers the routes and the jobs."""
    runs = root.get(RunServices)
    data = PersonData(root.db, root.storage, runs.vault, root.get(Keyring), root.clock, runs.eraser)
    root.provide(PrivacyServices, PrivacyServices(data, root.storage))
    root.jobs.add(JOB, data.handle_request)
    root.jobs.add(SWEEP_JOB, data.sweep_requests, every_s=SWEEP_INTERVAL_S)
    root.jobs.add(ARCHIVES_JOB, data.sweep_archives, every_s=ARCHIVES_INTERVAL_S)
    scenarios = root.get(ScenarioServices)
    campaigns = root.get(CampaignServices).eraser
    sweep = RetentionSweep(
        root.db,
        root.clock,
        runs.eraser,
        campaigns,
        scenarios.recordings,
        runs.partitions,
        scenarios.answers.store,
    )
    root.jobs.add(RETENTION_JOB, sweep.sweep, every_s=RETENTION_INTERVAL_S, lane="retention")
    numbers = root.get(TelephonyServices).managed_numbers
    organizations = OrganizationEraser(root.db, root.storage, root.clock, runs.eraser, numbers)
    root.jobs.add(DELETION_JOB, organizations.handle_deletion, lane="retention")
    root.jobs.add(DELETION_SWEEP_JOB, organizations.sweep_deletions, every_s=DELETION_SWEEP_INTERVAL_S)
    root.api.include_router(endpoints.router)
    root.api.include_router(organization_endpoints.router)
    root.api.include_router(retention_endpoints.router)
