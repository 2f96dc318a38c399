"""A superuser in somebody's session: what it leaves behind is nothing."""

import re
from typing import Any

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient

from offhook.orgs import service
from offhook.orgs.access_rules import QUESTIONS
from offhook.orgs.audit_trail.recorder import CHANGING_METHODS
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture, borrow_session

Headers = dict[str, str]
# What lives on after the session, or speaks for the customer.
CLOSED = re.compile(
    r"api-key|member|invitation|webhook|credential|telephony-config|quick.connect|managed-number|support-access"
    r"|identity-provider|organizations/deletion"
)
# A link's or a carrier's own signature is the permission there; superusers and sign-in have their own rules.
OTHER_DOORS = re.compile(
    r"^/api/v1/(auth|superuser|telephony/(inbound|transfer-result|cloudonix|plivo|telnyx|twilio|vobiz|vonage)|s3/uploads"
    r"|workflow-recordings/uploads)"
)


@pytest.fixture
async def borrowed(root: Root, org: OrgFixture, other_org: OrgFixture) -> Headers:
    """A session of the other organization's owner in the name of this one's."""
    async with root.db.transaction() as session:
        await service.grant_superuser(session, other_org.email("owner"))
    return await borrow_session(root, org, other_org.user_ids["owner"])


def changing(app: FastAPI) -> list[tuple[str, str]]:
    return [
        (method.upper(), re.sub(r"{[^}]*}", "1", path))
        for path, operations in app.openapi()["paths"].items()
        for method, operation in operations.items()
        if method.upper() in CHANGING_METHODS
        and not OTHER_DOORS.match(path)
        and operation["operationId"] not in QUESTIONS
    ]


async def codes(client: AsyncClient, app: FastAPI, headers: Headers) -> dict[tuple[str, str], tuple[int, Any]]:
    found = {}
    for method, path in changing(app):
        body: dict[str, str] | None = None if method == "DELETE" else {}
        answer = await client.request(method, path.removeprefix("/api/v1"), json=body, headers=headers)
        found[method, path] = (answer.status_code, answer.json().get("code"))
    return found


@pytest.mark.slow
async def test_it_only_reads(client: AsyncClient, app: FastAPI, borrowed: Headers) -> None:
    for path in ("/auth/me", "/workflow/summary", "/organizations/api-keys", "/organizations/audit-log"):
        assert (await client.get(path, headers=borrowed)).status_code == 200
    found = await codes(client, app, borrowed)
    assert len(found) > 80
    open_doors = {at: answer for at, answer in found.items() if answer[0] != 403 or "borrowed" not in answer[1]}
    assert open_doors == {}


@pytest.mark.slow
async def test_with_leave_it_changes_but_makes_nothing_that_lasts(
    client: AsyncClient, app: FastAPI, org: OrgFixture, borrowed: Headers
) -> None:
    leave = await client.put("/organizations/support-access", json={"may_write": True}, headers=org.owner_headers)
    assert leave.status_code == 200
    found = await codes(client, app, borrowed)
    closed = {at for at, answer in found.items() if answer == (403, "borrowed_session_refused")}
    assert closed == {at for at in found if CLOSED.search(at[1])}
    assert not any(answer == (403, "borrowed_session_read_only") for answer in found.values())


async def test_its_deeds_name_the_superuser(
    client: AsyncClient, org: OrgFixture, other_org: OrgFixture, borrowed: Headers
) -> None:
    await client.put("/organizations/support-access", json={"may_write": True}, headers=org.owner_headers)
    await client.post("/folder/", json={"name": "Made by support"}, headers=borrowed)
    (entry, *_) = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
    assert (entry["action"], entry["impersonator_id"]) == ("folder.created", other_org.user_ids["owner"])


class TestSupportAccess:
    PATH = "/organizations/support-access"

    async def test_who_may(self, client: AsyncClient, org: OrgFixture) -> None:
        body = {"may_write": True}
        assert (await client.get(self.PATH)).status_code == 401
        assert (await client.put(self.PATH, json=body)).status_code == 401
        for headers in (org.headers_for("member"), org.headers_for("viewer"), org.key_headers):
            assert (await client.put(self.PATH, json=body, headers=headers)).status_code == 403

    async def test_closed_by_default(self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
        assert (await client.put(self.PATH, json={"may_write": True}, headers=org.owner_headers)).status_code == 200
        assert (await client.get(self.PATH, headers=org.owner_headers)).json() == {"may_write": True}
        assert (await client.get(self.PATH, headers=other_org.owner_headers)).json() == {"may_write": False}

    async def test_bad_input(self, client: AsyncClient, org: OrgFixture) -> None:
        assert (await client.put(self.PATH, json={"may_write": 7}, headers=org.owner_headers)).status_code == 422
