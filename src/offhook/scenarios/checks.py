"""What is wrong with an agent's graph, found without a conversation."""

from collections.abc import Iterator, Mapping

from offhook.kit.json_values import JsonObject
from offhook.runs.live.tool_registry import CallToolbox, describe_tool
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.workflows.analysis import GraphFinding, analyze_graph
from offhook.workflows.configurations import Phrases
from offhook.workflows.tool_facts import ToolFacts
from offhook.workflows.validation import validate_definition
from offhook.workflows.validation.issues import ValidationIssue


def check_agent(agent: ScenarioAgent) -> tuple[GraphFinding, ...]:
    """Returns what validation and analysis find, errors first."""
    facts = describe_tools(agent)
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


def describe_tools(agent: ScenarioAgent) -> Mapping[str, ToolFacts]:
    """Returns what is known of the agent's tools, by id; unknown ids are left out."""
    facts = {tool.id: describe_tool(tool.name, tool.definition) for tool in agent.tools}
    built_in = CallToolbox()
    for uuid in {uuid for node in agent.graph.nodes.values() for uuid in node.tool_uuids} - set(facts):
        if tools := built_in.for_node([uuid]):
            facts[uuid] = ToolFacts(tools[0].spec.name, timeout_s=tools[0].timeout_s)
    return facts


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
