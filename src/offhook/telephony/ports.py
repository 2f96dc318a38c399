"""What a telephone carrier can be asked for. A carrier is a :class:`CarrierSpec` of such parts; nothing else knows it.

A missing part is a missing feature. Carrier JSON, XML and audio formats end in ``providers/<name>/``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from offhook.kit.audio import Codec


@dataclass(frozen=True, slots=True)
class CarrierAccount:
    """Whose account at the carrier: ``config`` is what is stored of it. ``id`` is None for the built-in sandbox."""

    organization_id: int
    provider: str
    id: int | None = None
    config: Mapping[str, Any] = field(default_factory=dict)


class CarrierFailed(Exception):
    """A carrier refused or could not be reached. ``code`` is stable; ``retryable`` says that asking again may help.

    ``is_fate_unknown``: the request may have arrived (its answer was lost, or it timed out after it was sent), so the
    phone may ring. Whoever must not ring it twice then asks :class:`CallFinder` or waits for the carrier's callback.
    """

    def __init__(self, code: str, message: str, *, retryable: bool, is_fate_unknown: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.is_fate_unknown = is_fate_unknown


@dataclass(frozen=True, slots=True)
class DialRequest:
    """One call to place. Numbers are E.164; ``media_token`` opens the run's media path once; times in seconds."""

    run_id: int
    to_number: str
    from_number: str
    media_token: str
    ring_timeout_s: float = 45.0


class Dialer(Protocol):
    async def dial(self, account: CarrierAccount, request: DialRequest) -> str:
        """Place the call and return the carrier's id of it; raise CarrierFailed when it was not placed."""
        ...

    async def hang_up(self, account: CarrierAccount, call_id: str) -> None:
        """End a call in whatever state; a call that is over already is no error."""
        ...


class CallFinder(Protocol):
    """Carriers that can say what became of a call whose answer we have lost."""

    async def find(self, account: CarrierAccount, run_id: int) -> "StatusUpdate | None":
        """What the carrier knows of the call of this run; None when it surely never got it. CarrierFailed when it
        cannot say."""
        ...


class Transferrer(Protocol):
    """Hands a caller over to another telephone: rings it while the caller waits with us, then connects the two."""

    async def ring(self, account: CarrierAccount, call_id: str, to_number: str, timeout_s: float) -> str:
        """Call ``to_number`` (E.164) for the caller of ``call_id``; the carrier's id of that call once it was answered.

        Raises CarrierFailed with the code ``busy``, ``no_answer`` or another one. Cancelling it ends the ringing.
        """
        ...

    async def connect(self, account: CarrierAccount, call_id: str, destination_id: str) -> None:
        """Put the caller through to the answered call; our media of ``call_id`` ends. Raises CarrierFailed."""
        ...

    async def release(self, account: CarrierAccount, destination_id: str) -> None:
        """End the answered call, because the caller is gone; one that is over already is no error."""
        ...


@dataclass(frozen=True, slots=True)
class Webhook:
    """A carrier's request as it came: the public URL, lower-case header names, the raw body."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class StatusUpdate:
    """What a carrier says about a call, in our words: ``status`` is one of ``runs.states``."""

    status: str
    call_id: str | None = None
    outcome: str | None = None
    end_reason: str | None = None


class StatusParser(Protocol):
    def verify(self, account: CarrierAccount, webhook: Webhook) -> bool:
        """Whether the carrier signed exactly this; asked before anything is parsed."""
        ...

    def parse_status(self, webhook: Webhook) -> StatusUpdate | None:
        """None for news that changes nothing."""
        ...


@dataclass(frozen=True, slots=True)
class InboundCall:
    call_id: str
    from_number: str | None
    to_number: str
    account_reference: str | None


class Answerer(Protocol):
    def verify(self, account: CarrierAccount, webhook: Webhook) -> bool: ...

    def parse_inbound(self, webhook: Webhook) -> InboundCall: ...

    def answer(self, media_url: str) -> tuple[str, bytes]:
        """Content type and document that connect the call to a media socket."""
        ...


@dataclass(frozen=True, slots=True)
class Started:
    """The carrier has connected the media; audio may flow both ways from here."""

    stream_id: str
    call_id: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Digit:
    digit: str


@dataclass(frozen=True, slots=True)
class MarkReached:
    """Everything sent before this mark was played, or dropped by a clear."""

    name: str


@dataclass(frozen=True, slots=True)
class MachineAnswered:
    """The carrier's answering-machine detection has spoken."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The far end is gone: the caller hung up."""


WireEvent = Started | Digit | MarkReached | MachineAnswered | Stopped


class WireError(Exception):
    """A message that this wire does not have; the text goes to the peer as the reason of the close."""


class MediaWire(Protocol):
    """One media connection's format. Made anew for each connection: it may keep the stream's id.

    Outgoing messages are ``str`` encoded as UTF-8 (a text message) unless ``has_binary_audio`` says that
    :meth:`encode` makes binary ones. Called 50 times a second each way: no copy or parse that can be spared.
    """

    @property
    def codec(self) -> Codec: ...

    @property
    def has_binary_audio(self) -> bool: ...

    def decode(self, message: str | bytes) -> bytes | WireEvent | None:
        """Audio as bytes in ``codec`` of any length, an event, or None for what may be ignored; WireError."""
        ...

    def encode(self, payload: bytes) -> bytes:
        """Wrap audio that is already in ``codec``."""
        ...

    def mark(self, name: str) -> bytes: ...

    def clear(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class CarrierSpec:
    """The parts that one carrier has. ``wire`` makes a MediaWire for one connection."""

    name: str
    dialer: Dialer | None = None
    answerer: Answerer | None = None
    statuses: StatusParser | None = None
    finder: CallFinder | None = None
    wire: Callable[[], MediaWire] | None = None
    transferrer: Transferrer | None = None


class Carriers:
    """The carriers of this process by name."""

    def __init__(self, specs: Sequence[CarrierSpec] = ()) -> None:
        self._specs = {spec.name: spec for spec in specs}

    def add(self, spec: CarrierSpec) -> None:
        self._specs[spec.name] = spec

    def find(self, name: str) -> CarrierSpec | None:
        return self._specs.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._specs)
