"""A recognition vendor's wire format: its address, its messages, and the size of its audio pieces."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from offhook.models.ports import ModelError, ModelRef, SttEvent
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import WireFormat, line_format
from offhook.models.speech.vendor_socket import VendorAddress
from offhook.models.vendors import ModelChoice


@dataclass(frozen=True, slots=True)
class SttReady:
    """The vendor is ready for audio."""


@dataclass(frozen=True, slots=True)
class SttTranscript:
    """A transcript. ``end_s``: where a final ends on the connection's clock; None: with everything that was sent."""

    event: SttEvent
    end_s: float | None = None


@dataclass(frozen=True, slots=True)
class SttFailed:
    error: ModelError


SttMessage = SttReady | SttTranscript | SttFailed


class SttSession(ABC):
    """One connection's side of a vendor's protocol. ``parse_message`` may raise KeyError, TypeError or ValueError."""

    waits_for_ready: ClassVar[bool] = False

    def __init__(self, errors: VendorErrors) -> None:
        self.errors = errors

    def opening_messages(self) -> Sequence[str]:
        return ()

    def encode_audio(self, payload: bytes) -> str | bytes:
        return payload

    @abstractmethod
    def parse_message(self, message: Mapping[str, Any]) -> Sequence[SttMessage]: ...

    def key_term_messages(self, terms: Sequence[str]) -> Sequence[str] | None:
        """Returns messages with the next key terms; None where the vendor takes them only with a new connection."""
        return None

    def closing_messages(self) -> Sequence[str]:
        return ()


class SttWire(ABC):
    """One vendor's format. ``chunk_s``: seconds of audio per message; ``quiet_chunk_s``: the same while nothing is said, if longer.

    ``replay_speed``: the fastest audio that the vendor accepts, as a multiple of real time; None: any speed.
    ``judges_turns``: its endpoint is a judgment by words or sound, and no pause of a fixed length.
    ``idle_message`` keeps a connection open while no audio comes (every 4 s), or ``idles_with_silence``. ``close_codes``: meanings of the
    vendor's own close codes.
    """

    vendor: ClassVar[str]
    chunk_s: ClassVar[float]
    quiet_chunk_s: ClassVar[float] = 0.0
    replay_speed: ClassVar[float | None] = None
    idle_message: ClassVar[str | None] = None
    idles_with_silence: ClassVar[bool] = False
    judges_turns: bool = False
    close_codes: ClassVar[Mapping[int, str]] = {}

    def __init__(self, choice: ModelChoice) -> None:
        self.choice = choice
        self.model_ref = ModelRef("stt", self.vendor, choice.model)
        self.errors = VendorErrors("stt", choice.api_key, close_codes=self.close_codes)
        # whether it waits for more words although the caller is silent
        self.may_wait = False

    def format_for(self, sample_rate: int) -> WireFormat:
        return line_format(sample_rate)

    @abstractmethod
    def connection_address(self, audio: WireFormat, language: str, terms: Sequence[str]) -> VendorAddress: ...

    @abstractmethod
    def create_session(self, audio: WireFormat, language: str, terms: Sequence[str]) -> SttSession: ...
