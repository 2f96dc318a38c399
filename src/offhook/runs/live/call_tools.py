"""The tools of an organization as the voice loop calls them. Each implements ``voice.ports.Tool``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from offhook.models.ports import ToolSpec
from offhook.tools import ToolBench
from offhook.tools.calculator import calculate
from offhook.tools.definitions import (
    Destination,
    EndCallConfig,
    HttpApiConfig,
    McpConfig,
    MessageType,
    ToolParameter,
    TransferCallConfig,
)
from offhook.tools.errors import CallFailed
from offhook.voice.ports import SILENT, Announcement, CallOver, HandoverFailed, ToolError

TRANSFERRED: Final = "transferred"
# Beyond what the other server is given: our own time to connect to the database and to read the answer.
_SLACK_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class ToolText:
    """What the model is told of a tool. ``name`` is its function name."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class _Quiet:
    """Says nothing, and the caller may interrupt."""

    @property
    def holds_floor(self) -> bool:
        return False

    @property
    def announcement(self) -> Announcement:
        return SILENT

    @property
    def remark(self) -> Announcement:
        return SILENT


@dataclass(frozen=True, slots=True)
class HttpTool(_Quiet):
    organization_id: int
    text: ToolText
    config: HttpApiConfig
    bench: ToolBench
    context: Mapping[str, Any]

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.text.name, self.text.description, _schema(self.config.parameters))

    @property
    def has_side_effects(self) -> bool:
        return self.config.may_change_something

    @property
    def timeout_s(self) -> float:
        return self.config.timeout_ms / 1000 + _SLACK_S

    @property
    def remark(self) -> Announcement:
        config = self.config
        if config.customMessageType == "audio":
            return Announcement(recording=config.customMessageRecordingId)
        return Announcement(config.customMessage or None)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        try:
            return await self.bench.call_http(self.organization_id, self.config, arguments, self.context)
        except CallFailed as error:
            raise ToolError(str(error)) from error


@dataclass(frozen=True, slots=True)
class CalculatorTool(_Quiet):
    text: ToolText
    has_side_effects: bool = False
    timeout_s: float = 2.0

    @property
    def spec(self) -> ToolSpec:
        schema = _schema([ToolParameter(name="expression", description="Arithmetic, for example (19.99 + 5) * 3")])
        return ToolSpec(self.text.name, self.text.description or "Calculate exactly. Use it for any sum.", schema)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        try:
            return {"result": calculate(str(arguments.get("expression") or ""))}
        except CallFailed as error:
            raise ToolError(str(error)) from error


@dataclass(frozen=True, slots=True)
class McpFunction(_Quiet):
    """One function of an MCP server. Whether it changes something is not known, so it is taken to."""

    organization_id: int
    text: ToolText
    config: McpConfig
    function: str
    parameters: dict[str, Any]
    bench: ToolBench
    has_side_effects: bool = True

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.text.name, self.text.description, self.parameters)

    @property
    def timeout_s(self) -> float:
        return float(self.config.timeout_secs or 30) + _SLACK_S

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        try:
            return await self.bench.call_mcp(self.organization_id, self.config, self.function, arguments)
        except CallFailed as error:
            raise ToolError(str(error)) from error


@dataclass(frozen=True, slots=True)
class EndCallTool(_Quiet):
    text: ToolText
    config: EndCallConfig
    has_side_effects: bool = False
    timeout_s: float = 2.0

    @property
    def spec(self) -> ToolSpec:
        about = self.config.endCallReasonDescription or "Why the call ends, in a few words"
        parameters = [ToolParameter(name="reason", description=about)] if self.config.endCallReason else []
        return ToolSpec(self.text.name, self.text.description or "End the call.", _schema(parameters))

    @property
    def announcement(self) -> Announcement:
        return _message(self.config.messageType, self.config.customMessage, self.config.audioRecordingId)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        reason = str(arguments.get("reason") or "").strip()[:200] if self.config.endCallReason else ""
        if self.config.endCallReason and not reason:
            raise ToolError("Say why the call ends: the argument 'reason' is missing.")
        gathered = {"call_disposition": reason} if reason else {}
        return CallOver({"ok": True}, tags=(reason[:64],) if reason else (), gathered=gathered)


class Handover(Protocol):
    """A destination that has answered and waits for the caller."""

    async def connect(self) -> None:
        """Put the caller through; HandoverFailed."""
        ...

    async def release(self) -> None:
        """Let the destination go; the caller is not coming."""
        ...


class TransferRefused(Exception):
    """The destination did not answer; ``reason`` is busy, no_answer, call_failed or unsupported."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TransferDesk(Protocol):
    """Hands callers of this process over to other telephones; the telephony domain implements it."""

    async def ring(
        self, organization_id: int, run_id: int, number: str, timeout_s: float, *, is_blind: bool = False
    ) -> Handover:
        """Call ``number`` (E.164) while the caller waits. Returns when it has answered; TransferRefused. Canceling it
        stops the ringing. ``is_blind``: where the carrier can, the caller is sent there without waiting for an answer,
        and this returns at once."""
        ...


_REASONS: Final = {
    "busy": "is busy",
    "no_answer": "does not answer",
    "call_failed": "cannot be reached",
    "unsupported": "cannot be reached from this kind of call",
}


@dataclass(frozen=True, slots=True)
class TransferTool(_Quiet):
    """The model chooses a configured destination by its name. What a caller says never becomes a number."""

    organization_id: int
    run_id: int
    text: ToolText
    config: TransferCallConfig
    desk: TransferDesk | None
    has_side_effects: bool = True
    _slack_s: float = field(default=5.0)

    @property
    def spec(self) -> ToolSpec:
        places = self.config.all_destinations
        schema = _schema([])
        if len(places) > 1:
            about = "; ".join(
                f"{place.name}: {place.description}" if place.description else place.name for place in places
            )
            names = [place.name for place in places]
            schema["properties"]["destination"] = {"type": "string", "enum": names, "description": about}
            schema["required"] = ["destination"]
        return ToolSpec(self.text.name, self.text.description or "Transfer the call to a person.", schema)

    @property
    def holds_floor(self) -> bool:
        return True

    @property
    def timeout_s(self) -> float:
        return self.config.timeout + self._slack_s

    @property
    def announcement(self) -> Announcement:
        return _message(self.config.messageType, self.config.customMessage, self.config.audioRecordingId)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        place = self._chosen(arguments.get("destination"))
        try:
            if self.desk is None:
                raise TransferRefused("unsupported")
            handover = await self.desk.ring(
                self.organization_id,
                self.run_id,
                place.phone_number,
                float(self.config.timeout),
                is_blind=self.config.mode == "blind",
            )
        except TransferRefused as refused:
            why = _REASONS.get(refused.reason, "cannot be reached")
            raise ToolError(
                f"TRANSFER_FAILED ({refused.reason}): {place.name} {why}. Tell the caller and offer something else."
            ) from refused
        return CallOver(
            {"transferred_to": place.name},
            reason=TRANSFERRED,
            outcome=TRANSFERRED,
            gathered={"transferred_to": place.name},
            handover=handover.connect,
            abandon=handover.release,
        )

    def _chosen(self, wanted: Any) -> Destination:
        places = self.config.all_destinations
        if len(places) == 1:
            return places[0]
        name = str(wanted or "").strip().casefold()
        for place in places:
            if place.name.casefold() == name:
                return place
        raise ToolError(f"Choose one of these destinations: {', '.join(place.name for place in places)}.")


def _message(kind: MessageType, text: str | None, recording: str | None) -> Announcement:
    if kind == "custom":
        return Announcement(text or None)
    return Announcement(recording=recording) if kind == "audio" and recording else SILENT


def _schema(parameters: list[ToolParameter]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for parameter in parameters:
        about: dict[str, Any] = {"type": parameter.type}
        if parameter.type == "array":
            about["items"] = {}
        if parameter.description:
            about["description"] = parameter.description
        properties[parameter.name] = about
    required = [parameter.name for parameter in parameters if parameter.required]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


__all__ = [
    "CalculatorTool",
    "EndCallTool",
    "Handover",
    "HandoverFailed",
    "HttpTool",
    "McpFunction",
    "ToolText",
    "TransferDesk",
    "TransferRefused",
    "TransferTool",
]
