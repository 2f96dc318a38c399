"""Finds fixed phrases that stay English in an agent that speaks another language."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from offhook.workflows.analysis.findings import GraphFinding
from offhook.workflows.graph import WorkflowGraph

MIN_WORDS: Final = 25
# English sentences have a third and more of these; other languages share a few of the short ones.
MIN_ENGLISH_SHARE: Final = 0.12
_WORD: Final = re.compile(r"[^\W\d_]+")
_SLOT: Final = re.compile(r"\{\{[^{}]*\}\}")
_ENGLISH_WORDS: Final = """
    the and you your to of is are for that this with we our have has will can what when which how please thank would
    like there it be at on or not from hello goodbye
"""
_ENGLISH: Final = frozenset(_ENGLISH_WORDS.split())


def language_findings(
    graph: WorkflowGraph, configurations: Mapping[str, Any], phrase_names: Sequence[str]
) -> Iterator[GraphFinding]:
    """``phrase_names``: the settings of what a call says without asking a model; their defaults are English."""
    given = configurations.get("phrases")
    given = given if isinstance(given, Mapping) else {}
    missing = [name for name in phrase_names if not (isinstance(own := given.get(name), str) and own.strip())]
    if missing and speaks_another_language(graph):
        for name in missing:
            field = f"workflow_configurations.phrases.{name}"
            message = f"This agent does not speak English, and its phrase “{name}” is not translated"
            yield GraphFinding("workflow", None, field, "sentence_not_translated", "warning", message)


def speaks_another_language(graph: WorkflowGraph) -> bool:
    """Returns whether what the agent says word for word is not English; False where that is too little to tell."""
    texts = [
        str(node.data.get(field) or "") for node in graph.nodes.values() for field in ("say", "greeting", "offline_say")
    ]
    words = _WORD.findall(_SLOT.sub(" ", " ".join(texts)).casefold())
    return len(words) >= MIN_WORDS and sum(word in _ENGLISH for word in words) < MIN_ENGLISH_SHARE * len(words)
