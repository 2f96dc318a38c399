"""Tools over HTTP: who may do what, what is refused, and the test button."""

from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import text

from offhook.root import Root
from tests.fakes.web import Reply, json_reply, local_server
from tests.tools.conftest import Maker, http_api

UNKNOWN = "00000000-0000-0000-0000-000000000000"
TRANSFER: dict[str, Any] = {"type": "transfer_call", "config": {"destination": "+14155550100"}}


class TestAccess:
    async def test_anonymous(self, client: AsyncClient) -> None:
        for method, path in (
            ("GET", "/tools/"),
            ("POST", "/tools/"),
            ("GET", f"/tools/{UNKNOWN}"),
            ("PUT", f"/tools/{UNKNOWN}"),
            ("DELETE", f"/tools/{UNKNOWN}"),
            ("POST", f"/tools/{UNKNOWN}/unarchive"),
            ("POST", f"/tools/{UNKNOWN}/test"),
            ("POST", "/tools/test"),
            ("POST", f"/tools/{UNKNOWN}/mcp/refresh"),
        ):
            assert (await client.request(method, path, json={})).status_code == 401, (method, path)

    async def test_viewer_only_reads(self, maker: Maker, viewer: Maker) -> None:
        uuid = await maker.tool(http_api())
        assert (await viewer.get("/tools/")).status_code == 200
        assert (await viewer.get(f"/tools/{uuid}")).status_code == 200
        refused = [
            await viewer.post("/tools/", json={"name": "x", "definition": http_api()}),
            await viewer.put(f"/tools/{uuid}", json={"name": "x"}),
            await viewer.delete(f"/tools/{uuid}"),
            await viewer.post(f"/tools/{uuid}/unarchive"),
            await viewer.post(f"/tools/{uuid}/test", json={}),
            await viewer.post("/tools/test", json={"definition": http_api()}),
            await viewer.post(f"/tools/{uuid}/mcp/refresh"),
        ]
        assert {answer.status_code for answer in refused} == {403}

    async def test_other_organization_and_unknown(self, maker: Maker, other_maker: Maker) -> None:
        uuid = await maker.tool(http_api())
        for name in (uuid, UNKNOWN, "demo_order_status"):
            refused = [
                await other_maker.get(f"/tools/{name}"),
                await other_maker.put(f"/tools/{name}", json={"name": "x"}),
                await other_maker.delete(f"/tools/{name}"),
                await other_maker.post(f"/tools/{name}/unarchive"),
                await other_maker.post(f"/tools/{name}/test", json={}),
                await other_maker.post(f"/tools/{name}/mcp/refresh"),
            ]
            assert {answer.status_code for answer in refused} == {404}
        assert (await other_maker.get("/tools/")).json() == []
        assert (await maker.get(f"/tools/{uuid}")).json()["status"] == "active"


class TestCreate:
    async def test_shape(self, maker: Maker) -> None:
        answer = await maker.post("/tools/", json={"name": "Order status", "definition": http_api()})
        tool = answer.json()
        assert set(tool) == {
            "id",
            "tool_uuid",
            "name",
            "description",
            "category",
            "icon",
            "icon_color",
            "status",
            "definition",
            "created_at",
            "updated_at",
            "created_by",
        }
        assert (tool["category"], tool["status"], tool["icon"]) == ("http_api", "active", "globe")
        assert tool["definition"]["config"]["timeout_ms"] == 5000
        assert (await maker.get(f"/tools/{tool['tool_uuid']}")).json() == tool

    @pytest.mark.parametrize(
        "definition",
        [
            {"type": "end_call"},
            {"type": "end_call", "config": {"messageType": "custom", "customMessage": "Bye.", "endCallReason": True}},
            TRANSFER,
            {"type": "transfer_call", "config": {"destinations": [{"name": "Sales", "phone_number": "+14155550100"}]}},
            {"type": "calculator"},
            http_api(method="post", body_template='{"a": "{{order}}"}', headers=None, parameters=None),
            # what Dograh's client sends, nulls included
            http_api(
                preset_parameters=None, timeout_ms=None, credential_uuid=None, customMessage=None, body_template=None
            ),
        ],
    )
    async def test_every_category(self, maker: Maker, definition: dict[str, Any]) -> None:
        await maker.tool(definition)

    @pytest.mark.parametrize(
        "definition",
        [
            {},
            {"type": "native"},
            {"type": "http_api"},
            http_api("ftp://x"),
            http_api("https://{{host}}/"),
            http_api(method="TRACE"),
            http_api(timeout_ms=0),
            http_api(timeout_ms=30_001),
            http_api(headers={"X-A": "b\r\nX-B: c"}),
            http_api(headers={"Host": "inside"}),
            http_api(body_template={"a": 1}),
            http_api(method="POST", body_template=[1]),
            http_api(method="POST", body_template={"a": "x" * 70_000}),
            http_api(parameters=[{"name": "a b", "type": "string"}]),
            http_api(parameters=[{"name": "a"}], preset_parameters=[{"name": "a", "value_template": "1"}]),
            http_api(mistyped=1),
            {"type": "transfer_call", "config": {}},
            {"type": "transfer_call", "config": {"destination": "{{initial_context.number}}"}},
            {"type": "transfer_call", "config": {"destination": "0800 123"}},
            {"type": "transfer_call", "config": {"destination": "+14155550100", "timeout": 4}},
            {"type": "transfer_call", "config": {"destination": "+14155550100", "timeout": 121}},
            {"type": "transfer_call", "config": {"destinations": [{"name": "A", "phone_number": "911"}]}},
            {
                "type": "transfer_call",
                "config": {
                    "destinations": [
                        {"name": "A", "phone_number": "+14155550100"},
                        {"name": "a", "phone_number": "+14155550101"},
                    ]
                },
            },
            {"type": "mcp", "config": {"url": "stdio://x"}},
            {"type": "mcp", "config": {"url": "https://x.example/mcp", "timeout_secs": -1}},
        ],
    )
    async def test_refused(self, maker: Maker, definition: dict[str, Any]) -> None:
        answer = await maker.post("/tools/", json={"name": "x", "definition": definition})
        assert answer.status_code == 422, answer.text
        assert answer.json()["detail"][0]["loc"][0] == "body"

    @pytest.mark.parametrize(
        "body",
        [
            {"name": "", "definition": {"type": "calculator"}},
            {"name": "x" * 256, "definition": {"type": "calculator"}},
            {"name": "x", "category": "mcp", "definition": {"type": "calculator"}},
            {"name": "x", "icon_color": "red", "definition": {"type": "calculator"}},
            {"name": "x"},
            [],
        ],
    )
    async def test_bad_bodies(self, maker: Maker, body: Any) -> None:
        assert (await maker.post("/tools/", json=body)).status_code == 422

    async def test_the_credential_is_the_organization_s_own(self, maker: Maker, other_maker: Maker) -> None:
        foreign = await other_maker.credential()
        for uuid in (foreign, UNKNOWN, "no uuid"):
            body = {"name": "x", "definition": http_api(credential_uuid=uuid)}
            answer = await maker.post("/tools/", json=body)
            assert (answer.status_code, answer.json()["code"]) == (422, "credential_unknown")


class TestListing:
    async def test_filters_and_parts(self, maker: Maker) -> None:
        first = await maker.tool(http_api())
        second = await maker.tool({"type": "calculator"})
        third = await maker.tool({"type": "end_call"})
        await maker.delete(f"/tools/{third}")

        async def listed(query: str) -> list[str]:
            answer = await maker.get(f"/tools/{query}")
            assert answer.status_code == 200
            return [tool["tool_uuid"] for tool in answer.json()]

        assert await listed("") == [third, second, first]
        assert await listed("?status=active") == [second, first]
        assert await listed("?status=active,archived&category=end_call") == [third]
        assert await listed("?status=draft") == []
        assert await listed("?limit=1&offset=1") == [second]
        assert (await maker.get("/tools/?limit=1")).headers["X-Total-Count"] == "3"
        for query in ("?status=gone", "?category=native", "?limit=0", "?limit=101", "?offset=-1"):
            assert (await maker.get(f"/tools/{query}")).status_code == 422


class TestChange:
    async def test_update(self, maker: Maker) -> None:
        uuid = await maker.tool(http_api())
        changed = (await maker.put(f"/tools/{uuid}", json={"name": "New", "description": "Look it up."})).json()
        assert (changed["name"], changed["description"]) == ("New", "Look it up.")
        assert changed["definition"]["config"]["url"].startswith("https://shop.example")
        changed = (await maker.put(f"/tools/{uuid}", json={"definition": http_api(timeout_ms=9000)})).json()
        assert (changed["name"], changed["definition"]["config"]["timeout_ms"]) == ("New", 9000)
        assert changed["updated_at"]

    async def test_the_category_stays(self, maker: Maker) -> None:
        uuid = await maker.tool(http_api())
        answer = await maker.put(f"/tools/{uuid}", json={"definition": {"type": "calculator"}})
        assert (answer.status_code, answer.json()["code"]) == (409, "tool_category_fixed")

    @pytest.mark.parametrize("body", [{"status": "gone"}, {"name": ""}, {"definition": {"type": "http_api"}}])
    async def test_bad_input(self, maker: Maker, body: Any) -> None:
        uuid = await maker.tool(http_api())
        assert (await maker.put(f"/tools/{uuid}", json=body)).status_code == 422

    async def test_archive_and_back(self, maker: Maker, root: Root) -> None:
        uuid = await maker.tool(http_api())
        for _ in range(2):
            assert (await maker.delete(f"/tools/{uuid}")).json() == {"status": "archived", "tool_uuid": uuid}
        assert (await maker.get(f"/tools/{uuid}")).json()["status"] == "archived"
        for _ in range(2):
            assert (await maker.post(f"/tools/{uuid}/unarchive")).json()["status"] == "active"
        async with root.db.transaction() as session:
            actions = list(await session.scalars(text("SELECT action FROM audit_entries ORDER BY id")))
        assert actions == ["tool.created", "tool.archived", "tool.unarchived"]


class TestTestButton:
    async def test_http_with_a_masked_credential(self, maker: Maker, root: Root) -> None:
        credential = await maker.credential("api_key", header_name="X-Shop-Key", api_key="k-12345")
        async with local_server(json_reply({"state": "sent"})) as server:
            uuid = await maker.tool(
                http_api(server.url("shop.test", "/o/{{order}}"), credential_uuid=credential, headers={"X-Tool": "1"})
            )
            answer = await maker.post(f"/tools/{uuid}/test", json={"llm_params": {"order": "7"}})
        assert answer.status_code == 200
        shown = answer.json()
        assert (shown["status"], shown["status_code"], shown["data"]) == ("success", 200, {"state": "sent"})
        assert (shown["request_method"], shown["request_url"]) == ("GET", server.url("shop.test", "/o/7"))
        assert shown["request_headers"] == {"X-Tool": "1", "X-Shop-Key": "********"}
        assert server.seen[0].headers["x-shop-key"] == "k-12345"
        assert "k-12345" not in answer.text
        async with root.db.transaction() as session:
            assert await session.scalar(text("SELECT count(*) FROM audit_entries WHERE action = 'tool.tested'")) == 1

    async def test_failures_are_shown(self, maker: Maker) -> None:
        async with local_server(Reply(401, b"who are you")) as server:
            uuid = await maker.tool(http_api(server.url("shop.test", "/{{order}}"), method="POST"))
            shown = (await maker.post(f"/tools/{uuid}/test", json={"arguments": {"order": "7"}})).json()
            assert (shown["status"], shown["status_code"], shown["request_body"]) == ("error", 401, {})
            assert "credential" in shown["hint"]
            shown = (await maker.post(f"/tools/{uuid}/test", json={})).json()
            assert (shown["status"], shown["request_url"]) == ("error", None)
            assert "'order' is missing" in shown["error"]
        inside = await maker.tool(http_api("http://127.0.0.1:1/{{order}}"))
        shown = (await maker.post(f"/tools/{inside}/test", json={"llm_params": {"order": "7"}})).json()
        assert (shown["status"], shown["status_code"]) == ("error", None)
        assert "not public" in shown["error"]

    async def test_calculator(self, maker: Maker) -> None:
        uuid = await maker.tool({"type": "calculator"})
        shown = (await maker.post(f"/tools/{uuid}/test", json={"llm_params": {"expression": "6*7"}})).json()
        assert (shown["status"], shown["data"]) == ("success", {"result": "42"})
        shown = (await maker.post(f"/tools/{uuid}/test", json={"llm_params": {"expression": "6*"}})).json()
        assert shown["status"] == "error"

    async def test_tools_that_act_on_a_call(self, maker: Maker) -> None:
        for definition in ({"type": "end_call"}, TRANSFER):
            uuid = await maker.tool(definition)
            answer = await maker.post(f"/tools/{uuid}/test", json={})
            assert (answer.status_code, answer.json()["code"]) == (422, "tool_not_testable")

    @pytest.mark.parametrize("body", [{"llm_params": []}, {"preset_params": "x"}, {"other": 1}, []])
    async def test_bad_input(self, maker: Maker, body: Any) -> None:
        uuid = await maker.tool(http_api())
        assert (await maker.post(f"/tools/{uuid}/test", json=body)).status_code == 422


class TestTryADraft:
    async def test_sends_the_request_and_stores_nothing(self, maker: Maker, root: Root) -> None:
        credential = await maker.credential("api_key", header_name="X-Shop-Key", api_key="k-12345")
        async with local_server(json_reply({"state": "sent"})) as server:
            draft = http_api(server.url("shop.test", "/o/{{order}}"), credential_uuid=credential)
            answer = await maker.post("/tools/test", json={"definition": draft, "llm_params": {"order": "7"}})
        assert answer.status_code == 200
        shown = answer.json()
        assert (shown["status"], shown["status_code"], shown["data"]) == ("success", 200, {"state": "sent"})
        assert shown["request_headers"] == {"X-Shop-Key": "********"}
        assert "k-12345" not in answer.text
        assert (await maker.get("/tools/")).json() == []
        async with root.db.transaction() as session:
            row = (await session.execute(text("SELECT * FROM audit_entries WHERE action = 'tool.tested'"))).one()
        assert "tool:draft" in row._mapping.values()

    async def test_keeps_to_addresses_that_are_allowed(self, maker: Maker) -> None:
        draft = {"definition": http_api("http://127.0.0.1:1/{{order}}"), "llm_params": {"order": "7"}}
        shown = (await maker.post("/tools/test", json=draft)).json()
        assert (shown["status"], shown["status_code"]) == ("error", None)
        assert "not public" in shown["error"]

    async def test_sends_no_credential_to_another_server(self, maker: Maker) -> None:
        credential = await maker.credential("api_key", header_name="X-Shop-Key", api_key="k-12345")
        await maker.tool(http_api("https://shop.test/{{order}}", credential_uuid=credential))
        async with local_server(json_reply({})) as server:
            draft = http_api(server.url("other.test", "/{{order}}"), credential_uuid=credential)
            shown = (await maker.post("/tools/test", json={"definition": draft, "llm_params": {"order": "7"}})).json()
        assert (shown["status"], server.seen) == ("error", [])
        assert "may not be sent to other.test" in shown["error"]

    async def test_sends_no_credential_of_another_organization(self, maker: Maker, other_maker: Maker) -> None:
        credential = await maker.credential("api_key", header_name="X-Shop-Key", api_key="k-12345")
        async with local_server(json_reply({})) as server:
            draft = http_api(server.url("shop.test", "/{{order}}"), credential_uuid=credential)
            shown = (
                await other_maker.post("/tools/test", json={"definition": draft, "llm_params": {"order": "7"}})
            ).json()
        assert (shown["status"], server.seen) == ("error", [])

    async def test_calculator(self, maker: Maker) -> None:
        draft = {"definition": {"type": "calculator"}, "arguments": {"expression": "6*7"}}
        assert (await maker.post("/tools/test", json=draft)).json()["data"] == {"result": "42"}

    async def test_tools_that_act_on_a_call(self, maker: Maker) -> None:
        for definition in ({"type": "end_call"}, TRANSFER):
            answer = await maker.post("/tools/test", json={"definition": definition})
            assert (answer.status_code, answer.json()["code"]) == (422, "tool_not_testable")

    @pytest.mark.parametrize(
        "body",
        [{}, {"definition": {"type": "x"}}, {"definition": {"type": "calculator"}, "other": 1}, [], {"definition": []}],
    )
    async def test_bad_input(self, maker: Maker, body: Any) -> None:
        assert (await maker.post("/tools/test", json=body)).status_code == 422
