"""Answers of tools for proposed scenarios; authors write better ones."""

from typing import Any

from offhook.runs.call_toolbox import CallToolbox, describe_tool
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.tools.definitions import EndCallDefinition, McpDefinition, TransferCallDefinition

_FAILURE = "The server does not answer."


def propose_answers(agent: ScenarioAgent, *, tools_fail: bool) -> dict[str, list[dict[str, Any]]]:
    """Returns an answer for every tool that would reach for another server or telephone: a good one, or a failure."""
    answers: dict[str, list[dict[str, Any]]] = {}
    for tool in agent.tools:
        if isinstance(tool.definition, EndCallDefinition):
            continue
        if isinstance(tool.definition, TransferCallDefinition):
            answers[tool.id] = [{"transfer": "busy" if tools_fail else "answered"}]
            continue
        answer: dict[str, Any] = {"fails": _FAILURE} if tools_fail else {"result": {"status": "ok"}}
        is_server = isinstance(tool.definition, McpDefinition)
        functions = describe_tool(tool.name, tool.definition).functions if is_server else None
        for name in functions or ([] if is_server else [tool.id]):
            answers[name] = [answer]
    if tools_fail:
        # they ask no server, and may fail all the same
        answers |= {uuid: [{"fails": _FAILURE}] for uuid in _built_in_tools(agent)}
    return answers


def _built_in_tools(agent: ScenarioAgent) -> set[str]:
    own = {tool.id for tool in agent.tools}
    uuids = {uuid for node in agent.graph.nodes.values() for uuid in node.tool_uuids}
    return {uuid for uuid in uuids - own if CallToolbox().for_node([uuid])}
