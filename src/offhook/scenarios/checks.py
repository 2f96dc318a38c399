"""What is wrong with an agent's graph, found without a conversation."""

from collections.abc import Iterator, Mapping, Sequence

from offhook.kit.json_values import JsonObject
from offhook.runs.call_toolbox import CallToolbox, describe_tool, function_name
from offhook.scenarios.engine.agent import ScenarioAgent, ScenarioTool
from offhook.workflows.analysis import GraphFinding, analyze_graph
from offhook.workflows.configurations import Phrases
from offhook.workflows.graph import WorkflowGraph
from offhook.workflows.tool_facts import ToolFacts
from offhook.workflows.validation import validate_definition
from offhook.workflows.validation.issues import ValidationIssue


def check_agent(agent: ScenarioAgent) -> tuple[GraphFinding, ...]:
    """Returns what validation and analysis find, errors first."""
    facts = describe_tools(agent.graph, agent.tools)
    report = validate_definition(agent.definition, tools=facts, template_variables=tuple(agent.variables))
    findings = analyze_graph(
        agent.graph,
        tools=facts,
        template_variables=tuple(agent.variables),
        configurations=agent.configurations,
        phrase_names=tuple(Phrases.model_fields),
    )
    found = (
        *(_as_finding(issue, is_error=True) for issue in report.errors),
        *findings,
        *(_as_finding(issue, is_error=False) for issue in report.warnings),
    )
    return tuple(sorted(found, key=lambda finding: finding.severity != "error"))


def describe_tools(graph: WorkflowGraph, tools: Sequence[ScenarioTool]) -> Mapping[str, ToolFacts]:
    """Returns what is known of a graph's tools, by id; unknown ids are left out."""
    facts = {tool.id: describe_tool(tool.name, tool.definition) for tool in tools}
    built_in = CallToolbox()
    for uuid in {uuid for node in graph.nodes.values() for uuid in node.tool_uuids} - set(facts):
        if found := built_in.for_node([uuid]):
            facts[uuid] = ToolFacts(found[0].spec.name, timeout_s=found[0].timeout_s)
    return facts


def list_tool_functions(graph: WorkflowGraph, tools: Sequence[ScenarioTool]) -> Mapping[str, frozenset[str]]:
    """Returns the names that calls of a tool have in events, by the ids of the tools that nodes name, in their order."""
    facts = describe_tools(graph, tools)
    functions: dict[str, frozenset[str]] = {}
    for uuid in dict.fromkeys(uuid for node in graph.nodes.values() for uuid in node.tool_uuids):
        found = facts.get(uuid)
        several = found.functions if found is not None else None
        name = found.name if found is not None else uuid
        functions[uuid] = frozenset({function_name(name)} if several is None else several.values())
    return functions


def finding_as_json(finding: GraphFinding) -> JsonObject:
    return {
        "severity": finding.severity,
        "code": finding.code,
        "kind": finding.kind,
        "id": finding.id,
        "field": finding.field,
        "message": finding.message,
    }


def finding_lines(agent: str, findings: tuple[GraphFinding, ...]) -> Iterator[str]:
    """Yields one line for each finding, and the sum."""
    for finding in findings:
        where = f" at {finding.kind} {finding.id}" if finding.id is not None else ""
        yield f"{finding.severity:7}  {finding.code}{where}: {finding.message}"
    errors = sum(finding.severity == "error" for finding in findings)
    yield f"{agent}: {errors} errors, {len(findings) - errors} warnings"


def _as_finding(issue: ValidationIssue, *, is_error: bool) -> GraphFinding:
    return GraphFinding(
        issue.kind, issue.id, issue.field, issue.code, "error" if is_error else "warning", issue.message
    )
