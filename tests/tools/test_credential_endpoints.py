"""Credentials over HTTP: they go in, and only their headers ever come out again."""

from typing import Any

import pytest
from httpx import AsyncClient
from sqlalchemy import text

from offhook.kit.crypto import Keyring
from offhook.root import Root
from offhook.tools import service
from offhook.tools.credentials import open_headers
from offhook.tools.errors import CredentialUnreadable
from tests.fixtures_orgs import OrgFixture
from tests.tools.conftest import Maker, http_api

UNKNOWN = "00000000-0000-0000-0000-000000000000"
BEARER = {"name": "CRM", "credential_type": "bearer_token", "credential_data": {"token": "s3cret-token"}}


class TestAccess:
    async def test_anonymous(self, client: AsyncClient) -> None:
        for method, path in (
            ("GET", "/credentials/"),
            ("POST", "/credentials/"),
            ("GET", f"/credentials/{UNKNOWN}"),
            ("PUT", f"/credentials/{UNKNOWN}"),
            ("DELETE", f"/credentials/{UNKNOWN}"),
        ):
            assert (await client.request(method, path, json={})).status_code == 401

    async def test_viewer_only_reads(self, maker: Maker, viewer: Maker) -> None:
        uuid = await maker.credential()
        assert (await viewer.get("/credentials/")).status_code == 200
        assert (await viewer.get(f"/credentials/{uuid}")).status_code == 200
        assert (await viewer.post("/credentials/", json=BEARER)).status_code == 403
        assert (await viewer.put(f"/credentials/{uuid}", json={"name": "x"})).status_code == 403
        assert (await viewer.delete(f"/credentials/{uuid}")).status_code == 403

    async def test_other_organisation_and_unknown(self, maker: Maker, other_maker: Maker) -> None:
        uuid = await maker.credential()
        for name in (uuid, UNKNOWN, "x"):
            assert (await other_maker.get(f"/credentials/{name}")).status_code == 404
            assert (await other_maker.put(f"/credentials/{name}", json={"name": "x"})).status_code == 404
            assert (await other_maker.delete(f"/credentials/{name}")).status_code == 404
        assert (await other_maker.get("/credentials/")).json() == []


class TestCreate:
    @pytest.mark.parametrize(
        ("kind", "data", "headers"),
        [
            ("none", {}, {}),
            ("api_key", {"header_name": "X-Key", "api_key": "k"}, {"X-Key": "k"}),
            ("bearer_token", {"token": "t"}, {"Authorization": "Bearer t"}),
            ("basic_auth", {"username": "u", "password": "p:w"}, {"Authorization": "Basic dTpwOnc="}),
            ("custom_header", {"header_name": "X-H", "header_value": "v"}, {"X-H": "v"}),
        ],
    )
    async def test_every_type(
        self, maker: Maker, root: Root, org: OrgFixture, kind: str, data: Any, headers: dict[str, str]
    ) -> None:
        answer = await maker.post("/credentials/", json={"name": "A", "credential_type": kind, "credential_data": data})
        assert set(answer.json()) == {"uuid", "name", "description", "credential_type", "created_at", "updated_at"}
        uuid = answer.json()["uuid"]
        async with root.db.transaction() as session:
            assert await service.credential_headers(session, root.get(Keyring), org.id, uuid) == headers
        assert (await maker.get(f"/credentials/{uuid}")).json() == answer.json()
        assert (await maker.get("/credentials/")).json() == [answer.json()]

    @pytest.mark.parametrize(
        ("kind", "data"),
        [
            ("api_key", {"api_key": "hidden-value"}),
            ("api_key", {"header_name": "X Key", "api_key": "hidden-value"}),
            ("api_key", {"header_name": "Host", "api_key": "hidden-value"}),
            ("api_key", {"header_name": "X-Key", "api_key": "hidden-value\r\nX-Admin: 1"}),
            ("bearer_token", {"token": ""}),
            ("bearer_token", {"token": "hidden-value\n"}),
            ("bearer_token", {"token": "hidden-value", "more": 1}),
            ("bearer_token", {"token": 5}),
            ("basic_auth", {"username": "a:b", "password": "hidden-value"}),
            ("custom_header", {"header_name": "Transfer-Encoding", "header_value": "hidden-value"}),
            ("none", {"token": "hidden-value"}),
        ],
    )
    async def test_data_that_does_not_fit(self, maker: Maker, kind: str, data: Any) -> None:
        answer = await maker.post("/credentials/", json={"name": "A", "credential_type": kind, "credential_data": data})
        assert (answer.status_code, answer.json()["code"]) == (422, "credential_data_invalid")
        assert "hidden-value" not in answer.text

    @pytest.mark.parametrize(
        "body", [{}, {**BEARER, "name": " "}, {**BEARER, "credential_type": "oauth"}, {**BEARER, "credential_data": []}]
    )
    async def test_bad_bodies(self, maker: Maker, body: Any) -> None:
        answer = await maker.post("/credentials/", json=body)
        assert answer.status_code == 422
        assert "s3cret" not in answer.text

    async def test_names_are_unique_in_an_organisation(self, maker: Maker, other_maker: Maker) -> None:
        await maker.credential()
        answer = await maker.post("/credentials/", json=BEARER)
        assert (answer.status_code, answer.json()["code"]) == (409, "credential_name_taken")
        await other_maker.credential()

    async def test_at_rest_it_is_sealed_for_its_organisation(
        self, maker: Maker, root: Root, org: OrgFixture, other_org: OrgFixture
    ) -> None:
        await maker.credential()
        async with root.db.transaction() as session:
            sealed = await session.scalar(text("SELECT sealed FROM credentials"))
            logged = await session.scalar(text("SELECT string_agg(data::text, '') FROM audit_entries"))
        assert b"s3cret" not in sealed
        assert "s3cret" not in logged
        assert open_headers(root.get(Keyring), org.id, sealed)
        with pytest.raises(CredentialUnreadable):
            open_headers(root.get(Keyring), other_org.id, sealed)


class TestChange:
    async def test_update(self, maker: Maker, root: Root, org: OrgFixture) -> None:
        uuid = await maker.credential()

        async def headers() -> dict[str, str]:
            async with root.db.transaction() as session:
                return await service.credential_headers(session, root.get(Keyring), org.id, uuid)

        changed = (await maker.put(f"/credentials/{uuid}", json={"name": "Shop", "description": "d"})).json()
        assert (changed["name"], changed["description"]) == ("Shop", "d")
        assert await headers() == {"Authorization": "Bearer s3cret-token"}
        await maker.put(f"/credentials/{uuid}", json={"credential_data": {"token": "new"}})
        assert await headers() == {"Authorization": "Bearer new"}
        answer = await maker.put(f"/credentials/{uuid}", json={"credential_type": "api_key"})
        assert (answer.status_code, answer.json()["code"]) == (422, "credential_data_invalid")
        body = {"credential_type": "api_key", "credential_data": {"header_name": "X", "api_key": "k"}}
        assert (await maker.put(f"/credentials/{uuid}", json=body)).json()["credential_type"] == "api_key"
        assert await headers() == {"X": "k"}

    async def test_to_a_name_that_is_taken(self, maker: Maker) -> None:
        await maker.credential(name="A")
        uuid = await maker.credential(name="B")
        assert (await maker.put(f"/credentials/{uuid}", json={"name": "A"})).status_code == 409
        assert (await maker.put(f"/credentials/{uuid}", json={"name": "B"})).status_code == 200


class TestDelete:
    async def test_unused(self, maker: Maker) -> None:
        uuid = await maker.credential()
        assert (await maker.delete(f"/credentials/{uuid}")).json() == {"status": "deleted", "uuid": uuid}
        assert (await maker.get(f"/credentials/{uuid}")).status_code == 404

    async def test_used_by_a_tool(self, maker: Maker) -> None:
        uuid = await maker.credential()
        tool = await maker.tool(http_api(credential_uuid=uuid))
        answer = await maker.delete(f"/credentials/{uuid}")
        assert (answer.status_code, answer.json()["code"]) == (409, "credential_in_use")
        assert "Order status" in answer.json()["detail"]
        await maker.delete(f"/tools/{tool}")
        assert (await maker.delete(f"/credentials/{uuid}")).status_code == 200

    async def test_used_by_an_agent(self, maker: Maker) -> None:
        uuid = await maker.credential()
        node = {"id": "w", "type": "webhook", "position": {"x": 0, "y": 0}, "data": {"credential_uuid": uuid}}
        made = await maker.post(
            "/workflow/create/definition", json={"name": "Desk", "workflow_definition": {"nodes": [node], "edges": []}}
        )
        answer = await maker.delete(f"/credentials/{uuid}")
        assert (answer.status_code, answer.json()["code"]) == (409, "credential_in_use")
        body = {"workflow_definition": {"nodes": [], "edges": []}}
        await maker.put(f"/workflow/{made.json()['id']}", json=body)
        assert (await maker.delete(f"/credentials/{uuid}")).status_code == 200
