"""Tools of an MCP server: what is read of it, what an agent calls on it, and what happens when it does not play along."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings

from offhook.kit.egress import EgressClient
from offhook.root import Root
from offhook.tools.definitions import McpConfig
from offhook.tools.errors import ToolCallFailed
from offhook.tools.mcp_tools import read_catalog
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import calls, says
from tests.fakes.web import Reply, Seen, json_reply, local_server
from tests.servers import BareServer, serving
from tests.tools.conftest import Maker
from tests.workflows.definitions import agent, definition, edge, end, start


class Shop:
    """A server of the official SDK. ``headers`` holds those of every request; ``open`` lets slow answers go."""

    def __init__(self) -> None:
        self.port = 0
        self.headers: list[dict[str, str]] = []
        self.shipped: list[str] = []
        self.open = asyncio.Event()
        self._server = server = MCPServer("Shop")

        @server.tool(description="Where an order is.")
        async def order_state(order: int) -> dict[str, Any]:
            if order < 0:
                raise ToolError("No order has such a number.")
            return {"order": order, "state": "sent"}

        @server.tool(description="Send an order.")
        async def ship(address: str) -> str:
            self.shipped.append(address)
            return f"On its way to {address}"

        @server.tool(description="Ask the warehouse.")
        async def wait() -> str:
            await self.open.wait()
            return "at last"

    def add(self, name: str) -> None:
        """One more function, from now on."""

        async def further() -> str:
            return name

        self._server.add_tool(further, name=name, description="One more.")

    @property
    def url(self) -> str:
        return f"http://mcp.test:{self.port}/mcp"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """On a free loopback port. The SDK's check of names is for browsers, and this one has a name of the test's."""
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        inner = self._server.streamable_http_app(transport_security=security)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
            await inner(scope, receive, send)

        config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1, ws="none")
        async with serving(BareServer(config)) as address:
            self.port = int(address.rpartition(":")[2])
            try:
                yield
            finally:
                self.open.set()


@pytest.fixture
async def shop() -> AsyncIterator[Shop]:
    shop = Shop()
    async with shop.serving():
        yield shop


def mcp(url: str, **config: Any) -> dict[str, Any]:
    return {"type": "mcp", "config": {"url": url, **config}}


class Agent:
    """Agents that have one step with tools, and chats with them."""

    def __init__(self, root: Root, maker: Maker) -> None:
        self.models = FixedModels()
        self._maker = maker
        use_fakes(root, self.models)

    async def made(self, *, is_dead_end: bool = False, **step: Any) -> int:
        """A workflow whose step has these data; its id."""
        edges = [edge("s", "a", "Begin"), edge("a", "e", "Finish")]
        drawn = definition(start(greeting="Hello."), agent(**step), end(), edges=edges)
        if is_dead_end:
            drawn = definition(start(greeting="Hello."), agent(**step), edges=edges[:1])
        body = {"name": "Shop", "workflow_definition": drawn}
        answer = await self._maker.post("/workflow/create/definition", json=body)
        assert answer.status_code == 200, answer.text
        return int(answer.json()["id"])

    async def validated(self, **step: Any) -> dict[str, Any]:
        return dict((await self._maker.post(f"/workflow/{await self.made(**step)}/validate")).json())

    async def hears(self, *replies: Any, **step: Any) -> list[dict[str, Any]]:
        """A chat in which the model begins the step and then says ``replies``; the events of its tools."""
        self.models.llm.script = [calls("begin"), *replies]
        path = f"/workflow/{await self.made(**step)}/text-chat/sessions"
        chat = (await self._maker.post(path, json={})).json()
        answer = await self._maker.post(f"{path}/{chat['id']}/messages", json={"text": "Please"})
        assert answer.status_code == 200, answer.text
        run = (await self._maker.get(f"{path.partition('/text')[0]}/runs/{chat['workflow_run_id']}")).json()
        return [event["data"] for event in run["events"] if event["type"] == "tool_answered"]

    @property
    def offered(self) -> list[str]:
        """The functions that the model was offered last, but for those that take edges."""
        return [tool.name for tool in self.models.llm.requests[-1].tools if tool.name not in {"begin", "finish"}]


@pytest.fixture
def clerk(root: Root, maker: Maker) -> Agent:
    return Agent(root, maker)


async def catalog(maker: Maker, uuid: str) -> list[str]:
    tool = (await maker.get(f"/tools/{uuid}")).json()
    return [entry["name"] for entry in tool["definition"]["config"]["discovered_tools"]]


class TestCatalog:
    @pytest.mark.slow
    async def test_is_read_when_the_tool_is_made_and_again_when_asked(self, maker: Maker, shop: Shop) -> None:
        uuid = await maker.tool(mcp(shop.url))
        assert await catalog(maker, uuid) == ["order_state", "ship", "wait"]
        shop.add("refund")
        answer = (await maker.post(f"/tools/{uuid}/mcp/refresh")).json()
        assert answer["error"] is None
        assert [entry["name"] for entry in answer["discovered_tools"]] == ["order_state", "ship", "wait", "refund"]
        state = answer["discovered_tools"][0]
        assert state["description"] == "Where an order is."
        assert state["parameters"]["properties"]["order"]["type"] == "integer"
        assert await catalog(maker, uuid) == ["order_state", "ship", "wait", "refund"]

    @pytest.mark.slow
    async def test_of_a_server_that_is_gone_stays_as_it_was(self, maker: Maker) -> None:
        shop = Shop()
        async with shop.serving():
            uuid = await maker.tool(mcp(shop.url))
        answer = (await maker.post(f"/tools/{uuid}/mcp/refresh")).json()
        assert answer["error"].startswith("The MCP server failed")
        assert len(answer["discovered_tools"]) == len(await catalog(maker, uuid)) == 3

    async def test_of_an_address_that_is_no_mcp_server(self, maker: Maker) -> None:
        async with local_server(json_reply({"order": 1})) as server:
            uuid = await maker.tool(mcp(f"http://mcp.test:{server.port}/mcp"))
            answer = (await maker.post(f"/tools/{uuid}/mcp/refresh")).json()
        assert answer["error"] == "The MCP server failed: it does not answer as MCP servers do."

    async def test_is_the_servers_word_and_nobody_elses(self, maker: Maker, shop: Shop) -> None:
        invented = [{"name": "refund_everything", "description": "x", "parameters": {"type": "object"}}]
        uuid = await maker.tool(mcp(shop.url, discovered_tools=invented))
        assert await catalog(maker, uuid) == ["order_state", "ship", "wait"]
        body = {"definition": mcp(shop.url, discovered_tools=invented, timeout_secs=9)}
        assert (await maker.put(f"/tools/{uuid}", json=body)).status_code == 200
        assert await catalog(maker, uuid) == ["order_state", "ship", "wait"]
        body = {"definition": mcp(shop.url + "/elsewhere", discovered_tools=invented)}
        assert (await maker.put(f"/tools/{uuid}", json=body)).status_code == 200
        assert await catalog(maker, uuid) == []

    async def test_where_nothing_may_be_called(self, maker: Maker, shop: Shop) -> None:
        for url in (f"http://elsewhere.test:{shop.port}/mcp", f"http://127.0.0.1:{shop.port}/mcp"):
            made = await maker.post("/tools/", json={"name": "Shop", "definition": mcp(url)})
            if made.status_code == 422:  # an address that can be refused without a look at its name
                continue
            answer = (await maker.post(f"/tools/{made.json()['tool_uuid']}/mcp/refresh")).json()
            assert "was not found" in answer["error"] or "not public" in answer["error"]
        assert not shop.headers

    async def test_no_mcp_and_archived(self, maker: Maker, shop: Shop) -> None:
        refused = await maker.post(f"/tools/{await maker.tool({'type': 'calculator'})}/mcp/refresh")
        assert (refused.status_code, refused.json()["code"]) == (422, "tool_is_no_mcp")
        uuid = await maker.tool(mcp(shop.url))
        await maker.delete(f"/tools/{uuid}")
        refused = await maker.post(f"/tools/{uuid}/mcp/refresh")
        assert (refused.status_code, refused.json()["code"]) == (409, "tool_archived")

    async def test_the_credential_goes_along_on_every_request(self, maker: Maker, shop: Shop) -> None:
        credential = await maker.credential("api_key", header_name="X-Shop-Key", api_key="open-sesame")
        uuid = await maker.tool(mcp(shop.url, credential_uuid=credential))
        await maker.post(
            f"/tools/{uuid}/test", json={"llm_params": {"tool_name": "ship", "arguments": {"address": "x"}}}
        )
        assert shop.shipped == ["x"]
        assert {headers.get("x-shop-key") for headers in shop.headers} == {"open-sesame"}


class SlowEgress(EgressClient):
    """Its own time ends before that of the call: at the end of one second, either may be first."""

    def __init__(self) -> None:
        pass

    def vendor_client(self, *_: Any, **__: Any) -> httpx2.AsyncClient:
        return httpx2.AsyncClient()

    async def check_url(self, _url: str) -> None:
        raise ExceptionGroup("of the SDK's tasks", [ExceptionGroup("of one", [httpx2.ReadTimeout("")])])


async def test_a_time_that_the_client_ended_is_told_as_ours() -> None:
    with pytest.raises(ToolCallFailed, match=r"did not respond within 3 s\."):
        await read_catalog(SlowEgress(), McpConfig(url="https://shop.example/mcp", timeout_secs=3), {})


class TestInAConversation:
    async def test_a_call_and_its_answer(self, maker: Maker, shop: Shop, clerk: Agent) -> None:
        uuid = await maker.tool(mcp(shop.url), name="Shop")
        (answer,) = await clerk.hears(calls("shop_order_state", order=7), says("It was sent."), tool_uuids=[uuid])
        assert (answer["ok"], answer["result"]) == (True, {"order": 7, "state": "sent"})
        assert '"state": "sent"' in clerk.models.llm.requests[-1].messages[-1].content
        assert clerk.offered == ["shop_order_state", "shop_ship", "shop_wait"]

    async def test_an_error_of_the_tool_reaches_the_model(self, maker: Maker, shop: Shop, clerk: Agent) -> None:
        uuid = await maker.tool(mcp(shop.url), name="Shop")
        (answer,) = await clerk.hears(calls("shop_order_state", order=-1), says("Sorry."), tool_uuids=[uuid])
        assert not answer["ok"]
        assert "No order has such a number." in answer["error"]
        assert "No order has such a number." in clerk.models.llm.requests[-1].messages[-1].content

    async def test_arguments_that_do_not_fit(self, maker: Maker, shop: Shop, clerk: Agent) -> None:
        uuid = await maker.tool(mcp(shop.url), name="Shop")
        (answer,) = await clerk.hears(calls("shop_ship", order="one"), says("Sorry."), tool_uuids=[uuid])
        assert not answer["ok"]
        assert "address" in answer["error"]
        assert shop.shipped == []

    @pytest.mark.slow
    async def test_a_server_that_does_not_answer_in_time(self, maker: Maker, shop: Shop, clerk: Agent) -> None:
        uuid = await maker.tool(mcp(shop.url, timeout_secs=1), name="Shop")
        (answer,) = await clerk.hears(calls("shop_wait"), says("Sorry."), tool_uuids=[uuid])
        assert not answer["ok"]
        assert "within 1 s" in answer["error"]

    async def test_a_server_that_is_gone(self, maker: Maker, clerk: Agent) -> None:
        shop = Shop()
        async with shop.serving():
            uuid = await maker.tool(mcp(shop.url), name="Shop")
        (answer,) = await clerk.hears(calls("shop_ship", address="x"), says("Sorry."), tool_uuids=[uuid])
        assert answer["error"].startswith("The MCP server failed")

    async def test_a_filter_leaves_the_rest_out(self, maker: Maker, shop: Shop, clerk: Agent) -> None:
        uuid = await maker.tool(mcp(shop.url), name="Shop")
        await clerk.hears(
            calls("shop_ship", address="x"), says("No."), tool_uuids=[uuid], mcp_tool_filters={uuid: ["order_state"]}
        )
        assert clerk.offered == ["shop_order_state"]
        assert shop.shipped == []

    async def test_the_tools_own_filter(self, maker: Maker, shop: Shop, clerk: Agent) -> None:
        uuid = await maker.tool(mcp(shop.url, tools_filter=["ship", "wait"]), name="Shop")
        await clerk.hears(says("Yes?"), tool_uuids=[uuid], mcp_tool_filters={uuid: ["order_state", "ship"]})
        assert clerk.offered == ["shop_ship"]

    async def test_of_two_functions_of_one_name_the_edge_or_the_first_tool_wins(
        self, maker: Maker, shop: Shop, clerk: Agent
    ) -> None:
        first = await maker.tool({"type": "calculator"}, name="Shop ship")
        uuid = await maker.tool(mcp(shop.url), name="Shop")
        finish = await maker.tool({"type": "calculator"}, name="Finish")
        (answer,) = await clerk.hears(
            calls("shop_ship", expression="1+1"), says("Two."), tool_uuids=[finish, first, uuid]
        )
        assert answer["result"] == {"result": "2"}
        assert clerk.offered == ["shop_ship", "shop_order_state", "shop_wait"]
        names = [tool.name for tool in clerk.models.llm.requests[-1].tools]
        assert len(names) == len(set(names))


class TestValidation:
    async def test_a_name_that_is_taken(self, maker: Maker, shop: Shop, clerk: Agent) -> None:
        other = await maker.tool({"type": "calculator"}, name="Shop ship")
        uuid = await maker.tool(mcp(shop.url), name="Shop")
        report = await clerk.validated(tool_uuids=[other, uuid])
        assert report["errors"] == [
            {
                "kind": "node",
                "id": "a",
                "field": "data.tool_uuids",
                "code": "tool_name_duplicate",
                "message": "The tool name “shop_ship” is already used at this node by an edge or another tool.",
            }
        ]
        report = await clerk.validated(tool_uuids=[other, uuid], mcp_tool_filters={uuid: ["wait"]})
        assert (report["is_valid"], report["warnings"]) == (True, [])

    async def test_the_last_known_catalog_counts(self, maker: Maker, shop: Shop, clerk: Agent) -> None:
        uuid = await maker.tool(mcp(shop.url), name="Shop")
        shop.add("order-state")
        assert (await clerk.validated(tool_uuids=[uuid]))["is_valid"]
        await maker.post(f"/tools/{uuid}/mcp/refresh")
        assert not (await clerk.validated(tool_uuids=[uuid]))["is_valid"]

    async def test_tools_that_cannot_be_used(self, maker: Maker, other_maker: Maker, clerk: Agent) -> None:
        archived = await maker.tool({"type": "calculator"})
        await maker.delete(f"/tools/{archived}")
        foreign = await other_maker.tool({"type": "calculator"})
        report = await clerk.validated(tool_uuids=[archived, foreign, "no-uuid"])
        assert report["is_valid"]
        assert [(issue["id"], issue["code"]) for issue in report["warnings"]] == [
            ("a", "tool_archived"),
            ("a", "tool_unknown"),
            ("a", "tool_unknown"),
        ]

    async def test_an_archived_tool_is_no_way_out(self, maker: Maker, clerk: Agent) -> None:
        uuid = await maker.tool({"type": "end_call", "config": {"messageType": "none"}}, name="Hang up")
        assert (await clerk.validated(is_dead_end=True, tool_uuids=[uuid]))["warnings"] == []
        await maker.delete(f"/tools/{uuid}")
        warnings = (await clerk.validated(is_dead_end=True, tool_uuids=[uuid]))["warnings"]
        assert ("a", "node_without_end") in [(issue["id"], issue["code"]) for issue in warnings]

    async def test_a_filter_that_leaves_nothing(self, maker: Maker, shop: Shop, clerk: Agent) -> None:
        uuid = await maker.tool(mcp(shop.url), name="Shop")
        report = await clerk.validated(tool_uuids=[uuid], mcp_tool_filters={uuid: ["gone"]})
        assert report["is_valid"]
        assert [(issue["id"], issue["field"], issue["code"]) for issue in report["warnings"]] == [
            ("a", "data.tool_uuids", "tool_without_functions")
        ]


# Backtracks for centuries over the answer.
HOSTILE_SCHEMA = {"type": "object", "properties": {"state": {"type": "string", "pattern": "^(a+)+$"}}}


def hostile_shop(asked: Seen) -> Reply:
    """A server whose function says what it answers: in a pattern that takes for ever."""
    message = json.loads(asked.body) if asked.method == "POST" else {}
    results: dict[str, Any] = {
        "initialize": lambda: {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "Shop", "version": "1"},
        },
        "tools/list": lambda: {
            "tools": [{"name": "state", "inputSchema": {"type": "object"}, "outputSchema": HOSTILE_SCHEMA}]
        },
        "tools/call": lambda: {"content": [], "structuredContent": {"state": "a" * 27 + "!"}},
    }
    if "id" not in message:
        return Reply(status=202 if message else 405)
    answer = results.get(message["method"])
    told = {"result": answer()} if answer else {"error": {"code": -32601, "message": "no"}}
    return json_reply({"jsonrpc": "2.0", "id": message["id"], **told})


async def test_a_servers_patterns_are_not_run(maker: Maker) -> None:
    async with local_server(hostile_shop) as server:
        body = {"definition": mcp(f"http://mcp.test:{server.port}/mcp"), "llm_params": {"tool_name": "state"}}
        answer = (await maker.post("/tools/test", json=body)).json()
    assert answer["error"] is None, answer["error"]
    assert answer["data"] == {"state": "a" * 27 + "!"}
