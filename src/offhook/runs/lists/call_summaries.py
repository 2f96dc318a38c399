"""Per-call facts for reports on many calls: times, extracted variables and a short summary."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.lists import queries, result_queries
from offhook.runs.records import event_queries
from offhook.runs.records.event_queries import StoredUtterance
from offhook.runs.records.projections import build_transcript
from offhook.runs.tables import Run

MAX_SUMMARY_CHARS: Final = 500
# An agent's own summary variable beats any other summary.
_SUMMARIES: Final = ("call_summary", "summary", "transcript_summary")


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """One call. ``summary`` is what was written after it or the agent's variable of such a name, else the beginning of the
    conversation."""

    workflow_id: int
    duration_s: Decimal | None
    started_at: datetime | None
    ended_at: datetime | None
    extracted: Mapping[str, Any]
    summary: str
    has_recording: bool
    result: str | None = None
    is_success: bool | None = None


async def load_session_facts(
    session: AsyncSession, organization_id: int, run_ids: Sequence[int]
) -> dict[int, SessionFacts]:
    """Returns the facts by run id, with three queries; deleted runs are left out."""
    if not run_ids:
        return {}
    rows = await queries.load_session_rows(session, organization_id, run_ids)
    summaries = await result_queries.load_summaries(session, organization_id, run_ids)
    utterances: dict[int, list[StoredUtterance]] = defaultdict(list)
    for event in await event_queries.read_first_utterances(session, organization_id, run_ids):
        utterances[event["run_id"]].append(event)
    found = {}
    for row in rows:
        extracted = row.extracted if isinstance(row.extracted, dict) else {}
        found[row.id] = SessionFacts(
            row.workflow_id, row.duration, row.started_at, row.ended_at, extracted,
            summaries.get(row.id) or summarize_conversation(extracted, utterances[row.id]), row.recording_key is not None,
            row.result, row.is_success,
        )  # fmt: skip
    return found


def summarize_conversation(extracted: Mapping[str, Any], events: Collection[Mapping[str, Any]]) -> str:
    """Returns at most :data:`MAX_SUMMARY_CHARS` characters; empty if neither side spoke."""
    summary = next((extracted[name] for name in _SUMMARIES if isinstance(extracted.get(name), str)), None)
    text = summary or " / ".join(f"{line.role.capitalize()}: {line.text}" for line in build_transcript(events))
    return text if len(text) <= MAX_SUMMARY_CHARS else text[: MAX_SUMMARY_CHARS - 1].rstrip() + "…"


async def campaign_extracted_names(
    session: AsyncSession, organization_id: int, workflow_id: int, campaign_id: int, *, since: datetime
) -> list[str]:
    """Returns the sorted names of the variables that a campaign's runs extracted. ``since``: no run is older."""
    conditions = (Run.workflow_id == workflow_id, Run.campaign_id == campaign_id, Run.created_at >= since)
    return await queries.extracted_names(session, organization_id, conditions)
