"""Finds two steps whose prompts fit each other's surroundings better than their own: most likely they were swapped."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from offhook.workflows.analysis.findings import GraphFinding
from offhook.workflows.graph import Edge, Node, WorkflowGraph
from offhook.workflows.nodes import KINDS

# The least by which two prompts must fit better when swapped; prompts of neighbors share words.
MIN_LEAD: Final = 0.12
# Each of the two must fit the other's place by so much more than its own, and by so many words: a prompt that fits
# nowhere says nothing about where it belongs, and one word in common is chance.
MIN_LEAD_OF_EACH: Final = 0.03
MIN_COMMON_WORDS: Final = 2
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_ENDINGS: Final = ("ing", "ed", "es", "s")
_COMMON_WORDS: Final = """
    the and for that this with you your they them are has have was were will would can could should what when where
    which who how why not but from about into out ask asks tell say says caller callers call step then than any all one
    two sentence sentences after before whether there their want wants
"""
_COMMON: Final = frozenset(_COMMON_WORDS.split())

Weights = Mapping[str, float]


def prompt_fit_findings(graph: WorkflowGraph) -> Iterator[GraphFinding]:
    nodes = [node for node in graph.nodes.values() if node.kind in KINDS and KINDS[node.kind].is_conversational]
    nodes = [node for node in nodes if node.prompt]
    incoming: dict[str, list[Edge]] = {}
    for group in graph.edges.values():
        for edge in group:
            incoming.setdefault(edge.target, []).append(edge)
    prompts = [_count_words([node.prompt]) for node in nodes]
    places = [_count_words(_surroundings(node, graph, incoming.get(node.id, ()))) for node in nodes]
    spread = Counter(word for words in (*prompts, *places) for word in words)
    weighted_prompts = [_weigh(words, spread, 2 * len(nodes)) for words in prompts]
    weighted_places = [_weigh(words, spread, 2 * len(nodes)) for words in places]
    own = [_similarity(prompt, place) for prompt, place in zip(weighted_prompts, weighted_places, strict=True)]
    for one, other in combinations(range(len(nodes)), 2):
        there = _similarity(weighted_prompts[one], weighted_places[other])
        here = _similarity(weighted_prompts[other], weighted_places[one])
        leads = (there - own[one], here - own[other])
        is_better = min(leads) >= MIN_LEAD_OF_EACH and sum(leads) >= MIN_LEAD
        common = (prompts[one].keys() & places[other].keys(), prompts[other].keys() & places[one].keys())
        if is_better and min(map(len, common)) >= MIN_COMMON_WORDS:
            message = (
                f"The prompts of “{nodes[one].name}” and “{nodes[other].name}” may be swapped: each fits the name, "
                "sentences, and transitions of the other step better than its own."
            )
            for node in (nodes[one], nodes[other]):
                yield GraphFinding("node", node.id, "data.prompt", "prompt_contradicts_edges", "warning", message)


def _surroundings(node: Node, graph: WorkflowGraph, incoming: Sequence[Edge]) -> list[str]:
    texts = [node.name, node.say or "", node.greeting or "", str(node.data.get("offline_say") or "")]
    texts += [f"{variable['name']} {variable.get('prompt') or ''}" for variable in node.extraction_variables]
    for edge in graph.edges_from(node.id):
        texts += [edge.label, edge.condition]
    for edge in incoming:
        texts += [edge.label, edge.condition]
    return [*texts, *node.examples, *node.tool_uuids]


def _count_words(texts: Sequence[str]) -> Counter[str]:
    words = (word for text in texts for word in _WORD.findall(text.casefold().replace("_", " ")))
    return Counter(_stem(word) for word in words if word not in _COMMON)


def _stem(word: str) -> str:
    ending = next((ending for ending in _ENDINGS if word.endswith(ending) and len(word) - len(ending) >= 3), "")
    return word[: len(word) - len(ending)]


def _weigh(words: Counter[str], spread: Counter[str], documents: int) -> dict[str, float]:
    """Returns a vector of length 1, in which words that few texts have weigh more."""
    weights = {word: math.sqrt(count) * math.log(1 + documents / spread[word]) for word, count in words.items()}
    length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
    return {word: weight / length for word, weight in weights.items()}


def _similarity(one: Weights, other: Weights) -> float:
    if len(one) > len(other):
        one, other = other, one
    return sum(weight * other[word] for word, weight in one.items() if word in other)
