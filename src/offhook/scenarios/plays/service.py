"""Orders, lists and cancels plays of scenarios."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs.queue import enqueue
from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, skip_audit_entry, write_audit_entry
from offhook.scenarios.agents import load_scenarios
from offhook.scenarios.answers.questions import BUILT_IN, RECORDED
from offhook.scenarios.errors import (
    NoScenarios,
    RecordNeedsRecorded,
    ScenarioNotFound,
    ScenarioPlayNotFound,
    ScenarioRecordingNotFound,
    TooManyPlays,
)
from offhook.scenarios.plays import recording_queries, repository
from offhook.scenarios.tables import TEXT, PlayedScenarioResult, ScenarioPlay
from offhook.workflows import service as workflows

PLAY_JOB: Final = "scenario.play"
MAX_OPEN_PLAYS: Final = 10
MAX_SEEDS: Final = 20
MAX_CPU_S: Final = 600
DEFAULT_CPU_S: Final = 60
MAX_COST_CENTS: Final = 10_000
DEFAULT_COST_CENTS: Final = 100
MAX_COMPARED_VERSIONS: Final = 20


@dataclass(frozen=True, slots=True)
class WantedPlay:
    """``number`` None: the draft, or the published version if there is none. ``names`` empty: all scenarios. ``mode`` is
    text or sound; ``answers`` built-in, recorded or live."""

    number: int | None = None
    names: Sequence[str] = ()
    seeds: Sequence[int] = (0,)
    cpu_budget_s: int = DEFAULT_CPU_S
    mode: str = TEXT
    answers: str = BUILT_IN
    records: bool = False
    cost_budget_cents: int = DEFAULT_COST_CENTS


async def order_play(session: AsyncSession, caller: Caller, workflow_id: int, wanted: WantedPlay) -> ScenarioPlay:
    """Stores a play, and the job that does it. Raises RecordNeedsRecorded (422), NoScenarios (409), ScenarioNotFound (404),
    TooManyPlays (429)."""
    if wanted.records and wanted.answers != RECORDED:
        raise RecordNeedsRecorded
    organization_id = caller.organization_id
    if wanted.number is None:
        version = await workflows.get_version_to_run(session, organization_id, workflow_id, use_draft=True)
    else:
        version = await workflows.get_numbered_version(session, organization_id, workflow_id, wanted.number)
    names = [scenario.name for scenario in await load_scenarios(session, version)]
    if not names:
        raise NoScenarios
    if missing := sorted(set(wanted.names) - set(names)):
        raise ScenarioNotFound(f"There is no scenario {missing[0]!r}.")
    if await repository.count_open(session, organization_id) >= MAX_OPEN_PLAYS:
        raise TooManyPlays
    seeds = sorted(set(wanted.seeds))
    chosen = [name for name in names if name in set(wanted.names)]
    play = ScenarioPlay(
        organization_id=organization_id,
        workflow_id=version.workflow_id,
        version_id=version.version_id,
        version_number=version.version_number,
        scenario_names=chosen if len(chosen) < len(names) else [],
        seeds=seeds,
        mode=wanted.mode,
        answers=wanted.answers,
        records=wanted.records,
        cpu_budget_s=wanted.cpu_budget_s,
        cost_budget_cents=wanted.cost_budget_cents,
        total=len(chosen or names) * len(seeds),
        created_by=caller.user_id,
    )
    session.add(play)
    await session.flush()
    await session.refresh(play)
    await enqueue(session, PLAY_JOB, {"organization_id": organization_id, "play_id": play.id})
    data: JsonObject = {"play": play.id, "version": play.version_number}
    if play.answers != BUILT_IN:
        data |= {"answers": play.answers, "record": play.records, "cost_budget_cents": play.cost_budget_cents}
    await write_audit_entry(session, caller, "scenarios.play_ordered", f"workflow:{workflow_id}", data)
    return play


@dataclass(frozen=True, slots=True)
class PlayedModels:
    """Whose models a play asks: the agent's, by its settings, and those of callers and judges, by their names; the empty
    name is the organization's own."""

    configurations: Mapping[str, Any]
    helpers: frozenset[str]


async def list_models(session: AsyncSession, play: ScenarioPlay) -> PlayedModels:
    """Returns the models that a play asks."""
    version = await workflows.version_to_run(session, play.organization_id, play.version_id)
    names: set[str] = set()
    for scenario in await load_scenarios(session, version):
        if play.scenario_names and scenario.name not in play.scenario_names:
            continue
        if scenario.caller.model is not None:
            names.add(scenario.caller.model.name or "")
        if scenario.expect.judged:
            names.add(scenario.expect.judged_by or "")
    return PlayedModels(version.configurations, frozenset(names))


async def get_play(session: AsyncSession, organization_id: int, workflow_id: int, play_id: int) -> ScenarioPlay:
    """Raises ScenarioPlayNotFound (404)."""
    play = await repository.find_play(session, organization_id, play_id, workflow_id=workflow_id)
    if play is None:
        raise ScenarioPlayNotFound
    return play


async def list_plays(
    session: AsyncSession, organization_id: int, workflow_id: int, *, limit: int | None, offset: int
) -> tuple[Sequence[ScenarioPlay], int]:
    """Returns plays of an agent, newest first, and the total count. Raises WorkflowNotFound (404)."""
    await workflows.get_workflow(session, organization_id, workflow_id)
    return await repository.list_plays(session, organization_id, workflow_id, limit=limit, offset=offset)


async def list_results(
    session: AsyncSession, organization_id: int, workflow_id: int, play_id: int
) -> Sequence[PlayedScenarioResult]:
    """Returns what came of each scenario so far. Raises ScenarioPlayNotFound (404)."""
    play = await get_play(session, organization_id, workflow_id, play_id)
    return await repository.list_results(session, organization_id, play.id)


async def find_recording_key(
    session: AsyncSession, organization_id: int, workflow_id: int, play_id: int, result_id: int
) -> tuple[str, str]:
    """Returns the key of a result's recording, and a name for the file. Raises ScenarioPlayNotFound,
    ScenarioRecordingNotFound (404)."""
    play = await get_play(session, organization_id, workflow_id, play_id)
    result = await recording_queries.find_result(session, organization_id, play.id, result_id)
    key = result.outcome.get("recording_key") if result is not None else None
    if result is None or key is None:
        raise ScenarioRecordingNotFound
    return str(key), f"{result.name}-{result.seed}.wav"


async def list_latest_results(
    session: AsyncSession, organization_id: int, workflow_id: int, *, max_versions: int
) -> Sequence[Row[ScenarioPlay, PlayedScenarioResult]]:
    """Returns the last result of each scenario with each of the newest versions. Raises WorkflowNotFound (404)."""
    await workflows.get_workflow(session, organization_id, workflow_id)
    return await repository.list_latest_results(session, organization_id, workflow_id, max_versions=max_versions)


async def cancel_play(session: AsyncSession, caller: Caller, workflow_id: int, play_id: int) -> ScenarioPlay:
    """Cancels a play that is not over; the job sees it within a second. Raises ScenarioPlayNotFound (404)."""
    await get_play(session, caller.organization_id, workflow_id, play_id)
    play = await repository.find_play(session, caller.organization_id, play_id, for_update=True)
    if play is None:
        raise ScenarioPlayNotFound
    if play.state not in repository.OPEN:
        skip_audit_entry(session)
        return play
    play.state, play.finished_at = "canceled", datetime.now(UTC)
    await session.flush()
    await write_audit_entry(session, caller, "scenarios.play_canceled", f"workflow:{workflow_id}", {"play": play.id})
    return play
