"""Builds a node's model input: the system message, the tools and the hints for rule-based models."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from offhook.kit.json_values import nonblank_text
from offhook.knowledge.passages import KnowledgePassage
from offhook.models.ports import EdgeHint, Expectation, NodeHint, ToolHint, ToolSpec
from offhook.voice.dialog.asked_values import asked_kinds
from offhook.voice.dialog.call_language import LanguageWords
from offhook.voice.dialog.expected_values import VALUE_KINDS
from offhook.voice.dialog.spoken_clock import written_clock
from offhook.voice.ports import AgentTool
from offhook.workflows.graph import Edge, Node, WorkflowGraph
from offhook.workflows.template import render_template

VOICE_RULES = (
    "You are on a telephone call. Answer in short spoken sentences, without lists, markup or emoji. "
    "Say numbers and times the way people say them. Call a function as soon as its condition holds; "
    "do not announce it and do not read out function names."
)
TEXT_RULES = (
    "You are in a text chat. Answer briefly. Call a function as soon as its condition holds; do not announce it."
)
# A step can have two thousand transitions.
_MAX_VALUES_OF_CONDITION: Final = 4000
END_RULE = "This is the end of the conversation: say goodbye in one or two sentences and ask nothing more."


def system_message(
    graph: WorkflowGraph, node: Node, context: Mapping[str, Any], language: LanguageWords, *, is_spoken: bool
) -> str:
    """Combines the channel's rules, the global prompt, the node's prompt, its end and the language, in this order."""
    parts = [VOICE_RULES if is_spoken else TEXT_RULES]
    if node.add_global_prompt and graph.global_prompt:
        parts.append(_fill_prompt(graph.global_prompt, context, language))
    parts.append(f"# Your task now: {node.name}\n{_fill_prompt(node.prompt, context, language)}")
    if node.kind == "endCall":
        parts.append(END_RULE)
    parts.append(language.rule)
    return "\n\n".join(part for part in parts if part.strip())


def _fill_prompt(prompt: str, context: Mapping[str, Any], language: LanguageWords) -> str:
    return render_template(prompt, context, clock=written_clock(language.tag, prompt))


def edge_tools(edges: Sequence[Edge], context: Mapping[str, Any]) -> list[ToolSpec]:
    """Returns the edges that a model may take; edges that only keys can take are left out."""
    return [
        ToolSpec(edge.tool_name, f"Go on with “{edge.label}”. Call this when: {_condition_of(edge, context)}")
        for edge in edges
        if not (edge.digits and not edge.condition)
    ]


def hint_for(
    node: Node,
    edges: Sequence[Edge],
    tools: Sequence[AgentTool],
    context: Mapping[str, Any],
    *,
    entered: bool,
    passages: Sequence[KnowledgePassage] = (),
    persona: str = "",
    known_variables: Sequence[Mapping[str, Any]] = (),
) -> NodeHint:
    offline = node.data.get("offline_say")
    say_text = node.say or (offline if isinstance(offline, str) and offline.strip() else None) or node.greeting
    return NodeHint(
        node_id=node.id,
        name=node.name,
        kind=node.kind,
        prompt=render_template(node.prompt, context),
        entered=entered,
        say_text=render_template(say_text, context) if say_text else None,
        edges=tuple(
            EdgeHint(
                edge.tool_name,
                edge.label,
                _condition_of(edge, context),
                edge.examples,
                edge.digits,
                edge.is_final,
            )
            for edge in edges
        ),
        tools=tuple(
            ToolHint(
                tool.spec.name,
                tool.spec.description,
                tuple(getattr(tool, "examples", ())),
                tool.spec.parameters,
            )
            for tool in tools
        ),
        variables=tuple(dict(variable) for variable in node.extraction_variables),
        passages=tuple(f"{passage.heading}\n{passage.text}".strip() for passage in passages),
        persona=render_template(persona, context),
        known_variables=tuple(dict(variable) for variable in known_variables),
        weekday=render_template("{{ current_weekday }}", context),
    )


def _condition_of(edge: Edge, context: Mapping[str, Any]) -> str:
    return render_template(edge.condition, context, max_filled=_MAX_VALUES_OF_CONDITION)


_KIND_WORDS = {
    "yes_no": ("yes", "no", "correct", "right", "confirm", "agree"),
    "digits": ("number", "digit", "code", "order", "phone", "pin", "zip"),
    "days": ("day", "date", "monday", "tuesday", "week", "tomorrow", "appointment"),
    "times": ("time", "hour", "morning", "afternoon", "clock"),
    "numbers": ("rate", "rating", "scale", "score", "how many", "from one to"),
}


# They are kept for every step of every agent that was called lately.
_MAX_EXPECTED_CHARS: Final = 100_000
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def split_sentences(text: str) -> list[str]:
    """Returns the sentences and lines of a text."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def agent_sentences(graph: WorkflowGraph) -> tuple[str, ...]:
    """Returns everything that an agent's author wrote, sentence by sentence: what its callers talk about."""
    texts: list[str] = [graph.global_prompt or ""]
    for node in graph.nodes.values():
        texts += [node.prompt, node.say or "", node.greeting or "", str(node.data.get("offline_say") or "")]
    for edge in (edge for node_id in graph.nodes for edge in graph.edges_from(node_id)):
        texts += [edge.label, edge.condition, *edge.examples]
    return tuple(dict.fromkeys(sentence for text in texts for sentence in split_sentences(text)))


def expected_sentences(graph: WorkflowGraph, topics: Sequence[str]) -> tuple[str, ...]:
    """Returns the sentences of an agent and then those of its documents, as many as a recognizer can expect."""
    left, kept = _MAX_EXPECTED_CHARS, []
    for sentence in (*agent_sentences(graph), *topics):
        left -= len(sentence)
        if left < 0:
            break
        kept.append(sentence)
    return tuple(kept)


def expectation_for(
    node: Node, edges: Sequence[Edge], sentences: tuple[str, ...] = (), languages: tuple[str, ...] = ()
) -> Expectation:
    """Returns what the caller is likely to say at this node: example phrases, labels and vocabularies.

    A node may name its vocabularies itself (``data.expects``: a list of yes_no, digits, days, times, numbers), and values
    that are said in several breaths (phone, card, birth_date, address, spelling); others are found in what it asks, in
    English or one of the ``languages`` (tags).
    """
    phrases: list[str] = []
    for edge in edges:
        phrases += [*edge.examples, edge.label]
    phrases += node.examples
    declared = node.data.get("expects")
    spoken = [node.prompt, node.say or "", node.greeting or "", str(node.data.get("offline_say") or "")]
    named = [str(variable.get(key) or "") for variable in node.extraction_variables for key in ("name", "prompt")]
    values = asked_kinds("\n".join([*spoken, *named]), languages)
    if isinstance(declared, list):
        kinds = [kind for kind in declared if kind in _KIND_WORDS or kind in VALUE_KINDS]
    else:
        asked = " ".join(
            spoken
            + [f"{edge.label} {edge.condition}" for edge in edges]
            + [f"{variable.get('name')} {variable.get('prompt')}" for variable in node.extraction_variables]
        ).lower()
        kinds = [kind for kind, words in _KIND_WORDS.items() if any(word in asked for word in words)]
    return Expectation(tuple(dict.fromkeys(phrases)), tuple(dict.fromkeys((*kinds, *values))), sentences)


def written_opening(node: Node, context: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Returns the sentence that opens a node and the recording of it, as far as its author wrote them."""
    if node.say is not None or node.say_recording is not None or node.kind != "startCall":
        return node.say, node.say_recording
    override = context.get("greeting_override")
    override = override if isinstance(override, dict) else {}
    text, recording = nonblank_text(override.get("text")), nonblank_text(override.get("recording_id"))
    return (node.greeting, node.greeting_recording) if text is None and recording is None else (text, recording)


def tools_named_by(node: Node) -> tuple[list[str], Mapping[str, Sequence[str]] | None]:
    """Returns the tools of a node, and which functions of MCP tools it has."""
    uuids, filters = node.data.get("tool_uuids"), node.data.get("mcp_tool_filters")
    names = [str(item) for item in uuids] if isinstance(uuids, list) else []
    return names, filters if isinstance(filters, Mapping) else None
