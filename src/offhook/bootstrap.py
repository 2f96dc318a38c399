"""The composition root: settings and a database address become the parts of one process."""

from sqlalchemy import MetaData

from offhook import browser, chat, models, orgs, runs, telephony, workflows
from offhook.jobs.registry import JobRegistry
from offhook.kit.db import Base, Database
from offhook.kit.storage import Storage
from offhook.root import Root
from offhook.settings import Settings

# Lower domains first: an upper one may ask the root for their services.
DOMAINS = (orgs, workflows, models, runs, telephony, browser, chat)

# Every table is known once this module is imported: foreign keys between domains are strings.
METADATA: MetaData = Base.metadata


def build_root(settings: Settings, database_url: str) -> Root:
    """Build the parts and let every domain add its own. ``database_url`` is ``postgresql+asyncpg://…``; no I/O."""
    root = Root(
        settings=settings,
        db=Database(database_url),
        storage=Storage(settings.data_dir / "files"),
        jobs=JobRegistry(),
    )
    for domain in DOMAINS:
        domain.register(root)
    return root
