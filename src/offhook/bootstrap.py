"""The composition root: builds the parts of one process from settings and a database address."""

from functools import partial

from sqlalchemy import MetaData

import offhook.campaigns.tables
import offhook.jobs.tables
import offhook.knowledge.tables
import offhook.models.prices.tables
import offhook.models.tables
import offhook.nodes.tables
import offhook.orgs.tables
import offhook.privacy.tables
import offhook.recordings.tables
import offhook.runs.lists.tables
import offhook.runs.strips.tables
import offhook.runs.tables
import offhook.scenarios.tables
import offhook.telephony.providers.sandbox.tables
import offhook.telephony.tables
import offhook.tools.tables
import offhook.usage.tables
import offhook.webhooks.tables
import offhook.workflows.tables
from offhook import (
    admin,
    browser,
    campaigns,
    canary,
    chat,
    evidence,
    knowledge,
    models,
    nodes,
    orgs,
    privacy,
    recordings,
    runs,
    scenarios,
    telephony,
    tools,
    usage,
    webhooks,
    workflows,
)
from offhook.jobs.queue import prune_queue
from offhook.jobs.registry import JobRegistry
from offhook.kit.clock import Clock, SystemClock
from offhook.kit.database.database import Base, Database
from offhook.kit.database.database_clock import provide_clock
from offhook.kit.egress import EgressClient, EgressPolicy
from offhook.kit.files.file_store import FileStore
from offhook.kit.http.metrics import DATABASE_CONNECTIONS
from offhook.root import Root, remember_settings
from offhook.settings import Settings, SettingsError

# Lower domains first: an upper one may get their services from the root.
DOMAINS = (
    nodes,
    orgs,
    webhooks,
    tools,
    usage,
    models,
    recordings,
    workflows,
    knowledge,
    runs,
    telephony,
    browser,
    chat,
    scenarios,
    canary,
    campaigns,
    privacy,
    evidence,
    admin,
)

# Foreign keys between domains are strings: every table must be known before one is used.
TABLES = (
    offhook.jobs.tables,
    offhook.nodes.tables,
    offhook.orgs.tables,
    offhook.webhooks.tables,
    offhook.usage.tables,
    offhook.models.prices.tables,
    offhook.recordings.tables,
    offhook.knowledge.tables,
    offhook.workflows.tables,
    offhook.models.tables,
    offhook.runs.lists.tables,
    offhook.runs.strips.tables,
    offhook.runs.tables,
    offhook.telephony.tables,
    offhook.telephony.providers.sandbox.tables,
    offhook.tools.tables,
    offhook.campaigns.tables,
    offhook.privacy.tables,
    offhook.scenarios.tables,
)
METADATA: MetaData = Base.metadata

PRUNE_INTERVAL_S = 3600.0


def build_root(
    settings: Settings, database: str | Database, egress: EgressClient | None = None, clock: Clock | None = None
) -> Root:
    """Builds the parts and lets every domain add its own. ``database`` may be its ``postgresql+asyncpg://…``; no I/O.

    ``egress`` replaces the client for addresses that users enter (a test's, with its own resolver), ``clock`` the
    system's.
    """
    root = Root(
        settings=settings,
        db=Database(database) if isinstance(database, str) else database,
        storage=FileStore(settings.data_dir / "files", settings.storage_url),
        jobs=JobRegistry(),
        clock=clock or SystemClock(),
    )
    egress = egress or _egress(settings)
    root.provide(EgressClient, egress)
    root.on_stop.append(egress.aclose)
    remember_settings(root)
    provide_clock(root.db, root.clock)
    DATABASE_CONNECTIONS.set_function(root.db.count_used_connections)
    root.jobs.add("jobs.prune", partial(prune_queue, root.db), every_s=PRUNE_INTERVAL_S)
    for domain in DOMAINS:
        domain.register(root)
    return root


def _egress(settings: Settings) -> EgressClient:
    try:
        return EgressClient(EgressPolicy.parse(settings.egress_allow))
    except ValueError as error:
        raise SettingsError(f"OFFHOOK_EGRESS_ALLOW: {error}.") from None


async def stop_domains(root: Root) -> None:
    """Stops every domain, last registered first. Repeated calls do nothing."""
    while root.on_stop:
        await root.on_stop.pop()()
