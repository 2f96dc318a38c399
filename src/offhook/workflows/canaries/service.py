"""Starts a canary, changes its share, and ends it: forward, so that its version is the published one, or back."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.models import ModelConfigurationStore
from offhook.orgs import Caller, skip_audit_entry, write_audit_entry
from offhook.workflows import publication, service
from offhook.workflows import repository as workflows
from offhook.workflows.canaries import queries
from offhook.workflows.errors import (
    CanaryNeedsDraft,
    CanaryNeedsPublished,
    CanaryNotFound,
    CanaryNotRunning,
    WorkflowNotFound,
)
from offhook.workflows.ports import ToolCatalog
from offhook.workflows.publication import PublishRequest
from offhook.workflows.results.definitions import parse_call_analysis
from offhook.workflows.tables import WorkflowCanary, WorkflowVersion

BACK: Final = "back"
FORWARD: Final = "forward"
_STATE_AFTER: Final = {BACK: "rolled_back", FORWARD: "rolled_forward"}
_SALT_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class CanaryPlan:
    """``share`` in percent; ``settings`` are those of the comparison, to which what counts as a success is added."""

    share: int
    settings: Mapping[str, Any]
    started_at: datetime


@dataclass(frozen=True, slots=True)
class CanaryEnd:
    """``decision``: back or forward. ``reason`` is a code, ``explanation`` a sentence for people."""

    decision: str
    reason: str
    explanation: str


async def start_canary(
    session: AsyncSession,
    tools: ToolCatalog,
    caller: Caller,
    workflow_id: int,
    plan: CanaryPlan,
    *,
    models: ModelConfigurationStore,
    expected_revision: int | None,
    request: PublishRequest,
) -> WorkflowCanary:
    """Lets the draft take a share of calls, checked as if it were published.

    Raises what ``publication.take_draft`` raises, TriggerConflict, CanaryNeedsDraft, CanaryNeedsPublished (409).
    """
    taken = await publication.take_draft(
        session, tools, caller, workflow_id, models=models, expected_revision=expected_revision, request=request
    )
    if taken.draft is None:
        raise CanaryNeedsDraft
    if taken.published is None:
        raise CanaryNeedsPublished
    await publication.sync_triggers(session, taken.published, taken.draft)
    publication.mark_released(taken.draft, caller, "canary", plan.started_at)
    canary = WorkflowCanary(
        organization_id=caller.organization_id,
        workflow_id=workflow_id,
        old_version_id=taken.published.id,
        new_version_id=taken.draft.id,
        old_number=taken.published.version_number,
        new_number=taken.draft.version_number,
        share=plan.share,
        salt=secrets.token_bytes(_SALT_BYTES),
        settings={**plan.settings, "success_by": _success_by(taken.published, taken.draft)},
        started_by=caller.user_id,
        started_at=plan.started_at,
    )
    session.add(canary)
    await workflows.mark_changed(session, taken.workflow, plan.started_at, revises=True)
    await session.refresh(canary)
    data = {"version": canary.new_number, "beside": canary.old_number, "share": canary.share}
    await write_audit_entry(session, caller, "workflow.canary_started", f"workflow:{workflow_id}", data)
    return canary


async def find_latest(session: AsyncSession, organization_id: int, workflow_id: int) -> WorkflowCanary | None:
    """Returns the canary that takes calls, or else the last one. Raises WorkflowNotFound (404)."""
    await service.get_workflow(session, organization_id, workflow_id)
    return await queries.find_latest(session, organization_id, workflow_id)


async def change_share(session: AsyncSession, caller: Caller, workflow_id: int, share: int) -> WorkflowCanary:
    """Changes the share; callers who were given the new version keep it when it grows. Raises WorkflowNotFound,
    CanaryNotFound (404), CanaryNotRunning (409)."""
    await service.get_workflow(session, caller.organization_id, workflow_id, lock="change")
    canary = await _get_running(session, caller.organization_id, workflow_id)
    if canary.share == share:
        skip_audit_entry(session)
        return canary
    data = {"version": canary.new_number, "from": canary.share, "share": share}
    canary.share = share
    await session.flush()
    await write_audit_entry(session, caller, "workflow.canary_share_changed", f"workflow:{workflow_id}", data)
    return canary


async def end_by_hand(
    session: AsyncSession, caller: Caller, workflow_id: int, end: CanaryEnd, now: datetime
) -> WorkflowCanary:
    """Ends the canary that takes calls. Raises WorkflowNotFound, CanaryNotFound (404), CanaryNotRunning (409)."""
    await service.get_workflow(session, caller.organization_id, workflow_id, lock="change")
    canary = await _get_running(session, caller.organization_id, workflow_id)
    ended = await end_canary(session, caller, workflow_id, canary.id, end, now)
    if ended is None:
        raise CanaryNotRunning
    return ended


async def end_canary(
    session: AsyncSession,
    caller: Caller,
    workflow_id: int,
    canary_id: int,
    end: CanaryEnd,
    now: datetime,
    *,
    evidence: Mapping[str, Any] | None = None,
) -> WorkflowCanary | None:
    """Gives all calls to one of the two versions; calls that have begun keep theirs. None when the canary has ended, or
    its workflow is gone: whoever comes second changes nothing."""
    try:
        workflow = await service.get_workflow(session, caller.organization_id, workflow_id, lock="change")
    except WorkflowNotFound:
        return None
    values: dict[str, object] = {
        "state": _STATE_AFTER[end.decision],
        "reason": end.reason,
        "explanation": end.explanation,
        "ended_at": now,
        "ended_by": caller.user_id,
    }
    if evidence is not None:
        values["evidence"] = dict(evidence)
    canary = await queries.end_running(session, caller.organization_id, canary_id, values)
    if canary is None:
        return None
    old = await _get_version(session, caller.organization_id, canary.old_version_id)
    new = await _get_version(session, caller.organization_id, canary.new_version_id)
    kept, dropped = (new, old) if end.decision == FORWARD else (old, new)
    dropped.status = "archived"
    await session.flush()  # a unique index allows one published version
    kept.status = "published"
    if end.decision == FORWARD:
        kept.published_at = now
    await publication.sync_triggers(session, kept)
    await workflows.mark_changed(session, workflow, now, revises=True)
    data = {
        "version": new.version_number,
        "beside": old.version_number,
        "reason": end.reason,
        "explanation": end.explanation,
    }
    action = f"workflow.canary_{_STATE_AFTER[end.decision]}"
    await write_audit_entry(session, caller, action, f"workflow:{workflow_id}", data)
    return canary


def _success_by(*versions: WorkflowVersion) -> str:
    """Returns ``results`` if all versions say what a success is, else ``ending``: that a call ends without breaking."""
    analyses = [parse_call_analysis(version.configurations) for version in versions]
    are_defined = all(one.criteria or any(result.is_success for result in one.results) for one in analyses)
    return "results" if are_defined else "ending"


async def _get_running(session: AsyncSession, organization_id: int, workflow_id: int) -> WorkflowCanary:
    canary = await queries.find_latest(session, organization_id, workflow_id)
    if canary is None:
        raise CanaryNotFound
    if canary.state != queries.RUNNING:
        raise CanaryNotRunning
    return canary


async def _get_version(session: AsyncSession, organization_id: int, version_id: int) -> WorkflowVersion:
    version = await workflows.version_by_id(session, organization_id, version_id)
    assert version is not None  # a canary is deleted with its versions
    return version
