"""The ports of the engine. ``store`` implements them on PostgreSQL, the simulator in memory.

A transaction has PostgreSQL's semantics at READ COMMITTED: a read sees the commits before it, a write waits for the
row's lock and then reads it again, and uncommitted changes never happened. The engine never holds a transaction while
it asks the carrier.
"""

from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, Protocol

from offhook.campaigns.rules.breaker import BreakerConfig
from offhook.campaigns.rules.destinations import DestinationPolicy
from offhook.campaigns.rules.hours import CallingSchedule, CallingWindow
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
    """The route of a campaign's calls. ``token`` is the store's own; ``account`` names the token bucket."""

    account: str
    numbers: int | None
    calls_per_second: float | None
    token: Any = None


@dataclass(frozen=True, slots=True)
class NoRoute:
    """The reason why no call of the campaign can be placed. ``is_fatal``: neither time nor the user can fix it."""

    code: str
    message: str
    is_fatal: bool


@dataclass(frozen=True, slots=True)
class ContactCheck:
    """The check that allowed a call: when it was made, the number's zones, and the calling window."""

    at: datetime
    zones: tuple[str, ...]
    window: CallingWindow


@dataclass(frozen=True, slots=True)
class ClaimedContact:
    """A claimed contact: its row is locked until the transaction ends. ``retry_reason``: why it is called again.
    ``checked``: what allowed the call, once it is chosen."""

    id: int
    phone_number: str
    variables: Mapping[str, Any]
    dials: int
    retry_reason: str | None
    checked: ContactCheck | None = None


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
    """The state of an attempt's run; ``status`` None: not over. ``is_carried``: a live call carries it now."""

    status: str | None
    outcome: str | None = None
    reason: str | None = None
    is_carried: bool = False


@dataclass(frozen=True, slots=True)
class StaleAttempt:
    """An attempt that has been silent too long, or whose run ended unnoticed."""

    attempt_id: int
    organization_id: int
    run_id: int
    campaign_id: int


@dataclass(frozen=True, slots=True)
class RemainingWork:
    """The rest of a campaign: when the first pending contact is due (None: none is pending), and open attempts."""

    next_due: datetime | None
    open_attempts: int


class NotPlaced(Exception):
    """The carrier did not take the call. ``code`` is stable."""

    def __init__(self, code: str, *, is_retryable: bool) -> None:
        super().__init__(code)
        self.code = code
        self.is_retryable = is_retryable


class FateUnknown(Exception):
    """The carrier may or may not have taken the call."""


@dataclass(frozen=True, slots=True)
class CallLookup:
    """A lookup's result. ``is_known`` False: the carrier cannot say. ``status`` None: it never got the call."""

    is_known: bool
    status: str | None = None
    outcome: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The end of an attempt and its contact's next state: done with this outcome, or due again at ``again_at``.

    ``retry_reason``: why it is called again. ``was_dialed`` False: the phone did not ring; the dial does not count.
    """

    attempt_id: int
    contact_id: int
    outcome: str
    reason: str | None
    again_at: datetime | None = None
    retry_reason: str | None = None
    was_dialed: bool = True


@dataclass(frozen=True, slots=True)
class ContactRefusal:
    """A claimed contact that is not called: done with ``outcome``, or, with ``until``, not due before then."""

    contact_id: int
    reason: str
    outcome: str | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AcceptedCall:
    """A call that the carrier accepted, under its own id."""

    attempt_id: int
    organization_id: int
    run_id: int
    call_id: str


Target = Literal["paused", "completed", "failed"]


class CampaignTransaction(Protocol):
    """One open transaction."""

    async def lock_slots(self, organization_id: int) -> None:
        """Locks the organization's call slots until the end of the transaction, so that no other transaction adds calls."""
        ...

    async def lock_running_campaigns(self, organization_id: int, only: int | None = None) -> list[CampaignPlan]:
        """Returns running campaigns (or only one), oldest first, locked: a pause and this transaction wait for each other."""
        ...

    async def list_running_ids(self, organization_id: int) -> list[int]:
        """Returns the ids of the same campaigns, without lock."""
        ...

    async def slot_capacity(self, organization_id: int) -> tuple[int, int]:
        """Returns ``(limit, free)`` call slots of the organization, counting every kind of call. ``free`` is no more than
        the processes have room for."""
        ...

    async def affordable_calls(self, organization_id: int, wanted: int) -> int:
        """Returns how many of ``wanted`` calls the organization can pay now."""
        ...

    async def remaining_work(self, plan: CampaignPlan) -> RemainingWork: ...

    async def find_route(self, plan: CampaignPlan) -> DialRoute | NoRoute: ...

    async def count_account_calls(self, organization_id: int, route: DialRoute) -> int:
        """Counts the current calls of the route's carrier account, of any campaign."""
        ...

    async def recent_outcomes(self, campaign_id: int, since: datetime, limit: int) -> list[str]:
        """Returns the outcomes of the attempts that ended since then, newest first."""
        ...

    async def spent_cents(self, plan: CampaignPlan) -> int: ...

    async def claim_contacts(
        self, campaign_id: int, now: datetime, limit: int, excluded_ids: Sequence[int]
    ) -> list[ClaimedContact]:
        """Returns due contacts, the longest due first, locked. Skips ``excluded_ids`` and contacts locked elsewhere."""
        ...

    async def filter_do_not_call(self, organization_id: int, numbers: Sequence[str]) -> set[str]: ...

    async def filter_blocked(self, organization_id: int, route: DialRoute, numbers: Sequence[str]) -> set[str]:
        """Returns the numbers to which the organization's call policy allows no calls on this route."""
        ...

    async def take_tokens(
        self, organization_id: int, account: str, wanted: int, per_second: float, now: datetime
    ) -> tuple[int, datetime | None]:
        """Takes tokens of the account's bucket, which all workers share; returns the count and the time of the next
        token.
        """
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
        """Creates attempts in state ``reserved``, in the order of ``contacts``, which become ``calling``."""
        ...

    async def start_placing(
        self,
        plan: CampaignPlan,
        route: DialRoute,
        contacts: Sequence[ClaimedContact],
        attempt_ids: Sequence[int],
        until: datetime,
    ) -> list[CommittedDial]:
        """Creates the runs and moves the attempts from ``reserved`` to ``placing`` by compare-and-swap."""
        ...

    async def refuse_contacts(self, refused: Sequence[ContactRefusal], now: datetime) -> None:
        """Finishes or postpones claimed contacts that are not called."""
        ...

    async def set_status(self, campaign_id: int, target: Target, reason: str | None, now: datetime) -> bool:
        """Leaves ``running`` by compare-and-swap and publishes the change after the commit. The pending contacts of a
        failed campaign end as canceled."""
        ...

    async def lock_open_attempts(self, runs: Sequence[tuple[int, int]]) -> list[OpenAttempt]:
        """Returns the open attempts of these (organization, run), locked in the order of their ids."""
        ...

    async def load_run_states(self, runs: Sequence[tuple[int, int]]) -> dict[int, AttemptRunState]:
        """Returns the states by run; deleted runs are left out."""
        ...

    async def mark_placed(self, taken: Sequence[AcceptedCall], now: datetime) -> None:
        """Moves each from placing to placed by compare-and-swap, and stores the carrier's id in its run in any state."""
        ...

    async def end_run(self, organization_id: int, run_id: int, status: str, reason: str, now: datetime) -> None:
        """Moves the run to a final state unless it has one."""
        ...

    async def finalize_attempts(self, settled: Sequence[AttemptResult], now: datetime) -> None:
        """Moves attempts from any other state to final by compare-and-swap, and the contact of each changed attempt
        from calling to its new state. Each attempt appears once.
        """
        ...

    async def postpone_check(self, attempt_id: int, check_at: datetime) -> None: ...

    async def count_placing_dials(self, organization_id: int, campaign_id: int) -> int:
        """Counts attempts of the campaign that are ``placing``."""
        ...

    async def has_running_campaign(self, organization_id: int) -> bool: ...

    async def begin_pass(self, organization_id: int) -> int:
        """Returns how many dialing jobs of the organization have begun since the last one ended, including this one."""
        ...

    async def end_pass(self, organization_id: int) -> None: ...

    async def schedule_dialing(self, organization_id: int, at: datetime | None) -> None:
        """Enqueues a dialing job for the organization with this transaction, for now or not before ``at``."""
        ...

    async def cancel_pending_of_failed(self, now: datetime) -> None:
        """Cancels contacts that became pending while their campaign failed."""
        ...

    async def list_running_organizations(self) -> list[int]: ...

    async def find_stale_attempts(self, now: datetime, limit: int) -> list[StaleAttempt]:
        """Returns open attempts of all organizations whose ``check_at`` has passed or whose run is over, unlocked."""
        ...


class CampaignStore(Protocol):
    def transaction(self) -> AbstractAsyncContextManager[CampaignTransaction]: ...

    async def mark_placed(self, taken: AcceptedCall, now: datetime) -> None:
        """Marks a call as placed, in a transaction that concurrently accepted calls may share."""
        ...


class CampaignCarrier(Protocol):
    """The telephone side, with no transaction open."""

    async def place_call(self, placing: CommittedDial) -> str:
        """Places the call and returns the carrier's id of it. Raises NotPlaced or FateUnknown."""
        ...

    async def find_call(self, organization_id: int, run_id: int) -> CallLookup: ...

    async def hang_up(self, organization_id: int, run_id: int) -> bool:
        """Ends the call in any state, and returns whether that is certain."""
        ...

    async def report_status(self, organization_id: int, run_id: int, found: CallLookup) -> None:
        """Reports the carrier's answer to our question as if it were a callback."""
        ...

    async def publish_call_ended(self, organization_id: int, run_id: int, status: str) -> None:
        """Publishes the end of this run, which the engine ended."""
        ...


class EngineTime(Protocol):
    def now(self) -> datetime:
        """Returns the wall clock in UTC, which may jump."""
        ...

    def monotonic(self) -> float:
        """Returns seconds that only go forward."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    async def gather(self, work: Sequence[Coroutine[Any, Any, None]]) -> None:
        """Runs these concurrently; returns when all have ended."""
        ...
