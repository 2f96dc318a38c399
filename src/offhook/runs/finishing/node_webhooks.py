"""Webhook nodes: each URL is notified of a finished call once, with a limited number of retries."""

import json
from collections.abc import Mapping
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook import jobs
from offhook.jobs.registry import read_number
from offhook.kit.clock import Clock
from offhook.kit.crypto import Keyring
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject, nonblank_text
from offhook.kit.template import render_json
from offhook.orgs.data_keys.sealed_rows import open_row, seal_row
from offhook.orgs.errors import WordsUnreadable
from offhook.runs import repository as runs
from offhook.runs.artifacts.links import RunLinks
from offhook.runs.finishing import repository, reviews
from offhook.runs.records import event_queries
from offhook.runs.records.event_queries import NewEvent
from offhook.runs.records.storable_json import encode_event_data, to_storable_json
from offhook.runs.tables import NodeWebhookDelivery, Run
from offhook.settings import Settings
from offhook.tools import ToolRunner
from offhook.tools.errors import ToolCallFailed
from offhook.tools.http_api import render_address
from offhook.workflows import service as workflows
from offhook.workflows.graph import Node, WorkflowGraph, parse_graph

JOB: Final = "run_webhook.deliver"
MAX_ATTEMPTS: Final = 5
MIN_RETRY_DELAY_S: Final = 30
MAX_RETRY_DELAY_S: Final = 600
TIMEOUT_S: Final = 30.0
MAX_ANSWER_BYTES: Final = 100_000
RETRY_ON: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
WEBHOOK_DELIVERED: Final = "webhook_delivered"  # {node_id, name, attempt, status_code}
WEBHOOK_FAILED: Final = (
    "webhook_failed"  # {node_id, name, attempt, status_code?, error, retry_in_s?}: no retry_in_s on the last attempt
)
log = structlog.get_logger(__name__)


async def schedule_deliveries(session: AsyncSession, run: Run, graph: WorkflowGraph) -> None:
    """Schedules one delivery per webhook node, in the transaction that stores the run's end; idempotent."""
    for node in graph.nodes.values():
        if (
            node.kind != "webhook"
            or node.data.get("enabled") is False
            or not nonblank_text(node.data.get("endpoint_url"))
        ):
            continue
        added = await repository.insert_once(session, NodeWebhookDelivery, run, node.id)
        if added is not None:
            await jobs.enqueue(session, JOB, {"id": added, "attempt": 1, "organization_id": run.organization_id})


def retry_delay_s(attempt: int) -> int:
    """Returns the seconds between a failed attempt (1 is the first) and the next one."""
    return int(min(MIN_RETRY_DELAY_S * 2 ** (attempt - 1), MAX_RETRY_DELAY_S))


class NodeWebhookJob:
    """The delivery job. No transaction is open during the request to the customer's server."""

    def __init__(self, db: Database, clock: Clock, settings: Settings, keyring: Keyring, runner: ToolRunner) -> None:
        self._db = db
        self._clock = clock
        base = settings.public_url or f"http://{settings.host}:{settings.port}"
        self._links = RunLinks(base.rstrip("/"), keyring, clock)
        self._runner = runner

    async def deliver(self, payload: JsonObject) -> None:
        """Makes one attempt. A job that runs twice repeats its own attempt, never an earlier one."""
        delivery_id, attempt = read_number(payload, "id"), read_number(payload, "attempt")
        claimed = await self._claim_delivery(delivery_id, attempt)
        if claimed is None:
            return
        delivery, body, run, node = claimed
        status, error, retryable = await self._send_request(delivery, body, run, node)
        await self._record_result(delivery, node, status, error, may_repeat=retryable and attempt < MAX_ATTEMPTS)

    async def _claim_delivery(
        self, delivery_id: int, attempt: int
    ) -> tuple[NodeWebhookDelivery, JsonObject, Run, Node] | None:
        async with self._db.transaction() as session:
            delivery = await repository.lock_delivery(session, delivery_id)
            if delivery is None or delivery.status != "pending" or delivery.attempts not in {attempt - 1, attempt}:
                return None
            run = await runs.by_id(session, delivery.organization_id, delivery.run_id)
            assert run is not None  # the delivery is deleted with its run
            version = await workflows.version_to_run(session, run.organization_id, run.version_id)
            node = parse_graph(version.definition).nodes.get(delivery.node_id)
            if node is None:
                delivery.status, delivery.error = "dead_letter", "The webhook node is gone."
                return None
            delivery.attempts = attempt
            body = await self._load_body(session, delivery, run, version.workflow_name, node)
        return None if body is None else (delivery, body, run, node)

    async def _load_body(
        self, session: AsyncSession, delivery: NodeWebhookDelivery, run: Run, workflow_name: str, node: Node
    ) -> JsonObject | None:
        """Returns the body as first sent, which the first attempt stores; None when there is none to send."""
        try:
            if delivery.payload is None:
                rated = await reviews.load_annotations(session, run.organization_id, run.id)
                delivery.payload = to_storable_json(self._build_body(run, workflow_name, node, rated))
                body: JsonObject = delivery.payload
                await seal_row(session, delivery)
            else:
                body = (await open_row(session, delivery))["payload"]
        except ValueError as error:
            delivery.status, delivery.error = "dead_letter", f"The body cannot be made: {error}"
            return None
        except WordsUnreadable as error:
            delivery.status, delivery.error = "dead_letter", error.message
            return None
        return body

    def _build_body(self, run: Run, workflow_name: str, node: Node, rated: JsonObject) -> JsonObject:
        has_audio = run.recording_key is not None
        context = {
            **run.initial_context,
            **run.gathered_context,
            "workflow_run_id": run.id,
            "workflow_run_name": run.name,
            "workflow_id": run.workflow_id,
            "workflow_name": workflow_name,
            "campaign_id": run.campaign_id,
            "call_time": (run.answered_at or run.started_at or run.created_at).isoformat(),
            "status": run.status,
            "outcome": run.outcome,
            "end_reason": run.end_reason,
            "phone_number": run.phone_number,
            "initial_context": run.initial_context,
            "gathered_context": run.gathered_context,
            "cost_info": {
                "call_duration_seconds": float(run.duration) if run.duration is not None else 0,
                "cost_cents": run.cost_cents,
                "usage": run.usage,
            },
            "annotations": rated,
            "recording_url": self._links.sign_artifact_link("recording", run.workflow_id, run.id)
            if has_audio
            else None,
            "transcript_url": self._links.sign_artifact_link("transcript", run.workflow_id, run.id),
        }
        template = node.data.get("payload_template")
        body = render_json(template if isinstance(template, Mapping) else {}, context)
        assert isinstance(body, dict)
        body.setdefault("call_disposition", run.gathered_context.get("call_disposition") or run.outcome)
        return body

    async def _send_request(
        self, delivery: NodeWebhookDelivery, body: JsonObject, run: Run, node: Node
    ) -> tuple[int | None, str | None, bool]:
        """Returns ``(status, error, retryable)``."""
        method = node.data.get("http_method")
        method = method if method in {"GET", "PUT", "PATCH", "DELETE"} else "POST"
        headers = {
            **_custom_headers(node),
            "Content-Type": "application/json",
            "X-Offhook-Delivery-Id": str(delivery.id),
            "X-Offhook-Run-Id": str(run.id),
            "X-Offhook-Delivery-Attempt": str(delivery.attempts),
        }
        content = None if method == "GET" else json.dumps(body, ensure_ascii=False).encode()
        try:
            answer = await self._runner.send_request(
                run.organization_id,
                method,
                render_address(
                    str(node.data.get("endpoint_url")).strip(), {**run.initial_context, **run.gathered_context}
                ),
                credential_uuid=nonblank_text(node.data.get("credential_uuid")),
                headers=headers,
                content=content,
                timeout_s=TIMEOUT_S,
                max_bytes=MAX_ANSWER_BYTES,
            )
        except ToolCallFailed as error:
            return None, str(error), error.retryable
        if answer.is_success:
            return answer.status, None, False
        return answer.status, f"The service answered with status {answer.status}.", answer.status in RETRY_ON

    async def _record_result(
        self, delivery: NodeWebhookDelivery, node: Node, status: int | None, error: str | None, *, may_repeat: bool
    ) -> None:
        attempt = delivery.attempts
        async with self._db.transaction() as session:
            row = await repository.lock_delivery(session, delivery.id)
            if row is None or row.status != "pending" or row.attempts != attempt:
                return
            row.response_status, row.error, row.updated_at = status, error, self._clock.now()
            data: JsonObject = {"node_id": node.id, "name": node.name, "attempt": attempt, "status_code": status}
            if error is None:
                row.status = "delivered"
            else:
                data["error"] = error
                if may_repeat:
                    data["retry_in_s"] = retry_delay_s(attempt)
                    again = {"id": row.id, "attempt": attempt + 1, "organization_id": row.organization_id}
                    await jobs.enqueue(session, JOB, again, delay_s=retry_delay_s(attempt))
                else:
                    row.status = "dead_letter"
                    log.warning("webhook_node_dead_letter", run_id=row.run_id, attempts=attempt)
            kind = WEBHOOK_DELIVERED if error is None else WEBHOOK_FAILED
            run = await runs.by_id(session, row.organization_id, row.run_id)
            at_ms = round(float(run.duration or 0) * 1000) if run is not None else 0
            event = NewEvent(row.run_id, kind, at_ms, encode_event_data(data), self._clock.now())
            await event_queries.append_events(session, [event])


def _custom_headers(node: Node) -> dict[str, str]:
    rows = node.data.get("custom_headers")
    return {
        str(row["key"]).strip(): str(row.get("value") or "")
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, Mapping) and str(row.get("key") or "").strip()
    }
