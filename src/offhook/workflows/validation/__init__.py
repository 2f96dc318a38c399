"""Finds all errors and warnings of a definition. Pure: callers pass in everything outside the definition."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from offhook.workflows.graph import WorkflowGraph, parse_graph
from offhook.workflows.tool_facts import ToolFacts
from offhook.workflows.validation.connections import check_degrees, check_instances, check_transitions, kind_warnings
from offhook.workflows.validation.flow import flow_warnings
from offhook.workflows.validation.issues import ValidationIssue, ValidationReport
from offhook.workflows.validation.references import (
    check_tools,
    check_trigger_paths,
    tool_warnings,
    trigger_paths,
    variable_warnings,
)
from offhook.workflows.validation.structure import check_structure

__all__ = ["ValidationIssue", "ValidationReport", "trigger_conflict", "trigger_paths", "validate_definition"]


def validate_definition(
    definition: Mapping[str, Any],
    *,
    tools: Mapping[str, ToolFacts] | None = None,
    template_variables: Collection[str] = (),
) -> ValidationReport:
    """Validates a definition in full. Never raises.

    ``tools``: facts by tool id, unknown ids left out; None when they were not looked up. ``template_variables``: names
    that the workflow itself sets.
    """
    facts = tools or {}
    graph = parse_graph(definition)
    return ValidationReport(
        errors=tuple(_iter_errors(definition, graph, facts)),
        warnings=(
            *kind_warnings(graph),
            *flow_warnings(graph, facts),
            *variable_warnings(graph, template_variables),
            *(tool_warnings(graph, tools) if tools is not None else ()),
        ),
    )


def trigger_conflict(node_id: str | None) -> ValidationIssue:
    """Returns the error for a trigger whose path belongs to another workflow."""
    message = "Trigger path is already in use. Choose another path, or leave it empty to have one made."
    return ValidationIssue("node", node_id, "data.trigger_path", "trigger_conflict", message)


def _iter_errors(
    definition: Mapping[str, Any], graph: WorkflowGraph, tools: Mapping[str, ToolFacts]
) -> Iterator[ValidationIssue]:
    structural = list(check_structure(definition))
    yield from structural
    if not structural:  # further checks would repeat the same errors in other words
        nodes, edges = definition["nodes"], definition["edges"]
        yield from check_instances(nodes)
        yield from check_degrees(nodes, edges)
        yield from check_transitions(edges)
    yield from check_trigger_paths(definition)
    yield from check_tools(graph, tools)
