"""Proposes scenarios for what an agent's own ones do not take yet. Nothing is stored."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.scenarios.agents import load_agent, load_scenarios
from offhook.scenarios.coverage.service import measure_scenarios
from offhook.scenarios.errors import ProposalsFailed, TooManyProposals
from offhook.scenarios.places import OrganizationPlaces
from offhook.scenarios.plays.orders import PlayOrder
from offhook.scenarios.processes import quick_command, start_program
from offhook.workflows import service as workflows

# Gets the processor time in seconds and the folder of models as its arguments.
PROGRAM: Final = quick_command("offhook.scenarios.proposals.program")
# A graph of 100 nodes takes about one second.
MAX_CPU_S: Final = 15
# Proxies give up after a minute. The wait for a place counts.
TIMEOUT_S: Final = 55.0
MAX_WAIT_S: Final = 30.0
# Of one process of the server, whose cores carry calls.
MAX_CONCURRENT_PROPOSALS: Final = 2
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ProposedScenarios:
    """``proposals`` hold a ``scenario``, the edges that it ``covers`` first, and those whose ``keys`` it presses first;
    ``missed`` are edges that neither they nor scenarios that passed take. ``is_complete`` is False when time ran out."""

    version_number: int
    proposals: Sequence[JsonObject]
    missed: Sequence[str]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class _Order:
    version_number: int
    edges: Sequence[str]
    covered: Sequence[str]
    text: bytes


@dataclass(slots=True)
class ScenarioProposalService:
    """Without a folder of models the offline agent compares words, not meanings."""

    db: Database
    models_folder: Path | None
    program: Sequence[str] = PROGRAM
    timeout_s: float = TIMEOUT_S
    places: OrganizationPlaces = field(
        default_factory=lambda: OrganizationPlaces(
            MAX_CONCURRENT_PROPOSALS, wait_s=MAX_WAIT_S, refusal=TooManyProposals
        )
    )

    async def propose(self, organization_id: int, workflow_id: int) -> ProposedScenarios:
        """Returns proposals for the draft, or for the published version if there is none.

        Raises WorkflowNotFound (404), AgentNotTestable (422), TooManyProposals (429), ProposalsFailed (409).
        """
        async with self.places.hold(organization_id) as waited_s:
            async with self.db.transaction() as session:
                order = await _write_order(session, organization_id, workflow_id)
            lines, has_failed = await self._run(order.text, self.timeout_s - waited_s)
        proposals = [line for line in lines if line]
        if has_failed and not proposals:
            raise ProposalsFailed
        taken = {*order.covered, *(edge for line in proposals for edge in line["covers"])}
        missed = [edge for edge in order.edges if edge not in taken]
        return ProposedScenarios(order.version_number, proposals, missed, is_complete={} in lines)

    async def _run(self, order: bytes, timeout_s: float) -> tuple[list[dict[str, Any]], bool]:
        """Returns the lines of the program, as many as there are, and whether it ended for another reason than time."""
        lines: list[dict[str, Any]] = []
        async with start_program(self.program, order, str(MAX_CPU_S), str(self.models_folder or "")) as process:
            assert process.stdout is not None
            try:
                async with asyncio.timeout(timeout_s):
                    async for line in process.stdout:
                        lines.append(json.loads(line))  # noqa: PERF401 - what came before the time was up is kept
                    await process.wait()
            except TimeoutError:
                return lines, False
            has_failed = (process.returncode or 0) > 0
        if has_failed:
            log.warning("scenario_proposals_failed", exit_code=process.returncode)
        return lines, has_failed


async def _write_order(session: AsyncSession, organization_id: int, workflow_id: int) -> _Order:
    coverage = (await measure_scenarios(session, organization_id, workflow_id)).graph
    version = await workflows.get_numbered_version(session, organization_id, workflow_id, coverage.version_number)
    agent, scenarios = await load_agent(session, version), await load_scenarios(session, version)
    covered = [edge for edge, count in coverage.edges.items() if count > 0]
    pressed = [edge for (edge, condition), count in coverage.conditions.items() if condition == "key" and count > 0]
    content = {"order": PlayOrder(agent, scenarios, ()).as_json(), "covered": covered, "pressed": pressed}
    text = await asyncio.to_thread(json.dumps, content)
    return _Order(coverage.version_number, list(coverage.edges), covered, text.encode())
