"""The interface of vendors: their offers, and the way from a configured choice to a port."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Generic, Literal, TypeVar

from offhook.kit.egress import EgressClient
from offhook.models.configuration.turn_settings import DEFAULT_TURNS, TurnSettings
from offhook.models.edge_reading import ReadEdges
from offhook.models.ports import Llm, SpeechToSpeech, Stt, Tts
from offhook.models.sentence_encoder import EmbedSentences
from offhook.settings import Settings

Kind = Literal["llm", "tts", "stt", "realtime"]
# The kinds that every call has; a speech-to-speech model (realtime) is an addition.
KINDS: Final[tuple[Kind, ...]] = ("llm", "tts", "stt")
ALL_KINDS: Final[tuple[Kind, ...]] = (*KINDS, "realtime")
AnyPort = Llm | Tts | Stt | SpeechToSpeech
Port_co = TypeVar("Port_co", Llm, Tts, Stt, SpeechToSpeech, covariant=True)


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model by the vendor's name. ``context_tokens`` is an LLM's total context; 0 when it has no limit.

    ``title`` is what people read instead of the name; ``languages`` are a recognizer's, where its vendor's models differ.
    """

    id: str
    context_tokens: int = 0
    title: str = ""
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VoiceInfo:
    """One voice; ``languages`` are locale tags or their first parts, ``models`` those that have it; none means any."""

    id: str
    title: str
    languages: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One configured service, complete and checked, from which a vendor builds its port.

    Equal choices share one port. ``base_url`` None is the vendor's own address; ``is_own_network`` means that the
    operator set the address, so it may be private. ``language`` is a locale tag such as ``en-US``;
    ``languages`` are those that the call's agent speaks, when there are several: a recognizer that can, hears them all.
    ``turns``: how its vendor's detector of turns is set, where the vendor ``detects_turns``.
    ``access_key_id`` names the key (``api_key`` is its secret) at a vendor whose keys have two parts, and ``region`` is
    where the vendor runs the model; both are empty at others.
    """

    kind: Kind
    provider: str
    model: str
    api_key: str = field(default="", repr=False)
    base_url: str | None = None
    is_own_network: bool = False
    temperature: float = 0.3
    max_tokens: int | None = None
    voice_id: str = ""
    speed: float = 1.0
    language: str = "en-US"
    languages: tuple[str, ...] = ()
    turns: TurnSettings = DEFAULT_TURNS
    access_key_id: str = ""
    region: str = ""

    @property
    def is_guarded(self) -> bool:
        """Returns True for an organization's address, which is reached only through the egress guard."""
        return self.base_url is not None and not self.is_own_network


async def _do_nothing() -> None:
    """Does nothing: most vendors have nothing to start or close."""


@dataclass(frozen=True, slots=True)
class ModelVendor(Generic[Port_co]):
    """One vendor of one kind. The first of ``models`` and ``voices`` is the default.

    ``build`` does no I/O and imports no SDK; equal choices share one call. ``check`` asks the vendor if the choice's
    key works, at no cost where possible; it returns, or raises ModelError. ``accepts_voice`` accepts voices besides the
    listed ones (e.g. cloned ones). ``speeds`` None: speed cannot be set. ``takes_any_model``: at another ``base_url``
    any model name is accepted. ``list_offers`` is for a vendor whose models come and go: it returns the vendor with
    those of now, possibly none; a choice of one that is gone stays valid, and its port says what is missing.
    ``key_provider`` is another provider of the same vendor, whose key works here too. ``needs_access_key_id``: a key is a
    secret and its name; ``detects_turns``: the agent's settings of turns count for its recognizers; ``regions``: those to choose from, its default first.
    """

    kind: Kind
    provider: str
    title: str
    models: tuple[ModelInfo, ...]
    build: Callable[[ModelChoice], Port_co]
    check: Callable[[ModelChoice], Awaitable[None]]
    voices: tuple[VoiceInfo, ...] = ()
    accepts_voice: Callable[[str], bool] | None = None
    languages: tuple[str, ...] = ()
    speeds: tuple[float, float] | None = None
    temperatures: tuple[float, float] = (0.0, 2.0)
    needs_key: bool = True
    takes_base_url: bool = True
    takes_any_model: bool = False
    key_provider: str = ""
    needs_access_key_id: bool = False
    detects_turns: bool = False
    regions: tuple[str, ...] = ()
    list_offers: "Callable[[ModelVendor[Port_co]], ModelVendor[Port_co]] | None" = None
    warm: Callable[[], Awaitable[None]] = _do_nothing
    close: Callable[[], Awaitable[None]] = _do_nothing

    def with_offers(self) -> "ModelVendor[Port_co]":
        """Returns the vendor with what can be chosen now."""
        return self if self.list_offers is None else self.list_offers(self)


AnyVendor = ModelVendor[Llm] | ModelVendor[Tts] | ModelVendor[Stt] | ModelVendor[SpeechToSpeech]


@dataclass(frozen=True, slots=True)
class VendorContext:
    """The context that a process gives to its vendors. A vendor's folder has ``vendors(parts)``, which returns its
    offers.

    ``egress`` guards addresses that organizations enter (``choice.is_guarded``): ``egress.vendor_client(…)`` for an
    SDK, ``egress.check_url(…)`` before opening a socket. ``embed_sentences`` is the offline embedding model,
    ``read_edges`` the one that reads which edge an answer means.
    """

    settings: Settings
    egress: EgressClient
    embed_sentences: EmbedSentences | None = None
    read_edges: ReadEdges | None = None
