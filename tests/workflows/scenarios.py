"""Plays a template's scenarios with the offline agent, by text."""

from dataclasses import dataclass
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.models.ports import CallModels, Llm
from offhook.runs.live.call_tools import ToolText, build_transfer_tool
from offhook.runs.live.tool_registry import CallToolbox, function_name
from offhook.tools.definitions import TransferCallDefinition
from offhook.voice import events
from offhook.voice.call_context import CallAgent
from offhook.voice.config import CallConfig
from offhook.voice.ports import AgentTool
from offhook.voice.text_session import TextSession
from offhook.workflows.catalog.scenarios import Scenario
from offhook.workflows.catalog.templates import AgentTemplate, definition_with
from offhook.workflows.graph import parse_graph
from tests.fakes.knowledge import Shelf
from tests.fakes.scripted import Hearing, ScriptedStt, ScriptedTts
from tests.fakes.voice import KeptEvents

# A Wednesday morning: callers say "tomorrow" too.
CONTEXT: Final = {"current_weekday": "Wednesday", "current_time": "10:15 AM"}


@dataclass(frozen=True, slots=True)
class PlayedScenario:
    """What came of a scenario: ``replies`` are the agent's, one for each turn; ``end`` is None while it goes on."""

    edges: list[str]
    variables: dict[str, Any]
    end: str | None
    replies: list[str]


async def play_scenario(template: AgentTemplate, scenario: Scenario, llm: Llm) -> PlayedScenario:
    """Talks to the template's agent. Nobody answers its transfers, as in every text chat."""
    filenames = [document.filename for document in template.documents]
    graph = parse_graph(definition_with(template, document_ids=filenames, tool_ids={}))
    shelf = Shelf({document.filename: document.content.decode() for document in template.documents}, takes_s=0)
    context: JsonObject = {**CONTEXT, **scenario.context}
    agent = CallAgent(graph, CallConfig(), CallToolbox(_tools_of(template)), context, knowledge=shelf)
    kept = KeptEvents()
    session = TextSession(
        agent=agent, models=CallModels((llm,), (ScriptedTts(),), (ScriptedStt(Hearing()),)), sink=kept
    )
    await session.start()
    replies = [
        "(it was over)" if session.is_over else " ".join(await session.say(turn.caller)) for turn in scenario.turns
    ]
    end = session.node_id if session.is_over else None
    gathered: Any = (await session.end()).gathered_context
    taken = [str(event.data["edge_id"]) for event in kept.events if event.type == events.EDGE_TAKEN]
    return PlayedScenario(taken, dict(gathered["extracted_variables"]), end, replies)


def find_faults(scenario: Scenario, played: PlayedScenario) -> list[str]:
    """Compares what came of a scenario with what it expects."""
    expects, faults = scenario.expects, []
    if played.edges != list(expects.edges):
        faults.append(f"took {played.edges}, not {list(expects.edges)}")
    if played.end != expects.end:
        faults.append(f"ended at {played.end}, not {expects.end}")
    faults += [
        f"{name} is {played.variables.get(name)!r}, not {value!r}"
        for name, value in expects.variables.items()
        if played.variables.get(name) != value
    ]
    faults += [
        f"{turn.agent!r} is missing in {reply!r}"
        for turn, reply in zip(scenario.turns, played.replies, strict=True)
        if turn.agent is not None and turn.agent.casefold() not in reply.casefold()
    ]
    return faults


def _tools_of(template: AgentTemplate) -> dict[str, AgentTool]:
    found: dict[str, AgentTool] = {}
    for tool in template.card.tools:
        assert isinstance(tool.definition, TransferCallDefinition)
        text = ToolText(function_name(tool.name), tool.description)
        found[tool.id] = build_transfer_tool(text, tool.definition.config, 1, 1, None)
    return found
