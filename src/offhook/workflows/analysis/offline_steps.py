"""Which steps of an agent run without a model of a vendor, and why the others do not.

The offline agent speaks what is written and chooses among the edges by meaning; it writes no sentences of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from offhook.models.providers.builtin.abilities import (
    MAX_EDGE_CHARS,
    MAX_PROMPT_CHARS,
    can_open_node,
    can_recognize_value,
    count_edge_chars,
)
from offhook.workflows.analysis.languages import other_languages, speaks_another_language, spoken_language
from offhook.workflows.graph import Node, WorkflowGraph
from offhook.workflows.nodes import KINDS

OfflineMode = Literal["runs", "limited", "needs_model"]
_REVIEW: Final = "qa"
_RANK: Final[Mapping[OfflineMode, int]] = {"runs": 0, "limited": 1, "needs_model": 2}


@dataclass(frozen=True, slots=True)
class OfflineReason:
    """Why a step is limited or needs a model, and what to do about it."""

    code: str
    mode: OfflineMode
    message: str


@dataclass(frozen=True, slots=True)
class OfflineStep:
    """One step. ``mode`` is that of its heaviest reason."""

    node_id: str
    name: str
    reasons: tuple[OfflineReason, ...] = ()

    @property
    def mode(self) -> OfflineMode:
        return max((reason.mode for reason in self.reasons), key=_RANK.__getitem__, default="runs")


def find_offline_steps(
    graph: WorkflowGraph, configurations: Mapping[str, Any] | None = None
) -> tuple[OfflineStep, ...]:
    """Returns the steps that talk or review, in their order. Never raises."""
    configurations = configurations or {}
    is_foreign = speaks_another_language(graph) or spoken_language(configurations) not in ("", "en")
    others = other_languages(configurations)
    return tuple(
        OfflineStep(node.id, node.name, tuple(_iter_reasons(graph, node, is_foreign, others)))
        for node in graph.nodes.values()
        if node.kind == _REVIEW or (node.kind in KINDS and KINDS[node.kind].is_conversational)
    )


def _iter_reasons(graph: WorkflowGraph, node: Node, is_foreign: bool, others: Sequence[str]) -> Iterator[OfflineReason]:
    if node.kind == _REVIEW:
        yield OfflineReason("review", "needs_model", "A model judges the call. Without one, there is no review.")
        return
    if is_foreign:
        yield OfflineReason(
            "language",
            "needs_model",
            "The offline model understands English only, and this agent speaks another language.",
        )
    elif others:
        yield OfflineReason(
            "languages",
            "limited",
            f"The offline model understands English only: not callers who speak {', '.join(others)}.",
        )
    if not _has_own_words(node) and not can_open_node(node.kind, node.prompt[:MAX_PROMPT_CHARS]):
        yield OfflineReason(
            "no_sentence",
            "needs_model",
            "The prompt names nothing to say or ask, so only a model can phrase it. Enter what to say, or an offline sentence.",
        )
    unsaid = [
        edge.label for edge in graph.edges_from(node.id) if edge.condition and not edge.examples and not edge.digits
    ]
    if unsaid and len(graph.edges_from(node.id)) > 1:
        yield OfflineReason(
            "no_examples",
            "limited",
            f"{_name_all(unsaid)} without examples: offline, callers' words are compared with the label and the condition only.",
        )
    if _count_edge_chars(graph, node) > MAX_EDGE_CHARS:
        yield OfflineReason(
            "long_edges",
            "limited",
            f"The transitions have more than {MAX_EDGE_CHARS:,} characters in total. Offline, only the beginning of long ones is read.",
        )
    if len(node.prompt) > MAX_PROMPT_CHARS:
        yield OfflineReason(
            "long_prompt",
            "limited",
            f"The prompt has more than {MAX_PROMPT_CHARS:,} characters. Offline, only its beginning is read.",
        )
    variables = node.extraction_variables if node.extraction_enabled else ()
    free = [str(variable.get("name")) for variable in variables if not _is_recognized(variable)]
    if free:
        yield OfflineReason(
            "free_text",
            "limited",
            f"{_name_all(free)}: free text. Offline, the whole answer is kept instead of what is meant.",
        )
    if node.tool_uuids:
        yield OfflineReason(
            "tools",
            "limited",
            "Offline, a tool is called when its examples are said or its inputs are given, one at a time.",
        )


def _has_own_words(node: Node) -> bool:
    own = node.data.get("offline_say")
    return bool(node.say or node.greeting or node.say_recording or node.greeting_recording) or (
        isinstance(own, str) and bool(own.strip())
    )


def _count_edge_chars(graph: WorkflowGraph, node: Node) -> int:
    return sum(count_edge_chars(edge.label, edge.condition, edge.examples) for edge in graph.edges_from(node.id))


def _is_recognized(variable: Mapping[str, Any]) -> bool:
    return can_recognize_value(
        str(variable.get("name") or ""), str(variable.get("prompt") or ""), str(variable.get("type") or "string")
    )


def _name_all(names: Sequence[str]) -> str:
    shown = [f"“{name:.40}”" for name in names[:3]]
    return ", ".join(shown) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
