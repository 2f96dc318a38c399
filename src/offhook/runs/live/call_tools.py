"""An organization's tools as the voice loop calls them. Each implements ``voice.ports.AgentTool``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from offhook.kit.json_values import JsonObject, JsonValue
from offhook.models.ports import ToolSpec
from offhook.tools.calculator import evaluate_expression
from offhook.tools.definitions import (
    Destination,
    EndCallConfig,
    HttpApiConfig,
    McpConfig,
    MessageType,
    RecordingAction,
    RecordingConfig,
    ToolParameter,
    TransferCallConfig,
)
from offhook.tools.errors import ToolCallFailed
from offhook.voice.ports import NO_ANNOUNCEMENT, EndCallRequest, HandoverFailed, ToolAnnouncement, ToolError

TRANSFERRED_OUTCOME: Final = "transferred"
# On top of the other server's time limit: our own time to connect to the database and to read the answer.
SLACK_S: Final = 2.0
_TRANSFER_SLACK_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class ToolText:
    """The model's view of a tool. ``name`` is its function name."""

    name: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _OrganizationTool:
    """The attributes of ``AgentTool``: by default, nothing is announced and the caller may interrupt."""

    spec: ToolSpec
    timeout_s: float = 2.0
    has_side_effects: bool = False
    blocks_barge_in: bool = False
    announcement: ToolAnnouncement = NO_ANNOUNCEMENT
    success_announcement: ToolAnnouncement = NO_ANNOUNCEMENT


class ToolRequester(Protocol):
    """Sends the requests of tools. Both raise ToolCallFailed with a sentence that the model may read."""

    async def call_http(
        self, organization_id: int, config: HttpApiConfig, arguments: Mapping[str, Any], context: Mapping[str, Any]
    ) -> Any: ...

    async def call_mcp(
        self, organization_id: int, config: McpConfig, name: str, arguments: Mapping[str, Any]
    ) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpTool(_OrganizationTool):
    organization_id: int
    config: HttpApiConfig
    tool_runner: ToolRequester
    context: Mapping[str, Any]

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        try:
            return await self.tool_runner.call_http(self.organization_id, self.config, arguments, self.context)
        except ToolCallFailed as error:
            raise ToolError(str(error)) from error


def build_http_tool(
    text: ToolText, config: HttpApiConfig, organization_id: int, tool_runner: ToolRequester, context: Mapping[str, Any]
) -> HttpTool:
    if config.customMessageType == "audio":
        announcement = ToolAnnouncement(recording=config.customMessageRecordingId)
    else:
        announcement = ToolAnnouncement(config.customMessage or None)
    return HttpTool(
        spec=ToolSpec(text.name, text.description, _parameters_schema(config.parameters)),
        timeout_s=config.timeout_ms / 1000 + SLACK_S,
        has_side_effects=config.may_change_something,
        success_announcement=announcement,
        organization_id=organization_id,
        config=config,
        tool_runner=tool_runner,
        context=context,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CalculatorTool(_OrganizationTool):
    async def call(self, arguments: Mapping[str, Any]) -> Any:
        try:
            return {"result": evaluate_expression(str(arguments.get("expression") or ""))}
        except ToolCallFailed as error:
            raise ToolError(str(error)) from error


def build_calculator(text: ToolText) -> CalculatorTool:
    schema = _parameters_schema(
        [ToolParameter(name="expression", description="Arithmetic, for example (19.99 + 5) * 3")]
    )
    description = text.description or "Calculate exactly. Use it for any sum."
    return CalculatorTool(spec=ToolSpec(text.name, description, schema))


@dataclass(frozen=True, slots=True, kw_only=True)
class McpFunctionTool(_OrganizationTool):
    """One function of an MCP server. It is assumed to have side effects, because that is not known."""

    organization_id: int
    config: McpConfig
    function: str
    tool_runner: ToolRequester
    has_side_effects: bool = True

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        try:
            return await self.tool_runner.call_mcp(self.organization_id, self.config, self.function, arguments)
        except ToolCallFailed as error:
            raise ToolError(str(error)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class EndCallTool(_OrganizationTool):
    is_reason_required: bool

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        reason = str(arguments.get("reason") or "").strip()[:200] if self.is_reason_required else ""
        if self.is_reason_required and not reason:
            raise ToolError("Say why the call ends: the argument 'reason' is missing.")
        gathered = {"call_disposition": reason} if reason else {}
        return EndCallRequest({"ok": True}, tags=(reason[:64],) if reason else (), gathered_context=gathered)


def build_end_call_tool(text: ToolText, config: EndCallConfig) -> EndCallTool:
    description = config.endCallReasonDescription or "Why the call ends, in a few words"
    parameters = [ToolParameter(name="reason", description=description)] if config.endCallReason else []
    return EndCallTool(
        spec=ToolSpec(text.name, text.description or "End the call.", _parameters_schema(parameters)),
        announcement=_announcement_for(config.messageType, config.customMessage, config.audioRecordingId),
        is_reason_required=config.endCallReason,
    )


class RecordingControl(Protocol):
    """The recording of the call; ``state`` is off, waiting, on, paused or discarded."""

    @property
    def state(self) -> str: ...

    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def discard(self) -> None: ...


_RECORDING_DESCRIPTIONS: Final[Mapping[RecordingAction, str]] = {
    "pause": "Pause the recording of this call. Use it before the caller says a card number or a password.",
    "resume": "Resume the recording of this call after it was paused.",
    "discard": "Delete the recording of this call and stop recording. Use it when the caller objects to being recorded.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingTool(_OrganizationTool):
    """``control`` is None where nothing is recorded: in text chats and scenarios."""

    action: RecordingAction
    control: RecordingControl | None
    has_side_effects: bool = True

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        if self.control is None:
            return {"recording": "off"}
        if self.action == "pause":
            self.control.pause()
        elif self.action == "resume":
            self.control.resume()
        else:
            self.control.discard()
        return {"recording": self.control.state}


def build_recording_tool(text: ToolText, config: RecordingConfig, control: RecordingControl | None) -> RecordingTool:
    description = text.description or _RECORDING_DESCRIPTIONS[config.action]
    return RecordingTool(
        spec=ToolSpec(text.name, description, _parameters_schema([])),
        announcement=_announcement_for(config.messageType, config.customMessage, config.audioRecordingId),
        action=config.action,
        control=control,
    )


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
    "do_not_call": "must not be called",
    "destination_blocked": "must not be called",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferTool(_OrganizationTool):
    """Lets the model choose a configured destination by name. What a caller says never becomes a number."""

    organization_id: int
    run_id: int
    config: TransferCallConfig
    transfer_service: CallTransferService | None
    has_side_effects: bool = True
    blocks_barge_in: bool = True

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


def build_transfer_tool(
    text: ToolText,
    config: TransferCallConfig,
    organization_id: int,
    run_id: int,
    transfer_service: CallTransferService | None,
) -> TransferTool:
    places = config.all_destinations
    schema = _parameters_schema([])
    if len(places) > 1:
        description = "; ".join(
            f"{place.name}: {place.description}" if place.description else place.name for place in places
        )
        names: list[JsonValue] = [place.name for place in places]
        destination: JsonObject = {"type": "string", "enum": names, "description": description}
        schema |= {"properties": {"destination": destination}, "required": ["destination"]}
    return TransferTool(
        spec=ToolSpec(text.name, text.description or "Transfer the call to a person.", schema),
        timeout_s=config.timeout + _TRANSFER_SLACK_S,
        announcement=_announcement_for(config.messageType, config.customMessage, config.audioRecordingId),
        organization_id=organization_id,
        run_id=run_id,
        config=config,
        transfer_service=transfer_service,
    )


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
    "RecordingControl",
    "RecordingTool",
    "ToolText",
    "TransferRefused",
    "TransferTool",
    "build_calculator",
    "build_end_call_tool",
    "build_http_tool",
    "build_recording_tool",
    "build_transfer_tool",
]
