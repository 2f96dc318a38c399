"""Two organizations that have one of everything each."""

from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient

from offhook.bootstrap import build_root, stop_domains
from offhook.kit.database.database import Database
from offhook.root import Root
from offhook.settings import Settings
from tests.fakes.web import egress_to_loopback
from tests.fixtures_orgs import MakeOrg
from tests.interface.operations import Operation, operations
from tests.interface.world import World


@pytest.fixture
async def root(settings: Settings, database: Database) -> AsyncIterator[Root]:
    """A process for which every name but this machine's is unknown: nothing is looked up outside."""
    built = build_root(settings, database, egress_to_loopback("shop.test"))
    yield built
    await stop_domains(built)
    await built.db.dispose()


@pytest.fixture
def described(app: FastAPI) -> list[Operation]:
    return operations(app)


@pytest.fixture
async def ours(client: AsyncClient, make_org: MakeOrg) -> World:
    return await World(client, await make_org("Acme"), "zebra").furnish()


@pytest.fixture
async def theirs(client: AsyncClient, make_org: MakeOrg) -> World:
    return await World(client, await make_org("Globex"), "okapi").furnish()
