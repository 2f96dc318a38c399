"""An organization's tools as the voice loop calls them. Each implements ``voice.ports.AgentTool``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from offhook.kit.json_values import JsonObject, JsonValue
from offhook.models.ports import ToolSpec
from offhook.tools import ToolRunner
from offhook.tools.calculator import evaluate_expression
from offhook.tools.definitions import (
    Destination,
    EndCallConfig,
    HttpApiConfig,
    McpConfig,
    MessageType,
    ToolParameter,
    TransferCallConfig,
)
from offhook.tools.errors import ToolCallFailed
from offhook.voice.ports import NO_ANNOUNCEMENT, EndCallRequest, HandoverFailed, ToolAnnouncement, ToolError

TRANSFERRED_OUTCOME: Final = "transferred"
# On top of the other server's time limit: our own time to connect to the database and to read the answer.
_SLACK_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class ToolText:
    """The model's view of a tool. ``name`` is its function name."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class _SilentTool:
    """A tool that announces nothing and that the caller may interrupt."""

    @property
    def blocks_barge_in(self) -> bool:
        return False

    @property
    def announcement(self) -> ToolAnnouncement:
        return NO_ANNOUNCEMENT

    @property
    def success_announcement(self) -> ToolAnnouncement:
        return NO_ANNOUNCEMENT


@dataclass(frozen=True, slots=True)
class HttpTool(_SilentTool):
    organization_id: int
    text: ToolText
    config: HttpApiConfig
    tool_runner: ToolRunner
    context: Mapping[str, Any]

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.text.name, self.text.description, _parameters_schema(self.config.parameters))

    @property
    def has_side_effects(self) -> bool:
        return self.config.may_change_something

    @property
    def timeout_s(self) -> float:
        return self.config.timeout_ms / 1000 + _SLACK_S

    @property
    def success_announcement(self) -> ToolAnnouncement:
        config = self.config
        if config.customMessageType == "audio":
            return ToolAnnouncement(recording=config.customMessageRecordingId)
        return ToolAnnouncement(config.customMessage or None)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        try:
            return await self.tool_runner.call_http(self.organization_id, self.config, arguments, self.context)
        except ToolCallFailed as error:
            raise ToolError(str(error)) from error


@dataclass(frozen=True, slots=True)
class CalculatorTool(_SilentTool):
    text: ToolText
    has_side_effects: bool = False
    timeout_s: float = 2.0

    @property
    def spec(self) -> ToolSpec:
        schema = _parameters_schema(
            [ToolParameter(name="expression", description="Arithmetic, for example (19.99 + 5) * 3")]
        )
        return ToolSpec(self.text.name, self.text.description or "Calculate exactly. Use it for any sum.", schema)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        try:
            return {"result": evaluate_expression(str(arguments.get("expression") or ""))}
        except ToolCallFailed as error:
            raise ToolError(str(error)) from error


@dataclass(frozen=True, slots=True)
class McpFunctionTool(_SilentTool):
    """One function of an MCP server. It is assumed to have side effects, because that is not known."""

    organization_id: int
    text: ToolText
    config: McpConfig
    function: str
    parameters: JsonObject
    tool_runner: ToolRunner
    has_side_effects: bool = True

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.text.name, self.text.description, self.parameters)

    @property
    def timeout_s(self) -> float:
        return float(self.config.timeout_secs or 30) + _SLACK_S

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        try:
            return await self.tool_runner.call_mcp(self.organization_id, self.config, self.function, arguments)
        except ToolCallFailed as error:
            raise ToolError(str(error)) from error


@dataclass(frozen=True, slots=True)
class EndCallTool(_SilentTool):
    text: ToolText
    config: EndCallConfig
    has_side_effects: bool = False
    timeout_s: float = 2.0

    @property
    def spec(self) -> ToolSpec:
        about = self.config.endCallReasonDescription or "Why the call ends, in a few words"
        parameters = [ToolParameter(name="reason", description=about)] if self.config.endCallReason else []
        return ToolSpec(self.text.name, self.text.description or "End the call.", _parameters_schema(parameters))

    @property
    def announcement(self) -> ToolAnnouncement:
        return _announcement_for(self.config.messageType, self.config.customMessage, self.config.audioRecordingId)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        reason = str(arguments.get("reason") or "").strip()[:200] if self.config.endCallReason else ""
        if self.config.endCallReason and not reason:
            raise ToolError("Say why the call ends: the argument 'reason' is missing.")
        gathered = {"call_disposition": reason} if reason else {}
        return EndCallRequest({"ok": True}, tags=(reason[:64],) if reason else (), gathered_context=gathered)


class CallHandover(Protocol):
    """A transfer destination that has answered and waits for the caller."""

    async def connect_caller(self) -> None:
        """Connects the caller to the destination. Raises HandoverFailed."""
        ...

    async def release_destination(self) -> None:
        """Hangs up on the destination, because the caller will not be connected."""
        ...


class TransferRefused(Exception):
    """The destination did not answer; ``reason`` is busy, no_answer, call_failed or unsupported."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CallTransferService(Protocol):
    """Transfers callers of this process to other phone numbers; implemented by the telephony domain."""

    async def ring_destination(
        self, organization_id: int, run_id: int, number: str, timeout_s: float, *, is_blind: bool = False
    ) -> CallHandover:
        """Calls ``number`` (E.164) while the caller waits; returns once it has answered. Raises TransferRefused.

        Canceling it stops the ringing. ``is_blind``: where the carrier supports it, the caller is sent to the
        number without waiting for an answer, and this returns at once.
        """
        ...


_REASONS: Final = {
    "busy": "is busy",
    "no_answer": "does not answer",
    "call_failed": "cannot be reached",
    "unsupported": "cannot be reached from this kind of call",
}


@dataclass(frozen=True, slots=True)
class TransferTool(_SilentTool):
    """Lets the model choose a configured destination by name. What a caller says never becomes a number."""

    organization_id: int
    run_id: int
    text: ToolText
    config: TransferCallConfig
    transfer_service: CallTransferService | None
    has_side_effects: bool = True
    _slack_s: float = field(default=5.0)

    @property
    def spec(self) -> ToolSpec:
        places = self.config.all_destinations
        schema = _parameters_schema([])
        if len(places) > 1:
            description = "; ".join(
                f"{place.name}: {place.description}" if place.description else place.name for place in places
            )
            names: list[JsonValue] = [place.name for place in places]
            destination: JsonObject = {"type": "string", "enum": names, "description": description}
            schema |= {"properties": {"destination": destination}, "required": ["destination"]}
        return ToolSpec(self.text.name, self.text.description or "Transfer the call to a person.", schema)

    @property
    def blocks_barge_in(self) -> bool:
        return True

    @property
    def timeout_s(self) -> float:
        return self.config.timeout + self._slack_s

    @property
    def announcement(self) -> ToolAnnouncement:
        return _announcement_for(self.config.messageType, self.config.customMessage, self.config.audioRecordingId)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        place = self._find_destination(arguments.get("destination"))
        try:
            if self.transfer_service is None:
                raise TransferRefused("unsupported")
            handover = await self.transfer_service.ring_destination(
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
        return EndCallRequest(
            {"transferred_to": place.name},
            reason=TRANSFERRED_OUTCOME,
            outcome=TRANSFERRED_OUTCOME,
            gathered_context={"transferred_to": place.name},
            handover=handover.connect_caller,
            abandon=handover.release_destination,
        )

    def _find_destination(self, wanted: Any) -> Destination:
        places = self.config.all_destinations
        if len(places) == 1:
            return places[0]
        name = str(wanted or "").strip().casefold()
        for place in places:
            if place.name.casefold() == name:
                return place
        raise ToolError(f"Choose one of these destinations: {', '.join(place.name for place in places)}.")


def _announcement_for(kind: MessageType, text: str | None, recording: str | None) -> ToolAnnouncement:
    if kind == "custom":
        return ToolAnnouncement(text or None)
    return ToolAnnouncement(recording=recording) if kind == "audio" and recording else NO_ANNOUNCEMENT


def _parameters_schema(parameters: list[ToolParameter]) -> JsonObject:
    properties: JsonObject = {}
    for parameter in parameters:
        schema: JsonObject = {"type": parameter.type}
        if parameter.type == "array":
            schema["items"] = {}
        if parameter.description:
            schema["description"] = parameter.description
        properties[parameter.name] = schema
    required: list[JsonValue] = [parameter.name for parameter in parameters if parameter.required]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


__all__ = [
    "CalculatorTool",
    "CallHandover",
    "CallTransferService",
    "EndCallTool",
    "HandoverFailed",
    "HttpTool",
    "McpFunctionTool",
    "ToolText",
    "TransferRefused",
    "TransferTool",
]
