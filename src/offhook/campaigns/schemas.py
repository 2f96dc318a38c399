"""Requests and responses of the campaign endpoints."""

from datetime import date, datetime
from typing import Annotated, Any, Final, Literal, Self

import phonenumbers
from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, StringConstraints, model_validator

from offhook.campaigns.rules.hours import WEEKDAYS, Weekday, is_zone
from offhook.kit.json_numbers import Number, WholeNumber
from offhook.kit.phone_numbers import E164
from offhook.kit.schema import Schema

MAX_INT: Final = 2**31 - 1
MAX_DELAY_S: Final = 7 * 24 * 3600
# For clients that send none.
_DEFAULT_CONCURRENCY: Final = 10

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=300)]
RowId = Annotated[WholeNumber, Field(ge=1, le=MAX_INT)]
Delay = Annotated[WholeNumber, Field(ge=0, le=MAX_DELAY_S)]
Start = Annotated[str, StringConstraints(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]
End = Annotated[str, StringConstraints(pattern=r"^(([01]\d|2[0-3]):[0-5]\d|24:00)$")]
Outcome = Literal[
    "answered", "not_understood", "interrupted_by_us", "no_answer", "busy", "voicemail", "failed", "canceled",
    "do_not_call", "invalid_number",
]  # fmt: skip


def _check_zone(name: str) -> str:
    if not is_zone(name):
        raise ValueError(f"{name!r} is not an IANA time zone")
    return name


def _check_country(code: str) -> str:
    if code.upper() not in phonenumbers.SUPPORTED_REGIONS:
        raise ValueError(f"{code!r} is not an ISO 3166-1 country code")
    return code.upper()


class Slot(Schema):
    """A weekly slot. An ``end`` at or before ``start`` is on the next day. ``day_of_week`` (0 is Monday), ``start_time`` and
    ``end_time`` are accepted as well."""

    day: Weekday
    start: Start
    end: End

    @model_validator(mode="before")
    @classmethod
    def _accept_compat_fields(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "day" in given:
            return given
        number = given.get("day_of_week")
        day = WEEKDAYS[number] if isinstance(number, int) and 0 <= number <= 6 else number
        return {"day": day, "start": given.get("start_time"), "end": given.get("end_time")}


class CallingHours(Schema):
    """When contacts may be called. With ``in_callee_zone``, calling hours must also be open in the time zone of the number.
    No calls are placed on ``holidays``."""

    timezone: Annotated[str, StringConstraints(min_length=1, max_length=64), AfterValidator(_check_zone)]
    slots: list[Slot] = Field(min_length=1, max_length=100)
    holidays: list[date] = Field(default_factory=list, max_length=400)
    in_callee_zone: bool = False


class RetryConfig(Schema):
    """When unreached contacts are called again. ``delays`` overrides ``retry_delay_seconds`` for an outcome. Each further
    retry waits ``backoff_factor`` times longer, up to a week."""

    enabled: bool = True
    max_retries: WholeNumber = Field(default=2, ge=0, le=20)
    retry_delay_seconds: Delay = 300
    retry_on_busy: bool = True
    retry_on_no_answer: bool = True
    retry_on_voicemail: bool = True
    backoff_factor: Number = Field(default=1.0, ge=1, le=10)
    delays: dict[Literal["busy", "no_answer", "voicemail"], Delay] = Field(default_factory=dict)


class CircuitBreaker(Schema):
    """Pauses the campaign when the share of failed calls within the window reaches the threshold."""

    enabled: bool = True
    failure_threshold: Number = Field(default=0.5, gt=0, le=1)
    window_seconds: WholeNumber = Field(default=120, ge=10, le=86_400)
    min_calls_in_window: WholeNumber = Field(default=5, ge=1, le=1000)


class Destinations(Schema):
    """Which numbers may be called. ``countries`` null: every country."""

    countries: list[Annotated[str, StringConstraints(max_length=2), AfterValidator(_check_country)]] | None = Field(
        default=None, max_length=300
    )
    allow_premium: bool = False


class Voicemail(Schema):
    """What the agent does when a machine answers; null: the workflow's setting."""

    action: Literal["hang_up", "leave_message"]
    message: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)] | None = None

    @model_validator(mode="after")
    def _has_message(self) -> Self:
        if self.action == "leave_message" and self.message is None:
            raise ValueError("message is required when action is leave_message")
        return self


class _CampaignRules(Schema):
    calling_hours: CallingHours | None = Field(
        default=None, description="When contacts may be called; null: at any time"
    )
    retry_config: RetryConfig | None = None
    circuit_breaker: CircuitBreaker | None = None
    destinations: Destinations | None = None
    voicemail: Voicemail | None = None
    spend_cap_cents: WholeNumber | None = Field(
        default=None, ge=1, le=MAX_INT, description="The campaign pauses when it has cost this much; null: no limit"
    )
    starts_at: AwareDatetime | None = Field(
        default=None, description="When the draft starts automatically, at most 60 days ahead; null: only on request"
    )

    @model_validator(mode="before")
    @classmethod
    def _accept_schedule_config(cls, given: Any) -> Any:
        """Accepts ``schedule_config {enabled, timezone, slots}`` as another name of ``calling_hours``."""
        if not isinstance(given, dict) or "schedule_config" not in given or "calling_hours" in given:
            return given
        schedule = given["schedule_config"]
        is_off = isinstance(schedule, dict) and schedule.get("enabled") is False
        return {**given, "calling_hours": None if is_off else schedule}


class CreateCampaignRequest(_CampaignRules):
    """A new campaign. ``source_type: "csv"`` with ``source_id`` is accepted instead of ``contacts_file_key``."""

    name: Name
    workflow_id: RowId
    contacts_file_key: Key
    max_concurrency: WholeNumber = Field(
        ge=1, le=MAX_INT, description="Live calls at once, capped by the organization's limit and phone numbers"
    )
    telephony_configuration_id: RowId | None = None

    @model_validator(mode="before")
    @classmethod
    def _accept_compat_fields(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "contacts_file_key" in given or given.get("source_type") != "csv":
            return given
        return {"max_concurrency": _DEFAULT_CONCURRENCY, **given, "contacts_file_key": given.get("source_id")}


class UpdateCampaignRequest(_CampaignRules):
    """Only the given fields change, also within ``retry_config``."""

    name: Name | None = None
    max_concurrency: WholeNumber | None = Field(default=None, ge=1, le=MAX_INT)
    telephony_configuration_id: RowId | None = Field(default=None, description="null: the default account")


class RedialCampaignRequest(Schema):
    """A redial. ``retry_on_voicemail``, ``retry_on_no_answer`` and ``retry_on_busy`` are accepted instead of the list."""

    name: Name | None = None
    redial_statuses: list[Outcome] = Field(min_length=1, max_length=20)

    @model_validator(mode="before")
    @classmethod
    def _accept_compat_flags(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "redial_statuses" in given:
            return given
        flags = {name: f"retry_on_{name}" for name in ("no_answer", "busy", "voicemail")}
        if not any(flag in given for flag in flags.values()):
            return given
        return {**given, "redial_statuses": [name for name, flag in flags.items() if given.get(flag, True) is True]}


class SourceSync(Schema):
    status: str
    last_synced_at: datetime
    error: str | None = None


class ProgressRecord(Schema):
    """Contacts by state: ``total_contacts = pending + in_progress + completed``. ``failed`` contacts ended without an answer."""

    total_contacts: int
    dialled: int
    answered: int
    completed: int
    failed: int
    pending: int
    in_progress: int
    status: str
    outcomes: dict[str, int] = Field(description="Finished contacts by outcome")
    campaign_id: int
    state: str = Field(description="The status as compatible clients expect it: a draft is `created`")
    total_rows: int
    processed_rows: int
    failed_calls: int
    progress_percentage: float
    source_sync: SourceSync
    rate_limit: float | None = Field(description="Calls per second that the carrier account accepts; null: no limit")
    started_at: datetime | None
    completed_at: datetime | None


class TimelineStep(Schema):
    from_time: datetime
    outcomes: dict[str, int] = Field(description="Contacts that finished within the step, by outcome")
    results: dict[str, int] = Field(description="The same contacts by result, as far as their calls have one")


class TimelineResponse(Schema):
    """When contacts finished, oldest step first. Steps without finished contacts are left out."""

    campaign_id: int
    step_seconds: int
    steps: list[TimelineStep]


class ResultCount(Schema):
    name: str
    contacts: int
    is_success: bool | None = Field(description="As the agent defines it; null: neither success nor failure")


class CampaignResultsResponse(Schema):
    """Contacts by result. A contact has the result of its latest call that had one."""

    campaign_id: int
    is_defined: bool = Field(description="Whether the agent's published version defines results")
    results: list[ResultCount]
    answered_without_result: int


class CampaignResponse(Schema):
    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    workflow_id: int
    workflow_name: str
    status: str
    state: str = Field(description="The status as compatible clients expect it: a draft is `created`")
    contacts_file_key: str | None
    source_type: str
    source_id: str | None
    columns: list[str]
    max_concurrency: int = Field(description="As requested")
    effective_max_concurrency: int = Field(description="As the organization's limit and phone numbers allow")
    telephony_configuration_id: int | None
    calling_hours: CallingHours | None
    retry_config: RetryConfig
    circuit_breaker: CircuitBreaker
    destinations: Destinations
    voicemail: Voicemail | None
    spend_cap_cents: int | None
    progress: ProgressRecord
    parent_campaign_id: int | None
    failure_reason: str | None
    next_open_at: datetime | None = Field(description="When calling hours open next; null while they are open")
    created_at: datetime
    starts_at: datetime | None = Field(
        default=None, description="When the draft starts automatically; null once it has started"
    )
    start_problem: str | None = Field(
        default=None, description="Why the draft did not start at `starts_at`; the start is not retried"
    )
    started_at: datetime | None
    completed_at: datetime | None


class ContactItem(Schema):
    id: int
    row_number: int
    phone_number: str
    variables: dict[str, object]
    state: str = Field(description="`pending`, `calling` or `done`")
    outcome: str | None
    reason: str | None
    attempts: int = Field(validation_alias="dials", description="How many times the contact was dialed")
    due_at: datetime | None
    hold: str | None = Field(description="Why the next call was postponed")
    done_at: datetime | None
    run_id: int | None = Field(description="The latest call")
    result: str | None = Field(description="The result of the latest call")
    is_success: bool | None


class ContactList(Schema):
    contacts: list[ContactItem]
    total_count: int
    page: int
    limit: int
    total_pages: int


class WhyNotNowResponse(Schema):
    model_config = ConfigDict(from_attributes=True)

    can_be_called: bool
    rule: str | None
    explanation: str
    until: datetime | None


class ZoneCount(Schema):
    zone: str
    contacts: int


class VariableCount(Schema):
    variable: str
    contacts: int


class PreflightResponse(Schema):
    """A prediction for the unfinished contacts. ``estimated_end_at`` respects the campaign's own calling hours."""

    campaign_id: int
    total_contacts: int
    contacts_by_zone: list[ZoneCount] = Field(
        description="By the first time zone that a number may be in, or `unknown`"
    )
    closed_now: int
    on_do_not_call_list: int
    invalid_numbers: int
    blocked_destinations: int
    missing_values: list[VariableCount] = Field(
        description="Contacts without a value for a variable that the agent uses"
    )
    callable_contacts: int
    estimated_calls: int = Field(description="With retries")
    estimated_dialling_seconds: float | None = Field(
        description="For all calls, retries included; null while no call can be placed"
    )
    estimated_end_at: datetime | None = Field(
        description="Includes waits between retries; counted from the scheduled start if there is one"
    )
    estimated_cost_cents: int | None = Field(
        description="By the mean cost of the agent's latest outbound calls; null when it has none"
    )
    is_estimate_measured: bool = Field(
        description="Whether the agent has at least 20 outbound calls; otherwise 40 % of calls are assumed to reach no one"
    )


class CampaignTestCallRequest(Schema):
    """A call to your own number, as a contact would get it. ``contact_id``: the contact whose variables it uses; the
    first one by default."""

    phone_number: E164
    contact_id: Annotated[WholeNumber, Field(ge=1, le=2**63 - 1)] | None = None


class CampaignTestCallResponse(Schema):
    """The call is a run of the agent, not of the campaign."""

    run_id: int
    workflow_id: int
    status: str


class SourceDownloadUrl(Schema):
    download_url: str
    url: str = Field(description="Same as `download_url`")
    file_name: str
    expires_in: int
    expires_at: datetime


class CampaignDeletionResponse(Schema):
    """What was deleted, as the audit log has it."""

    model_config = ConfigDict(from_attributes=True)

    campaign_id: int
    contacts: int
    runs: int
    has_contact_file: bool
    deleted_at: datetime
