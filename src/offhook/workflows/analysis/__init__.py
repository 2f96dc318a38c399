"""Checks a graph as a model of all the calls that it allows. Pure, and of its own: validation results do not change.

Where the validation looks at one node or edge after the other, this looks at paths: what is never taken, what turns
without progress, what is not known yet, what a text promises that its step cannot do.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from offhook.workflows.analysis.findings import GraphFinding
from offhook.workflows.analysis.languages import language_findings
from offhook.workflows.analysis.progress import progress_findings
from offhook.workflows.analysis.prompt_fit import prompt_fit_findings
from offhook.workflows.analysis.texts import text_findings
from offhook.workflows.analysis.transitions import (
    EdgeCondition,
    find_taken_conditions,
    list_conditions,
    transition_findings,
)
from offhook.workflows.analysis.variables import variable_findings
from offhook.workflows.graph import WorkflowGraph
from offhook.workflows.tool_facts import ToolFacts

__all__ = ["EdgeCondition", "GraphFinding", "analyze_graph", "find_taken_conditions", "list_conditions"]


# Larger graphs are not drawn by people; comparing every two prompts would take seconds.
MAX_NODES: Final = 300


def analyze_graph(
    graph: WorkflowGraph,
    *,
    tools: Mapping[str, ToolFacts] | None = None,
    template_variables: Collection[str] = (),
    configurations: Mapping[str, Any] | None = None,
    phrase_names: Sequence[str] = (),
) -> tuple[GraphFinding, ...]:
    """Returns all findings, errors first. Never raises.

    ``tools``: facts by tool id; None when they were not looked up. ``phrase_names``: the settings of what a call says
    without asking a model.
    """
    if len(graph.nodes) > MAX_NODES:
        message = f"Only agents of up to {MAX_NODES} steps are analyzed: this one has {len(graph.nodes)}"
        return (GraphFinding("workflow", None, "nodes", "graph_too_large", "warning", message),)
    findings = (
        *transition_findings(graph),
        *progress_findings(graph),
        *variable_findings(graph, template_variables),
        *text_findings(graph, tools),
        *prompt_fit_findings(graph),
        *language_findings(graph, configurations or {}, phrase_names),
    )
    return tuple(sorted(findings, key=lambda finding: finding.severity != "error"))
