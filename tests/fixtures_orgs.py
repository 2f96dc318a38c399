"""Fixtures of the organizations domain, loaded for every test by ``conftest.py``."""

from collections.abc import Awaitable, Callable
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import pytest

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.orgs import service
from offhook.orgs.caller import ROLES
from offhook.root import Root
from tests.databases import DatabasePool, DatabaseRows


@dataclass(frozen=True)
class OrgFixture:
    """An organization with a user in each role and an API key of role admin."""

    id: int
    name: str
    user_ids: dict[str, int]
    tokens: dict[str, str]
    key: str
    key_id: int

    @property
    def owner_headers(self) -> dict[str, str]:
        return self.headers_for("owner")

    @property
    def key_headers(self) -> dict[str, str]:
        return {"X-API-Key": self.key}

    def headers_for(self, role: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[role]}"}

    def email(self, role: str) -> str:
        return f"{role}@{self.name.lower()}.example"


MakeOrg = Callable[[str], Awaitable[OrgFixture]]

# Well within the ten minutes in which a sign-in is fresh: a process of tests runs for longer.
_MAX_AGE: Final = timedelta(minutes=3)


@dataclass(frozen=True)
class MadeOrg:
    """An organization, the rows that it is in a database without others, and when its members signed in."""

    org: OrgFixture
    rows: DatabaseRows
    signed_in_at: datetime


@pytest.fixture(scope="session")
def made_orgs() -> dict[str, MadeOrg]:
    """The organizations of this process by name."""
    return {}


@pytest.fixture
def make_org(root: Root, database_pool: DatabasePool, made_orgs: dict[str, MadeOrg]) -> MakeOrg:
    """Make an organization by name: ``acme = await make_org("Acme")``."""
    url = root.db.url

    async def make(name: str) -> OrgFixture:
        if not database_pool.is_lent(url):
            return await _make_org(root.db, root.clock, name)
        now, made = root.clock.now(), made_orgs.get(name)
        if made is None or not timedelta(0) <= now - made.signed_in_at <= _MAX_AGE:
            # The services make it in a database of its own: copying it takes a third of the time.
            with database_pool.lent() as original:
                db = Database(original)
                made = MadeOrg(await _make_org(db, root.clock, name), database_pool.read_rows(original), now)
                made_orgs[name] = made
                await db.dispose()
        if database_pool.write_rows(url, made.rows):
            return deepcopy(made.org)
        return await _make_org(root.db, root.clock, name)

    return make


async def _make_org(db: Database, clock: Clock, name: str) -> OrgFixture:
    user_ids, tokens = {}, {}
    async with db.transaction() as session:
        organization_id = await service.create_organization(session, name)
        for role in ROLES:
            user = await service.create_user(session, f"{role}@{name.lower()}.example", name=f"{name} {role}")
            await service.add_member(session, organization_id, user.id, role)
            user_ids[role] = user.id
            tokens[role] = await service.start_session(
                session, organization_id=organization_id, user_id=user.id, now=clock.now()
            )
        new = await service.create_key(session, organization_id=organization_id, name="Test key")
        return OrgFixture(organization_id, name, user_ids, tokens, new.key, new.record.id)


@pytest.fixture
async def org(make_org: MakeOrg) -> OrgFixture:
    return await make_org("Acme")


@pytest.fixture
async def other_org(make_org: MakeOrg) -> OrgFixture:
    """Someone else's organization: its rows are never seen by ``org``."""
    return await make_org("Globex")


async def sign_in_by_link(root: Root, org: OrgFixture, role: str) -> dict[str, str]:
    """The headers of a new session of the organization's person with this role."""
    async with root.db.transaction() as session:
        token = await service.start_session(
            session, organization_id=org.id, user_id=org.user_ids[role], now=root.clock.now()
        )
    return {"Authorization": f"Bearer {token}"}


async def borrow_session(root: Root, org: OrgFixture, superuser_id: int) -> dict[str, str]:
    """The headers of a session that ``superuser_id`` has in the name of the organization's owner."""
    async with root.db.transaction() as session:
        token = await service.start_session(
            session,
            organization_id=org.id,
            user_id=org.user_ids["owner"],
            now=root.clock.now(),
            impersonator_id=superuser_id,
        )
    return {"Authorization": f"Bearer {token}"}
