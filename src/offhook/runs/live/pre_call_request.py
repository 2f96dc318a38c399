"""Fetches variables from a customer's URL before the agent speaks, if possible while the phone rings."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.kit.json_values import JsonObject, JsonValue, nonblank_text
from offhook.runs.live import repository
from offhook.runs.records.storable_json import to_storable_json
from offhook.runs.tables import Run
from offhook.tools import ToolRunner
from offhook.tools.errors import ToolCallFailed
from offhook.tools.http_api import parse_answer
from offhook.workflows import service as workflows
from offhook.workflows.graph import Node, parse_graph

FETCH_TIMEOUT_S: Final = 10.0
MAX_BYTES: Final = 100_000
MAX_VARIABLES: Final = 200
PRE_CALL_FETCHED: Final = "pre_call_fetched"  # {ok, ms, variables?: [name], error?}
# Variables that only the platform may set.
_RESERVED_VARIABLES: Final = {
    "direction",
    "mode",
    "workflow_run_id",
    "workflow_id",
    "campaign_id",
    "call_id",
    "provider",
}
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PreCallResult:
    """``event`` is the data of PRE_CALL_FETCHED; None when no request was due."""

    variables: JsonObject = field(default_factory=dict)
    event: JsonObject | None = None


class PreCallFetch:
    """One request per run. It never fails: without an answer the call simply lacks the variables."""

    def __init__(self, db: Database, runner: ToolRunner) -> None:
        self._db = db
        self._runner = runner
        self._pending: dict[int, asyncio.Task[PreCallResult]] = {}

    def start_fetch(self, run_id: int) -> None:
        """Starts the request early, while the phone rings; :meth:`take_result` waits for the rest."""
        if run_id not in self._pending:
            self._pending[run_id] = asyncio.create_task(self._fetch_for_ringing(run_id), name=f"pre-call-{run_id}")

    def cancel_fetch(self, run_id: int) -> None:
        """Cancels the request, because the call was not answered."""
        task = self._pending.pop(run_id, None)
        if task is not None:
            task.cancel()

    async def take_result(self, run: Run, start: Node | None) -> PreCallResult:
        """Returns what is known when the call begins, and stores it in the run's ``initial_context``."""
        task = self._pending.pop(run.id, None)
        began = asyncio.get_running_loop().time()
        try:
            if task is not None:
                fetched = await task
            elif start is not None and is_due(start, run.direction):
                fetched = await self._send_request(run, start)
            else:
                fetched = PreCallResult()
        except Exception:  # the customer's edge: whatever goes wrong with the request, the caller is answered
            log.exception("pre_call_fetch_failed", run_id=run.id)
            return PreCallResult(
                event={"ok": False, "ms": _elapsed_ms(began), "error": "The question could not be asked."}
            )
        if fetched.variables:
            try:
                async with self._db.transaction() as session:
                    await repository.merge_initial_context(session, run, fetched.variables)
            except DATABASE_ERRORS as error:  # the call has the variables anyway
                log.warning("pre_call_variables_not_kept", run_id=run.id, error=type(error).__name__)
        return fetched

    async def _fetch_for_ringing(self, run_id: int) -> PreCallResult:
        async with self._db.transaction() as session:
            run = await repository.find_run_of_ringing_call(session, run_id)
            if run is None:
                return PreCallResult()
            version = await workflows.version_to_run(session, run.organization_id, run.version_id)
        graph = parse_graph(version.definition)
        start = graph.nodes.get(graph.start_id or "")
        return (
            await self._send_request(run, start)
            if start is not None and is_due(start, run.direction)
            else PreCallResult()
        )

    async def _send_request(self, run: Run, start: Node) -> PreCallResult:
        event = f"call_{run.direction}"
        question = {
            "agent_id": run.workflow_id,
            "workflow_run_id": run.id,
            "from_number": run.caller_number,
            "to_number": run.called_number or run.phone_number,
        }
        began = asyncio.get_running_loop().time()
        try:
            answer = await self._runner.send_request(
                run.organization_id,
                "POST",
                str(start.data.get("pre_call_fetch_url")).strip(),
                credential_uuid=nonblank_text(start.data.get("pre_call_fetch_credential_uuid")),
                headers={"Content-Type": "application/json"},
                content=json.dumps({"event": event, event: question}).encode(),
                timeout_s=FETCH_TIMEOUT_S,
                max_bytes=MAX_BYTES,
            )
            if not answer.is_success:
                raise ToolCallFailed(f"The service answered with status {answer.status}.")
            found = extract_variables(parse_answer(answer))
        except ToolCallFailed as error:
            return PreCallResult(event={"ok": False, "ms": _elapsed_ms(began), "error": str(error)})
        return PreCallResult(found, {"ok": True, "ms": _elapsed_ms(began), "variables": list[JsonValue](sorted(found))})


def is_due(start: Node, direction: str) -> bool:
    """Returns whether this start node requests data for calls of this direction. The older switch means always."""
    mode = start.data.get("pre_call_fetch_mode")
    if mode in {None, "disabled"} and start.data.get("pre_call_fetch_enabled") is True:
        mode = "always"
    return mode in {"always", direction} and nonblank_text(start.data.get("pre_call_fetch_url")) is not None


def extract_variables(answer: Any) -> JsonObject:
    """Returns ``initial_context`` or ``dynamic_variables`` of the answer, top-level or under
    ``call_inbound``/``call_outbound``."""
    if not isinstance(answer, dict):
        raise ToolCallFailed("The service's answer is not a JSON object.")
    places = [answer, *(answer[key] for key in ("call_inbound", "call_outbound") if isinstance(answer.get(key), dict))]
    for place in places:
        for key in ("initial_context", "dynamic_variables"):
            if isinstance(place.get(key), dict):
                found = {str(name): value for name, value in place[key].items() if name not in _RESERVED_VARIABLES}
                return to_storable_json(dict(list(found.items())[:MAX_VARIABLES]))
    return {}


def _elapsed_ms(began: float) -> int:
    return round((asyncio.get_running_loop().time() - began) * 1000)
