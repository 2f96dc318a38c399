"""Interfaces for placing, finding, ending and transferring calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from offhook.runs.finishing.carrier_charges import CarrierCallBill


@dataclass(frozen=True, slots=True)
class CarrierAccount:
    """An account at a carrier. ``config`` is its stored configuration, secrets decrypted. ``id`` is None for the
    built-in sandbox.

    ``caller_number`` is the number that calls come from: the chosen one, else the account's default; None where any of
    ``numbers``, the active telephone numbers of the account, can be used. ``is_managed``: the platform's own account or
    a sub-account of it, whose events are signed with exactly its own keys.
    """

    organization_id: int
    provider: str
    id: int | None = None
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)
    caller_number: str | None = None
    numbers: tuple[str, ...] = ()
    is_managed: bool = False

    @property
    def any_number(self) -> str | None:
        return self.caller_number or next(iter(self.numbers), None)


class CarrierFailed(Exception):
    """A carrier refused a request or could not be reached. ``code`` is stable; ``retryable`` means that another request
    can succeed, after ``retry_after_s`` if the carrier named a time.

    Codes of real carriers: ``invalid_number``, ``invalid_caller_id``, ``destination_not_allowed``, ``unauthorized``,
    ``insufficient_funds``, ``rate_limited``, ``not_found``, ``carrier_misconfigured``, ``carrier_refused``,
    ``carrier_failed`` (its own fault), ``carrier_unreachable``; for transfers also ``busy`` and ``no_answer``.

    ``is_fate_unknown``: the request may have arrived (its response was lost, or it timed out after it was sent), so the
    phone may ring. Code that must not dial twice then asks :class:`CallFinder` or waits for the carrier's callback.
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
    """Our public URLs that a carrier gets for one call or one transfer.

    ``callbacks`` is ``https://…/api/v1/telephony/<provider>``. ``secret`` is unguessable and belongs to the run: it
    stands in every URL of the run, because a signature says which account sends it and not which call. At ``resume_url``
    a carrier asks what to do with a call whose media has ended.
    """

    run_id: int
    answer_url: str
    media_url: str
    media_token: str
    callbacks: str
    secret: str
    resume_url: str = ""

    def callback_url(self, kind: str) -> str:
        """Returns the URL of the run's ``kind`` of callback, such as ``status-callback`` or ``events``."""
        return f"{self.callbacks}/{kind}/{self.run_id}?token={self.secret}"


@dataclass(frozen=True, slots=True)
class DialRequest:
    """A call to place. Numbers are E.164; ``media_token`` opens the run's media path once; times are in seconds.

    ``links`` is set for every carrier outside this process.
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
        """Places the call and returns the carrier's id for it. Raises CarrierFailed when it was not placed."""
        ...

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        """Ends a call in any state; a call that is already over is no error."""
        ...


class MediaReconnector(Protocol):
    """A carrier that reports the end of a stream (:class:`StreamEnded`) and connects the media of a live call again by
    request."""

    async def has_caller(self, account: CarrierAccount, call_id: str) -> bool:
        """Returns whether the call is still connected. Raises CarrierFailed."""
        ...

    async def reconnect_media(self, account: CarrierAccount, call_id: str, links: CallLinks, attempt: int) -> None:
        """Connects the call to ``links.media_url``; the same ``attempt`` again changes nothing. Raises
        CarrierFailed."""
        ...


class LocalPhones(Protocol):
    """Phones that ring in this process, which renews the lease of a run while its phone rings."""

    def rings(self, account: CarrierAccount) -> bool:
        """Returns True if calls of this account ring, False if they are over at once."""
        ...


@dataclass(frozen=True, slots=True)
class StatusUpdate:
    """A carrier's report on a call in the platform's terms: ``status`` is one of ``runs.states``. ``bill``: the
    connected time by the carrier's clock and its price, as far as the report includes them."""

    status: str
    call_id: str | None = None
    outcome: str | None = None
    end_reason: str | None = None
    bill: CarrierCallBill | None = None


@dataclass(frozen=True, slots=True)
class CallBilled:
    """A carrier's report of a call's price alone."""

    bill: CarrierCallBill
    call_id: str | None = None


class BillReader(Protocol):
    """A carrier that rates a call after its end and reports the price on request."""

    async def read_bill(self, account: CarrierAccount, call_id: str) -> CarrierCallBill:
        """Returns the bill as known so far; one without a ``cost`` can be requested again later. Raises
        CarrierFailed."""
        ...


@dataclass(frozen=True, slots=True)
class LostCallQuery:
    """A search for the call of a run whose dial got no response. Numbers are E.164; ``dialed_at`` is the time of
    the dial by our clock, or a little earlier."""

    run_id: int
    to_number: str
    from_number: str
    dialed_at: datetime


class CallFinder(Protocol):
    """A carrier that can find a call whose response was lost."""

    async def find_calls(self, account: CarrierAccount, sought: LostCallQuery) -> list[StatusUpdate]:
        """Returns the calls that may match in their current state, each with its ``call_id``. Where the carrier does
        not know our run, these are all calls between the two numbers since ``dialed_at``, finished ones included.
        An empty list proves that there was no call; raises CarrierFailed when the carrier cannot prove that."""
        ...


class CallTransferrer(Protocol):
    """Transfers a caller to another telephone: rings it while the caller waits with us, then connects the two."""

    async def ring_destination(self, account: CarrierAccount, call_id: str, to_number: str, timeout_s: float) -> str:
        """Calls ``to_number`` (E.164) for the caller of ``call_id`` and returns the carrier's id for that call once it
        is answered.

        Raises CarrierFailed with the code ``busy``, ``no_answer`` or another one. Canceling it ends the ringing.
        """
        ...

    async def connect_caller(self, account: CarrierAccount, call_id: str, destination_id: str) -> None:
        """Connects the caller to the answered call; our media of ``call_id`` ends. Raises CarrierFailed."""
        ...

    async def release_destination(self, account: CarrierAccount, destination_id: str) -> None:
        """Ends the answered call because the caller is gone; one that is already over is no error."""
        ...


@dataclass(frozen=True, slots=True)
class TransferOrder:
    """The second leg of a warm transfer. ``transfer_id`` is our own id and names the room; ``result_url`` receives
    its events."""

    transfer_id: str
    call_id: str
    to_number: str
    from_number: str
    timeout_s: float
    result_url: str
    answer_url: str


@dataclass(frozen=True, slots=True)
class TransferLeg:
    """The current state of a transfer. ``conference_id`` is the result of :meth:`TransferLegs.seat_destination`,
    ``answer_url`` that of the order, for carriers that send callers to a document."""

    transfer_id: str
    call_id: str
    destination_id: str
    conference_id: str | None = None
    answer_url: str = ""


@dataclass(frozen=True, slots=True)
class CarrierWebhook:
    """A carrier's request as it arrived: the public URL, lowercase header names, the raw body.

    ``has_secret``: its URL carries ``?token=`` with :attr:`CallLinks.secret` of the run that it names. The platform has
    already compared it; a request with a wrong one never gets this far.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    has_secret: bool = False


@dataclass(frozen=True, slots=True)
class TransferUpdate:
    """An event of a transfer. ``kind`` is answered, failed (``reason`` is busy, no_answer or call_failed) or ended
    (after the answer, or before it if the call was never answered: the platform knows which)."""

    kind: str
    destination_id: str | None = None
    reason: str | None = None


class TransferLegs(Protocol):
    """Warm transfers through a carrier that reports the answer in a callback, possibly to another process."""

    async def start_leg(self, account: CarrierAccount, order: TransferOrder) -> str:
        """Rings the destination and returns the carrier's id of that leg. Raises CarrierFailed."""
        ...

    async def seat_destination(self, account: CarrierAccount, leg: TransferLeg) -> str | None:
        """Moves the answered destination to where the caller will join it. Returns the conference's id, if there is
        one. Does nothing where the destination's document or call is in the room from the start."""
        return None

    async def join_caller(self, account: CarrierAccount, leg: TransferLeg) -> None:
        """Connects the caller to the seated destination; our media of the caller's call ends. Raises CarrierFailed."""
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
        """Redirects the caller to ``to_number`` and leaves the call; ``forward_url`` serves the same call's
        ``CallAnswerer.forward_document``. Raises CarrierFailed."""
        ...
