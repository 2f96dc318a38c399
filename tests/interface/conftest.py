"""Two organisations that have one of everything each."""

import pytest
from fastapi import FastAPI
from httpx import AsyncClient

from tests.fixtures_orgs import MakeOrg
from tests.interface.operations import Operation, operations
from tests.interface.world import World


@pytest.fixture
def described(app: FastAPI) -> list[Operation]:
    return operations(app)


@pytest.fixture
async def ours(client: AsyncClient, make_org: MakeOrg) -> World:
    return await World(client, await make_org("Acme"), "zebra").furnish()


@pytest.fixture
async def theirs(client: AsyncClient, make_org: MakeOrg) -> World:
    return await World(client, await make_org("Globex"), "okapi").furnish()
