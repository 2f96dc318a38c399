"""How long an organization keeps what its calls leave, over HTTP."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from offhook.kit.database.database import Session
from offhook.kit.http.routing import Router
from offhook.kit.json_numbers import reject_boolean
from offhook.kit.redaction.redactor import ALL_KINDS, RedactedKind, RedactionRules
from offhook.kit.schema import Schema
from offhook.orgs.dependencies import CurrentOrg, Now, RequireAdmin
from offhook.orgs.privacy_settings import redaction, retention
from offhook.orgs.privacy_settings.redaction import MAX_NAMES
from offhook.orgs.privacy_settings.retention import MAX_DAYS, MIN_AUDIT_DAYS, Days, RetentionState

router = Router(prefix="/organizations", tags=["privacy"])

AuditDays = Annotated[int, BeforeValidator(reject_boolean), Field(ge=MIN_AUDIT_DAYS, le=MAX_DAYS)]


class RetentionUpdate(Schema):
    """Days, 1 to 3650: since the beginning of a call; `contacts_days` since the end of their campaign; `audit_days`, at least 90,
    since the entry. Null keeps it; without `contacts_days` or `audit_days` they stay as they are."""

    recordings_days: Days | None
    transcripts_days: Days | None
    runs_days: Days | None
    contacts_days: Days | None = None
    audit_days: AuditDays | None = None


class RetentionResponse(Schema):
    """`recordings_days`: until recordings are deleted. `transcripts_days`: until the words of a conversation are
    deleted; times, steps, outcome and cost stay. `runs_days`: until entire runs are deleted; usage and charges stay.
    `contacts_days`: until the contacts of finished campaigns lose their numbers and variables; counts and report stay.
    `audit_days`: until entries of the audit log are deleted. `…_swept_until`: everything that began before it has been
    processed."""

    recordings_days: int | None
    transcripts_days: int | None
    runs_days: int | None
    contacts_days: int | None
    audit_days: int | None
    recordings_swept_until: datetime | None
    transcripts_swept_until: datetime | None
    runs_swept_until: datetime | None


@router.get("/retention", response_model=RetentionResponse, operation_id="get_retention")
async def get_retention(org: CurrentOrg, session: Session) -> RetentionResponse:
    """Returns how long recordings, transcripts and runs are kept."""
    return _to_response(await retention.get_retention(session, org.organization_id))


@router.put("/retention", response_model=RetentionResponse, operation_id="put_retention")
async def put_retention(body: RetentionUpdate, org: RequireAdmin, session: Session, now: Now) -> RetentionResponse:
    """Sets how long recordings, transcripts, runs, contacts and audit entries are kept. Anything older is deleted
    within about an hour, including what was recorded before the change. An agent can have shorter periods (`PUT
    /workflow/{workflow_id}/retention`)."""
    before = (await retention.get_retention(session, org.organization_id)).periods
    periods = replace(before, **body.model_dump(exclude_unset=True))
    return _to_response(await retention.change_retention(session, org, periods, now))


def _require_letter(name: str) -> str:
    if not any(char.isalpha() for char in name):
        raise ValueError("A name needs a letter.")
    return name


RedactedName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=2, max_length=100, pattern=r"^[^\x00-\x1f]*$"),
    AfterValidator(_require_letter),
]


class RedactionUpdate(Schema):
    """`kinds`: what is replaced with labels such as `[card]` before a transcript is stored. `names`: what the kind
    `name` finds in addition to the names that callers give as their own; if omitted, the list is kept."""

    kinds: Annotated[list[RedactedKind], Field(max_length=len(ALL_KINDS))]
    names: Annotated[list[RedactedName], Field(max_length=MAX_NAMES)] | None = None


class RedactionSettings(Schema):
    """Nothing is redacted by default. Duplicate names are removed, ignoring case."""

    kinds: list[RedactedKind]
    names: list[str]


@router.get("/redaction", response_model=RedactionSettings, operation_id="get_redaction")
async def get_redaction(org: CurrentOrg, session: Session) -> RedactionSettings:
    """Returns what is redacted on calls."""
    return _to_settings(await redaction.get_redaction_rules(session, org.organization_id))


@router.put("/redaction", response_model=RedactionSettings, operation_id="put_redaction")
async def put_redaction(body: RedactionUpdate, org: RequireAdmin, session: Session, now: Now) -> RedactionSettings:
    """Sets what is redacted in transcripts, events, variables and recordings of calls that begin from now on."""
    return _to_settings(await redaction.change_redaction_rules(session, org, body.kinds, body.names, now))


def _to_settings(rules: RedactionRules) -> RedactionSettings:
    return RedactionSettings(kinds=list(rules.kinds), names=list(rules.names))


def _to_response(state: RetentionState) -> RetentionResponse:
    periods = state.periods
    return RetentionResponse(
        recordings_days=periods.recordings_days,
        transcripts_days=periods.transcripts_days,
        runs_days=periods.runs_days,
        contacts_days=periods.contacts_days,
        audit_days=periods.audit_days,
        recordings_swept_until=state.recordings_swept_until,
        transcripts_swept_until=state.transcripts_swept_until,
        runs_swept_until=state.runs_swept_until,
    )
