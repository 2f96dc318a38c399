"""What the engine needs of the world. ``store`` implements it on PostgreSQL, the simulator in memory.

A transaction has PostgreSQL's semantics at READ COMMITTED: reads see what was committed when they ran, a write waits for
whoever has locked the row and then looks again, and what was not committed never happened. The engine never holds a
transaction while it asks the carrier.
"""

from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, Protocol

from offhook.campaigns.rules.breaker import BreakerConfig
from offhook.campaigns.rules.destinations import DestinationPolicy
from offhook.campaigns.rules.hours import CallingSchedule
from offhook.campaigns.rules.retry import RetryPolicy

RESERVED: Final = "reserved"
PLACING: Final = "placing"
PLACED: Final = "placed"
FINAL: Final = "final"


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """A campaign as the engine reads it."""

    id: int
    organization_id: int
    workflow_id: int
    max_concurrency: int
    running_since: datetime | None
    configuration_id: int | None = None
    hours: CallingSchedule | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    breaker: BreakerConfig = field(default_factory=BreakerConfig)
    destinations: DestinationPolicy = field(default_factory=DestinationPolicy)
    voicemail: Mapping[str, Any] | None = None
    spend_cap_cents: int | None = None


@dataclass(frozen=True, slots=True)
class DialRoute:
    """How a campaign's calls leave. ``token`` is the store's own; ``account`` names the token bucket."""

    account: str
    numbers: int | None
    calls_per_second: float | None
    token: Any = None


@dataclass(frozen=True, slots=True)
class NoRoute:
    """Why no call of the campaign can be placed. ``is_fatal``: it will not heal by itself or by the user's hand."""

    code: str
    message: str
    is_fatal: bool


@dataclass(frozen=True, slots=True)
class ClaimedContact:
    """A claimed contact: its row is locked until the transaction ends. ``because``: why it is called again."""

    id: int
    phone_number: str
    variables: Mapping[str, Any]
    dials: int
    retry_reason: str | None


@dataclass(frozen=True, slots=True)
class CommittedDial:
    """An attempt whose ``placing`` is about to be committed. ``call`` is the store's own."""

    attempt_id: int
    contact_id: int
    organization_id: int
    run_id: int
    may_dial_until: datetime
    call: Any = None


@dataclass(frozen=True, slots=True)
class OpenAttempt:
    """An attempt that is not final, locked."""

    id: int
    organization_id: int
    campaign_id: int
    contact_id: int
    run_id: int
    number: int
    state: str
    dials: int
    check_at: datetime
    reserved_at: datetime
    may_dial_until: datetime
    campaign_status: str
    retry: RetryPolicy


@dataclass(frozen=True, slots=True)
class AttemptRunState:
    """What became of an attempt's run; ``status`` None: it is not over. ``is_carried``: a live call carries it now."""

    status: str | None
    outcome: str | None = None
    reason: str | None = None
    is_carried: bool = False


@dataclass(frozen=True, slots=True)
class StaleAttempt:
    """An attempt that has been silent for too long, or whose run ended unheard."""

    attempt_id: int
    organization_id: int
    run_id: int
    campaign_id: int


@dataclass(frozen=True, slots=True)
class RemainingWork:
    """What is left of a campaign: when the first pending contact is due (None: none pends), and open attempts."""

    next_due: datetime | None
    open_attempts: int


class NotPlaced(Exception):
    """The carrier surely did not take the call. ``code`` is stable."""

    def __init__(self, code: str, *, is_retryable: bool) -> None:
        super().__init__(code)
        self.code = code
        self.is_retryable = is_retryable


class FateUnknown(Exception):
    """The carrier may or may not have taken the call."""


@dataclass(frozen=True, slots=True)
class CallLookup:
    """``is_known`` False: the carrier cannot say. ``status`` None: it surely never got the call."""

    is_known: bool
    status: str | None = None
    outcome: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """How an attempt ends and what that means for its contact: done with this outcome, or due again at ``again_at``.

    ``because``: why it is called again. ``was_dialled`` False: the phone surely did not ring, so that it does not count.
    """

    attempt_id: int
    contact_id: int
    outcome: str
    reason: str | None
    again_at: datetime | None = None
    retry_reason: str | None = None
    was_dialled: bool = True


@dataclass(frozen=True, slots=True)
class ContactRefusal:
    """A claimed contact that is not called: done with ``outcome``, or, with ``until``, not due before then."""

    contact_id: int
    reason: str
    outcome: str | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AcceptedCall:
    """A call that the carrier took, under its own id."""

    attempt_id: int
    organization_id: int
    run_id: int
    call_id: str


Target = Literal["paused", "completed", "failed"]


class CampaignTransaction(Protocol):
    """One open transaction."""

    async def lock_slots(self, organization_id: int) -> None:
        """Nobody else adds calls of this organization until the end of the transaction."""
        ...

    async def lock_running_campaigns(self, organization_id: int, only: int | None = None) -> list[CampaignPlan]:
        """Running campaigns (or this one of them), oldest first, locked: a pause waits for us and we for it."""
        ...

    async def list_running_ids(self, organization_id: int) -> list[int]:
        """The same campaigns, neither locked nor understood."""
        ...

    async def slot_capacity(self, organization_id: int) -> tuple[int, int]:
        """``(limit, free)`` call slots of the organization, every kind of call counted."""
        ...

    async def credit_refusal(self, organization_id: int) -> str | None:
        """Why the organization may not place calls now."""
        ...

    async def remaining_work(self, plan: CampaignPlan) -> RemainingWork: ...

    async def find_route(self, plan: CampaignPlan) -> DialRoute | NoRoute: ...

    async def count_account_calls(self, organization_id: int, route: DialRoute) -> int:
        """Calls that the route's carrier account has now, of this campaign or not."""
        ...

    async def recent_outcomes(self, campaign_id: int, since: datetime, limit: int) -> list[str]:
        """Outcomes of the attempts that ended since then, newest first."""
        ...

    async def spent_cents(self, plan: CampaignPlan) -> int: ...

    async def claim_contacts(
        self, campaign_id: int, now: datetime, limit: int, but: Sequence[int]
    ) -> list[ClaimedContact]:
        """Due contacts in order of being due, locked; those that somebody else has locked are skipped, and so are the
        ids ``but``."""
        ...

    async def filter_do_not_call(self, organization_id: int, numbers: Sequence[str]) -> set[str]: ...

    async def take_tokens(
        self, organization_id: int, account: str, wanted: int, per_second: float, now: datetime
    ) -> tuple[int, datetime | None]:
        """``(taken, when the next is there)`` of the account's bucket, which all workers share."""
        ...

    async def create_attempts(
        self,
        plan: CampaignPlan,
        contacts: Sequence[ClaimedContact],
        *,
        now: datetime,
        may_dial_until: datetime,
        check_at: datetime,
    ) -> list[int]:
        """Attempts in state ``reserved``, in the order of ``contacts``, which become ``calling``."""
        ...

    async def start_placing(
        self,
        plan: CampaignPlan,
        route: DialRoute,
        contacts: Sequence[ClaimedContact],
        attempt_ids: Sequence[int],
        until: datetime,
    ) -> list[CommittedDial]:
        """Make the runs and move the attempts from ``reserved`` to ``placing`` by compare-and-swap."""
        ...

    async def refuse_contacts(self, refused: Sequence[ContactRefusal], now: datetime) -> None:
        """Give claimed contacts that are not called their final state, or put them off."""
        ...

    async def set_status(self, campaign_id: int, target: Target, reason: str | None, now: datetime) -> bool:
        """Leave ``running`` by compare-and-swap; whoever is above hears of it after the commit. The pending contacts of a
        failed campaign end as canceled."""
        ...

    async def lock_open_attempts(self, runs: Sequence[tuple[int, int]]) -> list[OpenAttempt]:
        """The attempts of these (organization, run) that are not final, locked in the order of their ids."""
        ...

    async def load_run_states(self, runs: Sequence[tuple[int, int]]) -> dict[int, AttemptRunState]:
        """By run; those that were deleted are left out."""
        ...

    async def mark_placed(self, taken: Sequence[AcceptedCall], now: datetime) -> None:
        """Of each: from placing to placed by compare-and-swap, and the carrier's id into the run, whatever it is by now."""
        ...

    async def end_run(self, organization_id: int, run_id: int, status: str, reason: str, now: datetime) -> None:
        """Move the run to a final state unless it has one."""
        ...

    async def finalize_attempts(self, settled: Sequence[AttemptResult], now: datetime) -> None:
        """Attempts to final, each by compare-and-swap from any other state, and with each that this moved its contact
        from calling to what is said. No attempt is named twice."""
        ...

    async def postpone_check(self, attempt_id: int, check_at: datetime) -> None: ...

    async def count_placing_dials(self, organization_id: int, campaign_id: int) -> int:
        """Attempts of the campaign that are ``placing``."""
        ...

    async def has_running_campaign(self, organization_id: int) -> bool: ...

    async def begin_pass(self, organization_id: int) -> int:
        """How many dialling jobs of the organization have begun since one came to its end, with this one."""
        ...

    async def end_pass(self, organization_id: int) -> None: ...

    async def schedule_dialing(self, organization_id: int, at: datetime | None) -> None:
        """A dialling job for the organization exists once this commits; now, or not before ``at``."""
        ...

    async def cancel_pending_of_failed(self, now: datetime) -> None:
        """Contacts that became pending while their campaign failed end as canceled."""
        ...

    async def list_running_organizations(self) -> list[int]: ...

    async def find_stale_attempts(self, now: datetime, limit: int) -> list[StaleAttempt]:
        """Open attempts of any organization whose ``check_at`` has passed, and those whose run is over, unlocked."""
        ...


class CampaignStore(Protocol):
    def transaction(self) -> AbstractAsyncContextManager[CampaignTransaction]: ...

    async def mark_placed(self, taken: AcceptedCall, now: datetime) -> None:
        """``CampaignTransaction.placed`` in a transaction that calls which are answered at the same time may share."""
        ...


class CampaignCarrier(Protocol):
    """The telephone side, with no transaction open."""

    async def place_call(self, placing: CommittedDial) -> str:
        """Ring the phone; the carrier's id of the call. NotPlaced or FateUnknown."""
        ...

    async def find_call(self, organization_id: int, run_id: int) -> CallLookup: ...

    async def hang_up(self, organization_id: int, run_id: int) -> bool:
        """Whatever rings or talks there stops; whether that is sure."""
        ...

    async def report_status(self, organization_id: int, run_id: int, found: CallLookup) -> None:
        """Report what the carrier said when it was asked, as if it had called back."""
        ...

    async def publish_call_ended(self, organization_id: int, run_id: int, status: str) -> None:
        """Tell everybody that this run, which the engine ended, is over."""
        ...


class EngineTime(Protocol):
    def now(self) -> datetime:
        """The wall clock, UTC; it may jump."""
        ...

    def monotonic(self) -> float:
        """Seconds that only go forward."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    async def gather(self, work: Sequence[Coroutine[Any, Any, None]]) -> None:
        """Run these side by side; return when all have ended."""
        ...
