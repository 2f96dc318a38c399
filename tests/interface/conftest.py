"""Two organizations that have one of everything each."""

import shutil
from collections.abc import AsyncIterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient

from offhook.bootstrap import build_root, stop_domains
from offhook.kit.database.database import Database
from offhook.root import Root
from offhook.settings import Settings
from tests.databases import DatabasePool, DatabaseRows
from tests.fakes.web import egress_to_loopback
from tests.fixtures_orgs import MakeOrg, OrgFixture
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


@dataclass(frozen=True)
class FurnishedWorld:
    """What a world is made of, to be copied into the database and the data folder of another test."""

    org: OrgFixture
    ids: dict[str, Any]
    uploaded: dict[str, str]
    rows: DatabaseRows
    files: Path


@pytest.fixture(scope="session")
def furnished_worlds() -> list[FurnishedWorld]:
    """Our world, once a test of this process has made it: a hundred requests, which take seconds."""
    return []


@pytest.fixture
async def ours(
    client: AsyncClient,
    make_org: MakeOrg,
    settings: Settings,
    database_pool: DatabasePool,
    database_url: str,
    furnished_worlds: list[FurnishedWorld],
    tmp_path_factory: pytest.TempPathFactory,
) -> World:
    if furnished_worlds and database_pool.write_rows(database_url, furnished_worlds[0].rows):
        made = furnished_worlds[0]
        shutil.copytree(made.files, settings.data_dir, symlinks=True, dirs_exist_ok=True)
        world = World(client, deepcopy(made.org), "zebra")
        world.ids, world.uploaded = deepcopy(made.ids), dict(made.uploaded)
        return world
    world = await World(client, await make_org("Acme"), "zebra").furnish()
    if not furnished_worlds:
        files = tmp_path_factory.mktemp("world") / "data"
        shutil.copytree(settings.data_dir, files, symlinks=True, ignore=shutil.ignore_patterns("models"))
        rows = database_pool.read_rows(database_url)
        furnished_worlds.append(
            FurnishedWorld(deepcopy(world.org), deepcopy(world.ids), dict(world.uploaded), rows, files)
        )
    return world


@pytest.fixture
async def theirs(client: AsyncClient, make_org: MakeOrg) -> World:
    return await World(client, await make_org("Globex"), "okapi").furnish()
