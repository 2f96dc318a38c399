"""The differences between vendors that speak the events of OpenAI's Realtime API."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from offhook.kit.json_values import JsonObject
from offhook.models.ports import ModelError, SpeechCapabilities, ToolSpec
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import WireFormat

# A response that was canceled is over within a few hundred milliseconds.
IDLE_TIMEOUT_S: Final = 1.5


class EventDialect(ABC):
    """One vendor's settings, errors and gaps.

    ``may_omit_metadata``: it may not return the metadata that names a response. ``may_omit_event_ids``: an error may not
    say which event it is about. ``may_drop_responses``: a canceled response may end without a word; after
    ``idle_timeout_s`` it is over. ``may_omit_items``: calls may only be in ``response.done``. ``is_metered``: it charges
    for time and messages, which are counted here, and not for tokens.
    """

    base_url: ClassVar[str]
    capabilities: ClassVar[SpeechCapabilities]
    assistant_content: ClassVar[str] = "output_text"
    # other names of events, by which the vendor may call them
    aliases: ClassVar[Mapping[str, str]] = {}
    may_omit_metadata: ClassVar[bool] = False
    may_omit_event_ids: ClassVar[bool] = False
    may_drop_responses: ClassVar[bool] = False
    may_omit_items: ClassVar[bool] = False
    is_metered: ClassVar[bool] = False
    idle_timeout_s: ClassVar[float] = IDLE_TIMEOUT_S

    @abstractmethod
    def make_errors(self, api_key: str) -> VendorErrors: ...

    @abstractmethod
    def line_format(self, sample_rate: int) -> WireFormat:
        """Returns the format of both directions for a line of this rate."""

    @abstractmethod
    def opening_session(self, wire: WireFormat, voice: str) -> JsonObject:
        """Returns the settings of a whole session: the client decides when a turn is over, the vendor never does."""

    @abstractmethod
    def step_session(self, instructions: str, tools: Sequence[ToolSpec]) -> JsonObject:
        """Returns the settings of one step."""

    @abstractmethod
    def name_error(self, error: Mapping[str, Any]) -> str:
        """Returns a key of ``RETRYABLE`` for an ``error`` event, or for the error of a failed response."""

    @abstractmethod
    def is_fatal(self, error: Mapping[str, Any]) -> bool:
        """Returns whether an error ends the session, whatever it was an answer to."""

    @abstractmethod
    def is_harmless(self, error: Mapping[str, Any]) -> bool:
        """Returns whether an error answers a race that both sides have settled by then."""

    @abstractmethod
    def is_busy(self, error: Mapping[str, Any]) -> bool:
        """Returns whether a response was refused because another one is active."""

    @abstractmethod
    def explain_response(self, errors: VendorErrors, response: Mapping[str, Any]) -> ModelError | None:
        """Returns why a finished response is none; None for one that is complete or was canceled by us."""

    def other_model(self, asked: str, session: Mapping[str, Any]) -> str:
        """Returns the model that a session has begun with instead of the one that was asked for, or nothing."""
        return ""

    def convert_error(self, errors: VendorErrors, error: Mapping[str, Any]) -> ModelError:
        message = error.get("message") or error.get("code") or "no reason given"
        return errors.make_error(self.name_error(error), message)


def audio_form(wire: WireFormat) -> JsonObject:
    """Returns a format as both sides name it."""
    return {"type": "audio/pcmu"} if wire.encoding == "mulaw" else {"type": "audio/pcm", "rate": wire.sample_rate}


def describe_tool(tool: ToolSpec) -> JsonObject:
    return {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters}


def section_of(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Returns a part of a message; an empty one when it is missing or no object."""
    part = values.get(name)
    return part if isinstance(part, Mapping) else {}
