"""Validates a version in full and publishes it to production."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database_clock import time_of
from offhook.knowledge import service as knowledge
from offhook.models import ModelConfigurationStore
from offhook.models.errors import UnknownModel
from offhook.orgs import Caller, skip_audit_entry, write_audit_entry
from offhook.recordings import service as recordings
from offhook.root import settings_of
from offhook.workflows import repository, service
from offhook.workflows.analysis import GraphFinding, analyze_graph
from offhook.workflows.analysis.offline_steps import OfflineStep, find_offline_steps
from offhook.workflows.canaries import queries as canaries
from offhook.workflows.configurations import Phrases
from offhook.workflows.errors import (
    CanaryRunning,
    PublishConflict,
    TriggerConflict,
    WorkflowInvalid,
    WorkflowNotFound,
    WorkflowNotPublished,
)
from offhook.workflows.graph import WorkflowGraph, parse_graph
from offhook.workflows.hooks import PublishAttempt, PublishCheck
from offhook.workflows.ports import ToolCatalog
from offhook.workflows.tables import Workflow, WorkflowVersion
from offhook.workflows.tool_facts import ToolFacts
from offhook.workflows.validation import ValidationReport, trigger_conflict, trigger_paths, validate_definition
from offhook.workflows.validation.documents import document_warnings
from offhook.workflows.validation.issues import ValidationIssue
from offhook.workflows.validation.recordings import check_recordings, recording_references
from offhook.workflows.validation.turn_detector import detector_warnings


@dataclass(frozen=True, slots=True)
class WorkflowCheck:
    """The issues of one version, what the analysis of its graph found, and which steps run without a vendor's model."""

    report: ValidationReport
    findings: tuple[GraphFinding, ...]
    offline: tuple[OfflineStep, ...]


@dataclass(frozen=True, slots=True)
class PublishRequest:
    """``note`` says what changed. ``checks`` are those of the domains above; ``override_reason`` is for them."""

    note: str | None = None
    checks: Sequence[PublishCheck] = ()
    override_reason: str | None = None


async def check_current(
    session: AsyncSession, tools: ToolCatalog, models: ModelConfigurationStore, organization_id: int, workflow_id: int
) -> WorkflowCheck:
    """Validates and analyzes the draft, else the newest version that takes calls. Raises WorkflowNotFound (404)."""
    await service.get_workflow(session, organization_id, workflow_id)
    version = await canaries.shown_version(session, organization_id, workflow_id)
    if version is None:
        raise WorkflowNotFound
    report = await _validate_version(session, tools, models, version)
    taken = await _foreign_paths(session, version)
    conflicts = [trigger_conflict(node_id) for node_id, path in trigger_paths(version.definition) if path in taken]
    return WorkflowCheck(
        ValidationReport((*report.errors, *conflicts), report.warnings),
        await analyze_version(session, tools, version),
        await asyncio.to_thread(find_offline_steps, parse_graph(version.definition), version.configurations),
    )


async def analyze_version(
    session: AsyncSession, tools: ToolCatalog, version: WorkflowVersion
) -> tuple[GraphFinding, ...]:
    """Returns what the graph's analysis finds, in a thread: a large graph takes a part of a second."""
    graph = parse_graph(version.definition)
    return await asyncio.to_thread(
        analyze_graph,
        graph,
        tools=await _facts_of_tools(session, tools, version.organization_id, graph),
        template_variables=version.template_context_variables,
        configurations=version.configurations,
        phrase_names=tuple(Phrases.model_fields),
    )


async def _facts_of_tools(
    session: AsyncSession, tools: ToolCatalog, organization_id: int, graph: WorkflowGraph
) -> Mapping[str, ToolFacts]:
    used = {uuid for node in graph.nodes.values() for uuid in node.tool_uuids}
    return await tools.get_tool_facts(session, organization_id, used) if used else {}


async def publish_draft(
    session: AsyncSession,
    tools: ToolCatalog,
    caller: Caller,
    workflow_id: int,
    *,
    models: ModelConfigurationStore | None = None,
    expected_revision: int | None = None,
    request: PublishRequest | None = None,
) -> tuple[WorkflowVersion, int]:
    """Publishes the draft and returns it with the new revision; without a draft, returns the published version.

    ``models`` is None for a version without its own models. Raises what :func:`take_draft` raises, WorkflowNotPublished (409,
    nothing to publish), TriggerConflict (409).
    """
    taken = await take_draft(
        session, tools, caller, workflow_id, models=models, expected_revision=expected_revision, request=request
    )
    if taken.draft is None:
        if taken.published is None:
            raise WorkflowNotPublished("There is no draft to publish.")
        skip_audit_entry(session)
        return taken.published, taken.workflow.revision
    await sync_triggers(session, taken.draft)
    now = time_of(session)
    if taken.published is not None:
        taken.published.status = "archived"
        await session.flush()  # a unique index allows one published version
    mark_released(taken.draft, caller, "published", now)
    await repository.mark_changed(session, taken.workflow, now, revises=True)
    note = request.note if request else None
    data = {"version": taken.draft.version_number, **({"note": note} if note else {})}
    await write_audit_entry(session, caller, "workflow.published", f"workflow:{workflow_id}", data)
    return taken.draft, taken.workflow.revision


@dataclass(frozen=True, slots=True)
class TakenDraft:
    """A draft that may be published, beside the published version; None: there is none."""

    workflow: Workflow
    draft: WorkflowVersion | None
    published: WorkflowVersion | None


async def take_draft(
    session: AsyncSession,
    tools: ToolCatalog,
    caller: Caller,
    workflow_id: int,
    *,
    models: ModelConfigurationStore | None,
    expected_revision: int | None,
    request: PublishRequest | None,
) -> TakenDraft:
    """Locks the workflow and checks its draft, to be released in the same transaction.

    Without a note, the version keeps what stands there ("Restored from version 3"). Raises what the checks of the request
    raise, WorkflowNotFound (404), CanaryRunning (409), WorkflowInvalid (422), PublishConflict (409) when a concurrent publish took
    the draft, WorkflowRevisionConflict (409).
    """
    before = await repository.draft_id(session, caller.organization_id, workflow_id)
    workflow = await service.get_workflow(session, caller.organization_id, workflow_id, lock="change")
    service.check_revision(workflow, expected_revision)
    draft, published = await repository.latest_versions(session, caller.organization_id, workflow_id)
    if before is not None and (draft is None or draft.id != before):
        raise PublishConflict
    if draft is None:
        return TakenDraft(workflow, None, published)
    if await canaries.find_running(session, caller.organization_id, workflow_id) is not None:
        raise CanaryRunning
    report = await _validate_version(session, tools, models, draft)
    if not report.is_valid:
        raise WorkflowInvalid([asdict(issue) for issue in report.errors])
    request = request or PublishRequest()
    attempt = PublishAttempt(workflow_id, draft.id, workflow.publish_gate, request.override_reason)
    for check in request.checks:
        await check(session, caller, attempt)
    draft.note = request.note or draft.note
    return TakenDraft(workflow, draft, published)


def mark_released(version: WorkflowVersion, caller: Caller, status: str, now: datetime) -> None:
    """Makes a draft a version that takes calls."""
    version.status, version.published_at = status, now
    version.created_by = version.created_by or caller.user_id


async def sync_triggers(session: AsyncSession, version: WorkflowVersion, *others: WorkflowVersion) -> None:
    """Lets exactly the triggers of these versions of one workflow answer. Raises TriggerConflict (409)."""
    claimed: set[str] = set()
    active: set[str] = set()
    for one in (version, *others):
        nodes = parse_graph(one.definition).nodes
        disabled = {node.id for node in nodes.values() if node.data.get("enabled") is False}
        # of one path at two triggers, the last one decides
        is_active = {path: node_id not in disabled for node_id, path in trigger_paths(one.definition)}
        claimed |= set(is_active)
        active |= {path for path, is_enabled in is_active.items() if is_enabled}
    await repository.claim_paths(session, version.organization_id, version.workflow_id, claimed, active=sorted(active))
    # check after claiming: of two workflows that publish one path at once, the second has waited for the first
    for one in (version, *others):
        if await _foreign_paths(session, one):
            raise TriggerConflict


async def _foreign_paths(session: AsyncSession, version: WorkflowVersion) -> set[str]:
    paths = {path for _, path in trigger_paths(version.definition)}
    if not paths:
        return set()
    return await repository.foreign_paths(session, version.organization_id, version.workflow_id, paths)


async def _validate_version(
    session: AsyncSession, tools: ToolCatalog, models: ModelConfigurationStore | None, version: WorkflowVersion
) -> ValidationReport:
    graph = parse_graph(version.definition)
    facts = await _facts_of_tools(session, tools, version.organization_id, graph)
    named = list(recording_references(graph, version.configurations))
    known = await recordings.known_ids(session, version.organization_id, {place.recording_id for place in named})
    refs = {ref for node in graph.nodes.values() for ref in node.document_refs}
    documents = await knowledge.document_facts(session, version.organization_id, refs) if refs else {}
    # in a thread: a definition of 1 MB takes a quarter of a second, and this loop may be carrying audio
    report = await asyncio.to_thread(
        validate_definition, version.definition, tools=facts, template_variables=version.template_context_variables
    )
    chosen = await _check_models(session, models, version) if models is not None else []
    return ValidationReport(
        (*report.errors, *check_recordings(named, known), *chosen),
        (
            *report.warnings,
            *document_warnings(graph, documents),
            *detector_warnings(version.configurations, settings_of(session)),
        ),
    )


async def _check_models(
    session: AsyncSession, models: ModelConfigurationStore, version: WorkflowVersion
) -> list[ValidationIssue]:
    """Checks the models again: they fit when saved, but the organization may have changed its own since."""
    try:
        await models.check_override(session, version.organization_id, version.configurations)
    except UnknownModel as error:
        field = f"workflow_configurations.{error.field}"
        return [ValidationIssue("workflow", None, field, error.code, error.message)]
    return []
