"""Pages of runs: their filter and sort fields, read as Core rows because ORM objects cost three times as much."""

from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.filters.criteria import (
    FilterColumn,
    FilterField,
    NamedValueColumns,
    parse_conditions,
    parse_sort,
)
from offhook.kit.http.pagination import PageRequest
from offhook.runs.artifacts.links import RunLinks
from offhook.runs.lists import run_count_queries
from offhook.runs.lists.queries import RunPage, find_runs
from offhook.runs.schemas import RunRecord
from offhook.runs.tables import Run, RunValue

RecordT = TypeVar("RecordT", bound=RunRecord)

_VALUE_FIELD: Final = NamedValueColumns(RunValue.name, RunValue.value, RunValue.number)
FILTERS: Final[dict[str, FilterField]] = {
    "id": FilterField.for_column(Run.id, "number", "select"),
    "duration": FilterField.for_column(Run.duration, "number"),
    "created_at": FilterField.for_column(Run.created_at, "date"),
    "status": FilterField.for_column(Run.status, "select", "text"),
    "outcome": FilterField.for_column(Run.outcome, "select", "text"),
    "result": FilterField.for_column(Run.result, "select", "text"),
    "is_success": FilterField.for_column(Run.is_success, "boolean"),
    "workflow_id": FilterField.for_column(Run.workflow_id, "number", "select"),
    "campaign_id": FilterField.for_column(Run.campaign_id, "number", "select"),
    "direction": FilterField.for_column(Run.direction, "select", "text"),
    "mode": FilterField.for_column(Run.mode, "select", "text"),
    "phone_number": FilterField.for_column(Run.phone_number, "text", "select"),
    "call_id": FilterField.for_column(Run.call_id, "text", "select"),
    "tags": FilterField.for_column(Run.tags, "select"),
    "context.*": FilterField.for_column(_VALUE_FIELD, "number", "text", "select", "date", "boolean"),
    "gathered.*": FilterField.for_column(_VALUE_FIELD, "number", "text", "select", "date", "boolean"),
}
SORTS: Final[dict[str, FilterColumn]] = {"id": Run.id, "created_at": Run.created_at, "duration": Run.duration}

COLUMNS: Final = (
    Run.id,
    Run.workflow_id,
    Run.name,
    Run.mode,
    Run.direction,
    Run.status,
    Run.outcome,
    Run.result,
    Run.is_success,
    Run.phone_number,
    Run.caller_number,
    Run.called_number,
    Run.call_id,
    Run.campaign_id,
    Run.version_number,
    Run.created_at,
    Run.started_at,
    Run.answered_at,
    Run.ended_at,
    Run.duration,
    Run.cost_cents,
    Run.end_reason,
    Run.initial_context,
    Run.gathered_context,
    Run.recording_key,
    Run.usage,
    Run.latency,
    Run.tags,
)
# Positional access by name: a mapped column's key costs more to look up than its value costs to read.
_SHOWN_COLUMNS: Final = tuple(column.key for column in COLUMNS if column.key != "recording_key")


@dataclass(frozen=True, slots=True)
class RunQuery:
    """A list's raw parameters; :func:`page_of_runs` rejects invalid ones with 422."""

    page: PageRequest
    filters: str | None
    sort_by: str | None
    sort_order: str | None


async def page_of_runs(
    session: AsyncSession,
    organization_id: int,
    query: RunQuery,
    *,
    workflow_id: int | None = None,
    campaign_id: int | None = None,
) -> RunPage:
    """Returns rows of :data:`COLUMNS`. A campaign's runs are found by its workflow's index, so pass both."""
    order = parse_sort(query.sort_by, query.sort_order, SORTS, default="created_at", tie_break=Run.id)
    conditions = parse_conditions(query.filters, FILTERS)
    total = None
    if not conditions.all_conditions and campaign_id is None:
        total = await run_count_queries.count_runs(session, organization_id, workflow_id)
    conditions.on_columns.append(Run.organization_id == organization_id)
    if workflow_id is not None:
        conditions.on_columns.append(Run.workflow_id == workflow_id)
    if campaign_id is not None:
        conditions.on_columns.append(Run.campaign_id == campaign_id)
    part = query.page
    return await find_runs(session, COLUMNS, conditions, order, limit=part.limit, offset=part.offset, total=total)


def present_run(model: type[RecordT], row: Any, workflow_name: str, links: RunLinks, **more: Any) -> RecordT:
    """Builds a record from a row of :data:`COLUMNS` or a Run; ``more`` adds or replaces fields of the model."""
    has_media = row.answered_at is not None
    values = {
        **{name: getattr(row, name) for name in _SHOWN_COLUMNS},
        "workflow_run_id": row.id,
        "workflow_name": workflow_name,
        "duration": None if row.duration is None else float(row.duration),
        "transcript_url": links.sign_artifact_link("transcript", row.workflow_id, row.id) if has_media else None,
        "recording_url": links.sign_artifact_link("recording", row.workflow_id, row.id) if row.recording_key else None,
    }
    return model.model_validate(values | more)
