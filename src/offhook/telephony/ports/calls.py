"""Placing, finding, ending and handing over calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from offhook.runs.finishing.carrier_charges import CarrierCallBill


@dataclass(frozen=True, slots=True)
class CarrierAccount:
    """Whose account at the carrier: ``config`` is what is stored of it, its secrets opened. ``id`` is None for the
    built-in sandbox.

    ``caller_number`` is the number that calls come from: the one that was chosen, else the account's default; None where
    any of ``numbers``, the active telephone numbers of the account, will do.
    """

    organization_id: int
    provider: str
    id: int | None = None
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)
    caller_number: str | None = None
    numbers: tuple[str, ...] = ()

    @property
    def any_number(self) -> str | None:
        return self.caller_number or next(iter(self.numbers), None)


class CarrierFailed(Exception):
    """A carrier refused or could not be reached. ``code`` is stable; ``retryable`` says that asking again may help,
    and ``retry_after_s`` from when on, if the carrier said so.

    Codes of real carriers: ``invalid_number``, ``invalid_caller_id``, ``destination_not_allowed``, ``unauthorized``,
    ``insufficient_funds``, ``rate_limited``, ``not_found``, ``carrier_misconfigured``, ``carrier_refused``,
    ``carrier_failed`` (its own fault), ``carrier_unreachable``; of transfers also ``busy`` and ``no_answer``.

    ``is_fate_unknown``: the request may have arrived (its answer was lost, or it timed out after it was sent), so the
    phone may ring. Whoever must not ring it twice then asks :class:`CallFinder` or waits for the carrier's callback.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool,
        is_fate_unknown: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.is_fate_unknown = is_fate_unknown
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class CallLinks:
    """Addresses of ours that a carrier is given for one call or one transfer, all as strangers reach them.

    ``callbacks`` is ``https://…/api/v1/telephony/<provider>``. ``secret`` is unguessable and belongs to the run: it goes
    into addresses of carriers whose signature covers too little.
    """

    run_id: int
    answer_url: str
    media_url: str
    media_token: str
    callbacks: str
    secret: str

    def callback_url(self, kind: str, *, with_secret: bool = True) -> str:
        """The address of the run's ``kind`` of callback, such as ``status-callback`` or ``events``."""
        address = f"{self.callbacks}/{kind}/{self.run_id}"
        return f"{address}?token={self.secret}" if with_secret else address


@dataclass(frozen=True, slots=True)
class DialRequest:
    """One call to place. Numbers are E.164; ``media_token`` opens the run's media path once; times in seconds.

    ``links`` is there for every carrier outside this process.
    """

    run_id: int
    to_number: str
    from_number: str
    media_token: str
    ring_timeout_s: float = 45.0
    links: CallLinks | None = None
    has_machine_detection: bool = False


class CallDialer(Protocol):
    async def place_call(self, account: CarrierAccount, request: DialRequest) -> str:
        """Place the call and return the carrier's id of it; raise CarrierFailed when it was not placed."""
        ...

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        """End a call in whatever state; a call that is over already is no error."""
        ...


class LocalPhones(Protocol):
    """Phones that ring in this process, which renews the lease of a run while its phone rings."""

    def rings(self, account: CarrierAccount) -> bool:
        """Returns whether calls of this account ring at all, or are over at once."""
        ...


@dataclass(frozen=True, slots=True)
class StatusUpdate:
    """What a carrier says about a call, in our words: ``status`` is one of ``runs.states``. ``bill``: how long it was
    connected, by the carrier's clock, and what that costs, as far as it was said along with it."""

    status: str
    call_id: str | None = None
    outcome: str | None = None
    end_reason: str | None = None
    bill: CarrierCallBill | None = None


@dataclass(frozen=True, slots=True)
class CallBilled:
    """A carrier's news of nothing but what a call cost."""

    bill: CarrierCallBill
    call_id: str | None = None


class BillReader(Protocol):
    """Carriers that rate a call after its end and tell whoever asks."""

    async def read_bill(self, account: CarrierAccount, call_id: str) -> CarrierCallBill:
        """What is known by now; without a ``cost`` it may be asked again later. Raises CarrierFailed."""
        ...


@dataclass(frozen=True, slots=True)
class LostCallQuery:
    """A call of a run whose dial came to no answer. Numbers are E.164; ``dialled_at``: when it was asked for, by our
    clock, or a little before."""

    run_id: int
    to_number: str
    from_number: str
    dialled_at: datetime


class CallFinder(Protocol):
    """Carriers that can say what became of a call whose answer we have lost."""

    async def find_calls(self, account: CarrierAccount, sought: LostCallQuery) -> list[StatusUpdate]:
        """The calls that may be it as they stand now, each with its ``call_id``: where the carrier does not know our
        run, all that it has from the one number to the other since ``dialled_at``, those that are over too. None of
        them is proof that there was none: CarrierFailed when the carrier cannot say that."""
        ...


class CallTransferrer(Protocol):
    """Hands a caller over to another telephone: rings it while the caller waits with us, then connects the two."""

    async def ring_destination(self, account: CarrierAccount, call_id: str, to_number: str, timeout_s: float) -> str:
        """Call ``to_number`` (E.164) for the caller of ``call_id``; the carrier's id of that call once it was answered.

        Raises CarrierFailed with the code ``busy``, ``no_answer`` or another one. Canceling it ends the ringing.
        """
        ...

    async def connect_caller(self, account: CarrierAccount, call_id: str, destination_id: str) -> None:
        """Put the caller through to the answered call; our media of ``call_id`` ends. Raises CarrierFailed."""
        ...

    async def release_destination(self, account: CarrierAccount, destination_id: str) -> None:
        """End the answered call, because the caller is gone; one that is over already is no error."""
        ...


@dataclass(frozen=True, slots=True)
class TransferOrder:
    """The second leg of a warm transfer. ``transfer_id`` is ours and names the room; ``result_url`` gets its news."""

    transfer_id: str
    call_id: str
    to_number: str
    from_number: str
    timeout_s: float
    result_url: str
    answer_url: str


@dataclass(frozen=True, slots=True)
class TransferLeg:
    """A transfer as it stands. ``conference_id`` is what :meth:`TransferLegs.seat` answered, ``answer_url`` that of the
    order, for carriers whose callers are sent to a document."""

    transfer_id: str
    call_id: str
    destination_id: str
    conference_id: str | None = None
    answer_url: str = ""


@dataclass(frozen=True, slots=True)
class CarrierWebhook:
    """A carrier's request as it came: the public URL, lower-case header names, the raw body.

    ``has_secret``: its address carries ``?token=`` with :attr:`CallLinks.secret` of the run that it names, which the
    platform has compared already (a wrong one never gets this far).
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    has_secret: bool = False


@dataclass(frozen=True, slots=True)
class TransferNews:
    """``kind`` is answered, failed (``reason`` is busy, no_answer or call_failed) or ended (over after the answer, or
    before it when nobody had answered: the platform knows which)."""

    kind: str
    destination_id: str | None = None
    reason: str | None = None


class TransferLegs(Protocol):
    """Warm transfers through a carrier whose answer comes as a callback, maybe to another process."""

    async def start_leg(self, account: CarrierAccount, order: TransferOrder) -> str:
        """Ring the destination; the carrier's id of that leg. Raises CarrierFailed."""
        ...

    def parse_transfer(self, webhook: CarrierWebhook) -> TransferNews | None:
        """News of the destination's leg, whose signature was verified already; None for what changes nothing."""
        ...

    async def seat_destination(self, account: CarrierAccount, leg: TransferLeg) -> str | None:
        """The destination has answered: put it where the caller will join it; the conference's id if it has one."""
        ...

    async def join_caller(self, account: CarrierAccount, leg: TransferLeg) -> None:
        """Bring the caller to the seated destination; our media of the caller's call ends. Raises CarrierFailed."""
        ...


class BlindTransfer(Protocol):
    async def redirect_caller(
        self,
        account: CarrierAccount,
        call_id: str,
        to_number: str,
        from_number: str,
        timeout_s: float,
        forward_url: str = "",
    ) -> None:
        """Send the caller to ``to_number`` and leave the call; ``forward_url`` serves ``CallAnswerer.forward`` of the same.
        Raises CarrierFailed."""
        ...
