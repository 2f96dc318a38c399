"""What a vendor is to the rest of Offhook: what it offers, and how a configured choice becomes a port."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Generic, Literal, TypeVar

from offhook.kit.egress import EgressClient
from offhook.models.ports import Llm, Stt, Tts
from offhook.settings import Settings

Kind = Literal["llm", "tts", "stt"]
KINDS: Final[tuple[Kind, ...]] = ("llm", "tts", "stt")
Port_co = TypeVar("Port_co", Llm, Tts, Stt, covariant=True)


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model as the vendor names it. ``context_tokens`` is what an LLM takes in all; 0 when it has no such limit."""

    id: str
    context_tokens: int = 0


@dataclass(frozen=True, slots=True)
class VoiceInfo:
    """One voice; ``languages`` are locale tags or their first parts, none meaning any."""

    id: str
    title: str
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One service as it was configured, complete and checked: what a vendor builds its port of.

    Equal choices share one port. ``base_url`` None is the vendor's own address; ``is_own_network`` says that the
    operator set the address, so that it may be a private one. ``language`` is a locale tag such as ``en-US``.
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

    @property
    def is_guarded(self) -> bool:
        """Returns whether the address is an organization's, to be connected to through the egress guard only."""
        return self.base_url is not None and not self.is_own_network


async def _do_nothing() -> None:
    """Most vendors hold nothing that must be started or ended."""


@dataclass(frozen=True, slots=True)
class ModelVendor(Generic[Port_co]):
    """One vendor of one kind. The first of ``models`` and ``voices`` is the default.

    ``build`` does no I/O and imports no SDK; it is called once for equal choices. ``check`` asks the vendor whether
    the choice's key works, without cost where that is possible; it returns, or raises ModelError. ``accepts_voice``
    says which voices there are besides the listed ones (cloned ones, for example). ``speeds`` None: speed cannot be
    set. ``takes_any_model``: at another ``base_url`` the model's name is not ours to know.
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
    warm: Callable[[], Awaitable[None]] = _do_nothing
    close: Callable[[], Awaitable[None]] = _do_nothing


AnyVendor = ModelVendor[Llm] | ModelVendor[Tts] | ModelVendor[Stt]


@dataclass(frozen=True, slots=True)
class VendorContext:
    """What a process gives to its vendors. A vendor's folder has ``vendors(parts)`` that returns what it offers.

    ``egress`` is the way to addresses that organizations type in (``choice.is_guarded``): ``egress.vendor_client(…)``
    for an SDK, ``egress.check_url(…)`` before a socket is opened.
    """

    settings: Settings
    egress: EgressClient
