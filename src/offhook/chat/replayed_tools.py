"""Tools in a replayed turn: they return what they returned in the conversation, and reach nothing outside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from offhook.chat.recorded_turns import AnsweredTool
from offhook.models.ports import ToolSpec
from offhook.runs.live.call_tools import CalculatorTool, EndCallTool
from offhook.runs.live.demo_tool import DemoOrderStatusTool
from offhook.voice.ports import AgentTool, AgentToolbox, ToolAnnouncement, ToolError

# These reach nothing outside of the conversation.
_HARMLESS = (CalculatorTool, EndCallTool, DemoOrderStatusTool)


@dataclass(frozen=True, slots=True)
class ReplayedTool:
    """Implements AgentTool: the answer to equal arguments, else the first one that the tool gave."""

    tool: AgentTool
    answers: Sequence[AnsweredTool]

    @property
    def spec(self) -> ToolSpec:
        return self.tool.spec

    @property
    def has_side_effects(self) -> bool:
        return False

    @property
    def timeout_s(self) -> float:
        return self.tool.timeout_s

    @property
    def blocks_barge_in(self) -> bool:
        return False

    @property
    def announcement(self) -> ToolAnnouncement:
        return self.tool.announcement

    @property
    def success_announcement(self) -> ToolAnnouncement:
        return self.tool.success_announcement

    @property
    def examples(self) -> tuple[str, ...]:
        return tuple(getattr(self.tool, "examples", ()))

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        equal = [answer for answer in self.answers if answer.arguments == arguments]
        found = next(iter([*equal, *self.answers]), None)
        if found is None:
            raise ToolError("Tools are not called when a turn is played again, and this one has no recorded answer.")
        if not found.is_ok:
            raise ToolError(found.error or "The tool failed.")
        return found.result


class ReplayToolbox:
    """Implements AgentToolbox over the real one."""

    def __init__(self, toolbox: AgentToolbox, answers: Sequence[AnsweredTool]) -> None:
        self._toolbox = toolbox
        self._answers = [answer for answer in answers if answer.is_ok is not None]

    def for_node(
        self, tool_uuids: Sequence[str], mcp_filters: Mapping[str, Sequence[str]] | None = None
    ) -> Sequence[AgentTool]:
        return [
            tool
            if isinstance(tool, _HARMLESS)
            else ReplayedTool(tool, [answer for answer in self._answers if answer.name == tool.spec.name])
            for tool in self._toolbox.for_node(tool_uuids, mcp_filters)
        ]
