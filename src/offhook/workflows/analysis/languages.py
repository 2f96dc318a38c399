"""Finds fixed phrases that are said in another language than the agent's own."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from offhook.models.configuration.agent_languages import agent_languages
from offhook.workflows.analysis.findings import GraphFinding
from offhook.workflows.graph import WorkflowGraph
from offhook.workflows.validation.issues import IssueKind

MIN_WORDS: Final = 25
# English sentences have a third and more of these; other languages share a few of the short ones.
MIN_ENGLISH_SHARE: Final = 0.12
# Languages in which every phrase exists (voice/dialog/phrases.json).
PHRASE_LANGUAGES: Final = ("en", "es", "fr", "de", "pt", "ru", "hi", "ar", "ja", "zh")
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
    """``phrase_names``: the settings of what a call says without asking a model; their defaults are in the
    language of the calls where there are any, else in English."""
    yield from _untranslated(graph, configurations, phrase_names)
    if spoken_language(configurations) in PHRASE_LANGUAGES[1:]:
        return
    given = configurations.get("phrases")
    given = given if isinstance(given, Mapping) else {}
    missing = [name for name in phrase_names if not (isinstance(own := given.get(name), str) and own.strip())]
    if missing and speaks_another_language(graph):
        for name in missing:
            field = f"workflow_configurations.phrases.{name}"
            message = f"This agent does not speak English, and its phrase “{name}” is not translated: choose the language of its calls, or enter a phrase"
            yield GraphFinding("workflow", None, field, "sentence_not_translated", "warning", message)


def spoken_language(configurations: Mapping[str, Any]) -> str:
    """Returns the language that an agent's calls begin in, without its region; "" where the agent does not choose it."""
    for tag in other_languages(configurations, from_index=0):
        return tag.partition("-")[0].lower()
    part: Any = configurations
    for key in ("models", "stt", "language"):
        part = part.get(key) if isinstance(part, Mapping) else None
    return part.partition("-")[0].lower() if isinstance(part, str) else ""


def other_languages(configurations: Mapping[str, Any], *, from_index: int = 1) -> list[str]:
    """Returns the languages that an agent's calls may change to."""
    return list(agent_languages(configurations))[from_index:]


def _untranslated(
    graph: WorkflowGraph, configurations: Mapping[str, Any], phrase_names: Sequence[str]
) -> Iterator[GraphFinding]:
    """Yields the fixed sentences and phrases that an agent does not have in each of its further languages."""
    disclosure = configurations.get("disclosure")
    texts: list[tuple[IssueKind, str | None, str, Any]] = [
        ("workflow", None, "disclosure", disclosure.get("text") if isinstance(disclosure, Mapping) else None)
    ]
    texts += [
        ("node", node.id, f"data.{field}", node.data.get(field))
        for node in graph.nodes.values()
        for field in ("greeting", "say")
    ]
    texts += [
        ("edge", edge.id, "data.transition_speech", edge.transition_speech)
        for node_id in graph.nodes
        for edge in graph.edges_from(node_id)
    ]
    for tag, entry in list(agent_languages(configurations).items())[1:]:
        given = entry.get("translations")
        known = {str(text).strip() for text in given} if isinstance(given, Mapping) else set()
        for kind, item_id, field, text in texts:
            if isinstance(text, str) and text.strip() and text.strip() not in known:
                message = f"Callers who speak {tag} hear this sentence untranslated: “{text.strip():.60}”"
                yield GraphFinding(kind, item_id, field, "sentence_not_translated", "warning", message)
        own = entry.get("phrases")
        own = own if isinstance(own, Mapping) else {}
        for name in phrase_names if tag.partition("-")[0].lower() not in PHRASE_LANGUAGES else ():
            if not own.get(name):
                message = f"Callers who speak {tag} hear the phrase “{name}” in English"
                field = "workflow_configurations.languages"
                yield GraphFinding("workflow", None, field, "sentence_not_translated", "warning", message)


def speaks_another_language(graph: WorkflowGraph) -> bool:
    """Returns whether what the agent says word for word is not English; False where that is too little to tell."""
    texts = [
        str(node.data.get(field) or "") for node in graph.nodes.values() for field in ("say", "greeting", "offline_say")
    ]
    words = _WORD.findall(_SLOT.sub(" ", " ".join(texts)).casefold())
    return len(words) >= MIN_WORDS and sum(word in _ENGLISH for word in words) < MIN_ENGLISH_SHARE * len(words)
