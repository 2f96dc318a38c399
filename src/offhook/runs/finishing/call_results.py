"""Assigns results to finished runs, by the rules of their version's definition."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.finishing import analysis_queries
from offhook.runs.tables import Run
from offhook.voice.events import EDGE_TAKEN
from offhook.workflows.results.definitions import CallAnalysis
from offhook.workflows.results.rules import CallFacts, choose_result

EXTRACTED = "extracted_variables"


async def assign_results(
    session: AsyncSession, organization_id: int, runs: Sequence[Run], analysis: CallAnalysis
) -> None:
    """Sets ``result`` and ``is_success`` of runs whose conversation took place; idempotent."""
    talked = [run for run in runs if has_conversation(run)]
    if not analysis.results or not talked:
        return
    facts = await load_facts(session, organization_id, talked)
    for run in talked:
        result = choose_result(analysis, facts[run.id])
        run.result = None if result is None else result.name
        run.is_success = None if result is None or analysis.criteria else result.is_success


def has_conversation(run: Run) -> bool:
    """Returns whether a person was talked to."""
    return run.answered_at is not None and run.outcome != "voicemail"


async def load_facts(session: AsyncSession, organization_id: int, runs: Sequence[Run]) -> dict[int, CallFacts]:
    """Returns what rules can look at, by run. Of calls that are not kept these are nodes, edges and ends."""
    nodes: dict[int, set[str]] = defaultdict(set)
    edges: dict[int, set[str]] = defaultdict(set)
    for row in await analysis_queries.read_route(session, organization_id, [run.id for run in runs]):
        if row.type == EDGE_TAKEN:
            edges[row.run_id].add(str(row.data.get("edge_id")))
        else:
            nodes[row.run_id] |= {str(row.data.get("node_id")), str(row.data.get("name"))}
    return {run.id: CallFacts(extracted_variables(run), nodes[run.id], edges[run.id], run.end_reason) for run in runs}


def extracted_variables(run: Run) -> dict[str, Any]:
    """Returns what the agent learned on a call."""
    values = run.gathered_context.get(EXTRACTED)
    return dict(values) if isinstance(values, dict) else {}
