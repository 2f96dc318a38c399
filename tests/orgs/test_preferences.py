"""Preferences, limits and the name of an organization."""

import pytest
from httpx2 import AsyncClient
from sqlalchemy import update

from offhook.orgs.tables import Organization
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture

PATH = "/organizations/preferences"
CURRENT = "/organizations/current"


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", PATH), ("PUT", PATH), ("GET", "/organizations/context"), ("PATCH", "/organizations/current")],
)
async def test_anonymous(client: AsyncClient, method: str, path: str) -> None:
    assert (await client.request(method, path, json={} if method != "GET" else None)).status_code == 401


async def test_valid(client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
    body = {"timezone": "Europe/Berlin", "test_phone_number": "+1 201 555 0101"}
    answer = await client.put(PATH, json=body, headers=org.headers_for("member"))
    assert answer.json() == {"timezone": "Europe/Berlin", "test_phone_number": "+12015550101"}
    part = await client.put(PATH, json={"test_phone_number": None}, headers=org.key_headers)
    assert part.json() == {"timezone": "Europe/Berlin", "test_phone_number": None}
    assert (await client.get(PATH, headers=org.headers_for("viewer"))).json() == part.json()
    assert (await client.get(PATH, headers=other_org.key_headers)).json()["timezone"] == "UTC"
    log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
    assert [(e["action"], e["data"]) for e in log] == [
        ("preferences.updated", {"fields": ["test_phone_number"]}),
        ("preferences.updated", {"fields": ["time_zone", "test_phone_number"]}),
    ]


async def test_a_viewer_may_not(client: AsyncClient, org: OrgFixture) -> None:
    assert (await client.put(PATH, json={"timezone": "UTC"}, headers=org.headers_for("viewer"))).status_code == 403


@pytest.mark.parametrize(
    "body",
    [
        {"timezone": "Mars/Olympus"},
        {"timezone": "America"},
        {"timezone": "localtime"},
        {"timezone": "posixrules"},
        {"timezone": "posix/Europe/Berlin"},
        {"timezone": "../etc/passwd"},
        {"timezone": "/etc/localtime"},
        {"timezone": ""},
        {"timezone": None},
        {"timezone": 1},
        {"test_phone_number": "123"},
        {"test_phone_number": "2015550101"},
        [],
    ],
)
async def test_bad_input(client: AsyncClient, org: OrgFixture, body: object) -> None:
    assert (await client.put(PATH, json=body, headers=org.key_headers)).status_code == 422
    assert (await client.get(PATH, headers=org.key_headers)).json()["timezone"] == "UTC"


async def test_context(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    context = (await client.get("/organizations/context", headers=org.headers_for("viewer"))).json()
    assert (context["organization"]["name"], context["role"]) == (org.name, "viewer")
    assert context["user_id"] == org.user_ids["viewer"]
    assert context["limits"] == {"concurrent_calls": root.settings.org_concurrency_limit, "source": "installation"}
    async with root.db.transaction() as session:
        await session.execute(update(Organization).where(Organization.id == org.id).values(concurrency_limit=3))
    context = (await client.get("/organizations/context", headers=org.key_headers)).json()
    assert context["limits"] == {"concurrent_calls": 3, "source": "organization"}


async def test_rename(client: AsyncClient, org: OrgFixture) -> None:
    for role, status in (("viewer", 403), ("member", 403), ("admin", 200)):
        answer = await client.patch(CURRENT, json={"name": "New"}, headers=org.headers_for(role))
        assert answer.status_code == status
    assert answer.json()["name"] == "New"
    assert (await client.patch(CURRENT, json={"name": " "}, headers=org.owner_headers)).status_code == 422
