"""Credentials over HTTP: they go in, and only their headers ever come out again."""

from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import text

from offhook.kit.crypto import Keyring
from offhook.root import Root
from offhook.tools import ToolServices, service
from offhook.tools.credentials import open_headers
from offhook.tools.errors import CredentialUnreadable, ToolCallFailed
from tests.fakes.web import Reply, local_server
from tests.fixtures_orgs import OrgFixture
from tests.tools.conftest import Maker, http_api

URL = "https://shop.example/orders"
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

    async def test_other_organization_and_unknown(self, maker: Maker, other_maker: Maker) -> None:
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
        shape = {"uuid", "name", "description", "credential_type", "allowed_hosts", "created_at", "updated_at"}
        assert set(answer.json()) == shape
        uuid = answer.json()["uuid"]
        assert (await maker.get(f"/credentials/{uuid}")).json() == answer.json()
        assert (await maker.get("/credentials/")).json() == [answer.json()]
        async with root.db.transaction() as session:
            assert await service.credential_headers(session, root.get(Keyring), org.id, uuid, URL) == headers

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

    async def test_names_are_unique_in_an_organization(self, maker: Maker, other_maker: Maker) -> None:
        await maker.credential()
        answer = await maker.post("/credentials/", json=BEARER)
        assert (answer.status_code, answer.json()["code"]) == (409, "credential_name_taken")
        await other_maker.credential()

    async def test_at_rest_it_is_sealed_for_its_organization(
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
                return await service.credential_headers(session, root.get(Keyring), org.id, uuid, URL)

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
        body: dict[str, Any] = {"workflow_definition": {"nodes": [], "edges": []}}
        await maker.put(f"/workflow/{made.json()['id']}", json=body)
        assert (await maker.delete(f"/credentials/{uuid}")).status_code == 200


class TestWhereItMayBeSent:
    async def hosts(self, maker: Maker, uuid: str) -> list[str] | None:
        found: list[str] | None = (await maker.get(f"/credentials/{uuid}")).json()["allowed_hosts"]
        return found

    async def test_the_first_tool_says_it_and_a_changed_address_collects_nothing(
        self, maker: Maker, root: Root, org: OrgFixture
    ) -> None:
        async with local_server(Reply(200, b"{}")) as server:
            uuid = await maker.credential()
            assert await self.hosts(maker, uuid) is None
            tool = await maker.tool(http_api(server.url("shop.test", "/a"), parameters=[], credential_uuid=uuid))
            assert await self.hosts(maker, uuid) == ["shop.test"]
            elsewhere = http_api(server.url("other.test", "/a"), parameters=[], credential_uuid=uuid)
            answer = await maker.put(f"/tools/{tool}", json={"definition": elsewhere})
            assert (answer.status_code, answer.json()["code"]) == (422, "credential_host_refused")
            assert "other.test" in answer.json()["detail"]
            answer = await maker.post("/tools/", json={"name": "Two", "definition": elsewhere})
            assert answer.status_code == 422
            # and where a definition came into the database by another way, it is refused when it would be sent
            async with root.db.transaction() as session:
                await session.execute(
                    text("UPDATE tools SET definition = jsonb_set(definition, '{config,url}', to_jsonb(:url ::text))"),
                    {"url": server.url("other.test", "/a")},
                )
            tried = (await maker.post(f"/tools/{tool}/test", json={})).json()
            assert tried["status"] == "error"
            assert "may not be sent to other.test" in tried["error"]
            bench = root.get(ToolServices).runner
            for url in (server.url("other.test", "/"), "nonsense"):
                with pytest.raises(ToolCallFailed):
                    await bench.send_request(
                        org.id, "POST", url, credential_uuid=uuid, headers={}, content=b"", timeout_s=5, max_bytes=100
                    )
            assert server.seen == []

    async def test_named_by_who_knows_the_secret(self, maker: Maker) -> None:
        body = {**BEARER, "allowed_hosts": ["CRM.example.com", "*.shop.example."]}
        uuid = (await maker.post("/credentials/", json=body)).json()["uuid"]
        assert await self.hosts(maker, uuid) == ["crm.example.com", "*.shop.example"]
        for url, status in {
            "https://crm.example.com/{{order}}": 200,
            "https://eu.shop.example/{{order}}": 200,
            "https://shop.example/{{order}}": 422,
            "https://crm.example.com.evil.example/{{order}}": 422,
            "https://evil.example/?crm.example.com": 422,
        }.items():
            answer = await maker.post("/tools/", json={"name": "T", "definition": http_api(url, credential_uuid=uuid)})
            assert answer.status_code == status, url

    @pytest.mark.parametrize(
        "hosts",
        [
            "x",
            [""],
            ["https://a.example"],
            ["a.example/x"],
            ["a.example:443"],
            ["[::1]:80"],
            ["{{x}}.com"],
            [".".join("ü" * 60)],
            ["*.com"],
            ["*"],
            ["a b"],
            ["1"] * 21,
        ],
    )
    async def test_bad_hosts(self, maker: Maker, hosts: Any) -> None:
        assert (await maker.post("/credentials/", json={**BEARER, "allowed_hosts": hosts})).status_code == 422

    async def test_afterwards_only_an_admin_or_who_enters_it_again(
        self, maker: Maker, client: AsyncClient, org: OrgFixture
    ) -> None:
        member = Maker(client, org.headers_for("member"))
        uuid = await member.credential()
        refused = await member.put(f"/credentials/{uuid}", json={"allowed_hosts": ["evil.example"]})
        assert (refused.status_code, await self.hosts(maker, uuid)) == (403, None)
        again = {"credential_data": {"token": "mine"}, "allowed_hosts": ["a.example"]}
        assert (await member.put(f"/credentials/{uuid}", json=again)).status_code == 200
        assert (await maker.put(f"/credentials/{uuid}", json={"allowed_hosts": []})).status_code == 200
        refused = await maker.post("/tools/", json={"name": "T", "definition": http_api(credential_uuid=uuid)})
        assert refused.json()["code"] == "credential_host_refused"
        assert (await maker.put(f"/credentials/{uuid}", json={"allowed_hosts": None})).status_code == 200
        assert await self.hosts(maker, uuid) is None
