"""Webhook nodes: who is told, what they are told, how often, and when that ends."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import select, text

from offhook.bootstrap import build_root, stop_domains
from offhook.kit.crypto import Keyring
from offhook.kit.database.database import Database
from offhook.root import Root
from offhook.runs import service
from offhook.runs.finishing import node_webhooks
from offhook.runs.finishing.node_webhooks import NodeWebhookJob, retry_delay_s
from offhook.runs.tables import NodeWebhookDelivery, RunEvent
from offhook.settings import Settings
from offhook.tools import ToolServices
from offhook.workflows.tables import Workflow, WorkflowVersion
from tests.fakes.web import LocalServer, Reply, egress_to_loopback, local_server
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import DEFINITION
from tests.runs.test_encrypted_words import use_keys


@pytest.fixture
async def root(settings: Settings, database: Database) -> AsyncIterator[Root]:
    built = build_root(settings, database, egress_to_loopback("shop.test"))
    yield built
    await stop_domains(built)
    await built.db.dispose()


class Desk:
    """A workflow with webhook nodes, runs of it, and the deliveries of one run."""

    def __init__(self, root: Root, org: OrgFixture) -> None:
        self.root = root
        self.org = org

    async def ended_run(self, *nodes: dict[str, Any]) -> int:
        async with self.root.db.transaction() as session:
            workflow = Workflow(organization_id=self.org.id, name="Desk")
            session.add(workflow)
            await session.flush()
            definition = {**DEFINITION, "nodes": [*DEFINITION["nodes"], *nodes]}
            version = WorkflowVersion(
                workflow_id=workflow.id,
                organization_id=self.org.id,
                version_number=1,
                status="published",
                definition=definition,
            )
            session.add(version)
            await session.flush()
            run = await service.create_run(
                session,
                organization_id=self.org.id,
                workflow_id=workflow.id,
                mode="sandbox",
                direction="outbound",
                use_draft=False,
                phone_number="+12015550102",
                initial_context={"first_name": 'Ann "A"', "order": 7},
            )
        for _ in range(2):
            async with self.root.db.transaction() as session:
                await service.apply_status(session, self.org.id, run.id, "busy")
        return run.id

    async def deliveries(self) -> list[NodeWebhookDelivery]:
        async with self.root.db.transaction() as session:
            return list(await session.scalars(select(NodeWebhookDelivery).order_by(NodeWebhookDelivery.id)))

    async def waiting(self) -> list[tuple[dict[str, Any], int]]:
        """``(payload, delay in seconds)`` of the jobs that were put into the queue."""
        async with self.root.db.transaction() as session:
            rows = await session.execute(
                text(
                    "SELECT payload, round(extract(epoch FROM execute_after - created)) AS delay FROM pgqueuer"
                    " WHERE entrypoint = :job ORDER BY id"
                ),
                {"job": node_webhooks.JOB},
            )
            return [(json.loads(row.payload), int(row.delay)) for row in rows]

    async def attempt(self, number: int) -> NodeWebhookDelivery:
        (delivery,) = await self.deliveries()
        root = self.root
        job = NodeWebhookJob(root.db, root.clock, root.settings, root.get(Keyring), root.get(ToolServices).runner)
        await job.deliver({"id": delivery.id, "attempt": number})
        (delivery,) = await self.deliveries()
        return delivery

    async def events(self) -> list[tuple[str, dict[str, Any]]]:
        async with self.root.db.transaction() as session:
            rows = await session.scalars(
                select(RunEvent).where(RunEvent.type.startswith("webhook_")).order_by(RunEvent.seq)
            )
            return [(row.type, row.data) for row in rows]


@pytest.fixture
def desk(root: Root, org: OrgFixture) -> Desk:
    return Desk(root, org)


def webhook(server: LocalServer, node_id: str = "hook", **data: Any) -> dict[str, Any]:
    url = server.url("shop.test", "/calls/{{order}}")
    return {
        "id": node_id,
        "type": "webhook",
        "position": {"x": 0, "y": 0},
        "data": {"name": "CRM", "endpoint_url": url, **data},
    }


async def test_each_enabled_node_once(desk: Desk) -> None:
    async with local_server(Reply()) as server:
        off, empty = webhook(server, "off", enabled=False), webhook(server, "empty", endpoint_url=" ")
        await desk.ended_run(webhook(server), off, empty)
    assert [row.node_id for row in await desk.deliveries()] == ["hook"]
    assert len(await desk.waiting()) == 1


async def test_what_is_told(desk: Desk) -> None:
    template = {
        "run": "{{workflow_run_id}}",
        "text": "Dear {{initial_context.first_name}}",
        "nested": [{"order": "{{order}}", "gone": "{{nothing | none}}"}],
        "fixed": 5,
    }
    async with local_server(Reply(204)) as server:
        headers = [{"key": "X-Source", "value": "phone"}]
        run_id = await desk.ended_run(
            webhook(server, payload_template=template, custom_headers=headers, http_method="PUT")
        )
        delivery = await desk.attempt(1)
        # the job came again after a crash
        await desk.attempt(1)
    (seen,) = server.seen
    assert (seen.method, seen.target) == ("PUT", "/calls/7")
    assert seen.json == {
        "run": run_id,
        "text": 'Dear Ann "A"',
        "nested": [{"order": 7, "gone": "none"}],
        "fixed": 5,
        "call_disposition": "busy",
    }
    assert seen.headers["x-source"] == "phone"
    assert seen.headers["x-offhook-run-id"] == str(run_id)
    assert seen.headers["x-offhook-delivery-id"] == str(delivery.id)
    assert seen.headers["x-offhook-delivery-attempt"] == "1"
    assert (delivery.status, delivery.response_status) == ("delivered", 204)
    assert await desk.events() == [
        ("webhook_delivered", {"node_id": "hook", "name": "CRM", "attempt": 1, "status_code": 204})
    ]


@pytest.mark.slow
@pytest.mark.parametrize("encrypts", [False, True])
async def test_five_attempts_with_growing_pauses_and_then_no_more(desk: Desk, encrypts: bool) -> None:
    use_keys(desk.root, encrypts=encrypts)
    async with local_server(Reply(503)) as server:
        await desk.ended_run(webhook(server, payload_template={"customer": "{{first_name}}"}))
        for number in range(1, 6):
            delivery = await desk.attempt(number)
            assert delivery.status == ("pending" if number < 5 else "dead_letter")
        await desk.attempt(6)
    assert [seen.headers["x-offhook-delivery-attempt"] for seen in server.seen] == ["1", "2", "3", "4", "5"]
    assert {json.loads(seen.body)["customer"] for seen in server.seen} == {'Ann "A"'}
    assert len({seen.body for seen in server.seen}) == 1
    (stored,) = await desk.deliveries()
    assert ("Ann" in str(stored.payload)) is not encrypts
    assert [(payload["attempt"], delay) for payload, delay in await desk.waiting()] == [
        (1, 0),
        (2, 30),
        (3, 60),
        (4, 120),
        (5, 240),
    ]
    assert "retry_in_s" not in (await desk.events())[-1][1]


@pytest.mark.parametrize("status", [400, 401, 404, 410])
async def test_a_clear_no_is_not_asked_again(desk: Desk, status: int) -> None:
    async with local_server(Reply(status)) as server:
        await desk.ended_run(webhook(server))
        delivery = await desk.attempt(1)
    assert (delivery.status, delivery.response_status) == ("dead_letter", status)


async def test_nobody_listens_and_later_somebody_does(desk: Desk) -> None:
    async with local_server(Reply()) as server:
        pass
    await desk.ended_run(webhook(server))
    assert (await desk.attempt(1)).status == "pending"


async def test_where_nothing_may_be_called(desk: Desk) -> None:
    async with local_server(Reply()) as server:
        await desk.ended_run(webhook(server, endpoint_url=f"http://127.0.0.1:{server.port}/"))
        delivery = await desk.attempt(1)
    assert delivery.status == "dead_letter"
    assert "not public" in (delivery.error or "")
    assert not server.connections


def test_pauses_have_an_end() -> None:
    assert [retry_delay_s(attempt) for attempt in range(1, 8)] == [30, 60, 120, 240, 480, 600, 600]


@pytest.mark.parametrize(
    "url", ["http://{{first_name}}:{port}/", "http://shop.test{{order}}:{port}/", "{{first_name}}"]
)
async def test_a_variable_never_chooses_the_server(desk: Desk, url: str) -> None:
    async with local_server(Reply()) as server:
        await desk.ended_run(webhook(server, endpoint_url=url.replace("{port}", str(server.port))))
        delivery = await desk.attempt(1)
    assert (server.seen, delivery.status) == ([], "dead_letter")
    assert "without variables" in (delivery.error or "")


async def test_a_value_does_not_lead_up_in_the_address(desk: Desk) -> None:
    async with local_server(Reply()) as server:
        await desk.ended_run(webhook(server, endpoint_url=server.url("shop.test", "/a/.{{gone | .}}/{{order}}")))
        delivery = await desk.attempt(1)
    assert (server.seen, delivery.status) == ([], "dead_letter")


async def test_a_header_may_hold_any_text(desk: Desk) -> None:
    async with local_server(Reply()) as server:
        await desk.ended_run(webhook(server, custom_headers=[{"key": "X-Name", "value": "Zoë"}]))
        assert (await desk.attempt(1)).status == "delivered"
    assert server.seen[0].headers["x-name"].encode("latin-1").decode() == "Zoë"
