"""Shortens steps for the offline agent: authors can write a megabyte, and each turn reads it in the loop that carries all
calls. Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from offhook.models.ports import EdgeHint, NodeHint, ToolHint
from offhook.models.providers.builtin.abilities import MAX_EDGE_CHARS, MAX_PROMPT_CHARS, count_edge_chars

MIN_CHARS_OF_EDGE: Final = 40
# For all tools with their parameters, and for all variables: far more than authors write.
MAX_TOOL_CHARS: Final = 40_000
MAX_VARIABLE_CHARS: Final = 40_000
MAX_VARIABLES: Final = 400


def fit_hint(hint: NodeHint) -> NodeHint:
    """Returns the step with everything that is too long cut to its beginning."""
    return replace(
        hint,
        prompt=_shorten_text(hint.prompt),
        persona=_shorten_text(hint.persona),
        edges=fit_edges(hint.edges),
        tools=_fit_tools(hint.tools),
        variables=_fit_variables(hint.variables),
        known_variables=_fit_variables(hint.known_variables),
    )


def fit_edges(edges: tuple[EdgeHint, ...]) -> tuple[EdgeHint, ...]:
    """Returns the edges; if they are too long in total, long ones are cut to their beginnings."""
    lengths = [count_edge_chars(edge.label, edge.condition, edge.examples) for edge in edges]
    if sum(lengths) <= MAX_EDGE_CHARS:
        return edges
    share = max(MIN_CHARS_OF_EDGE, MAX_EDGE_CHARS // len(edges))
    return tuple(
        edge if length <= share else _shorten_edge(edge, share) for edge, length in zip(edges, lengths, strict=True)
    )


def _shorten_edge(edge: EdgeHint, share: int) -> EdgeHint:
    label = edge.label[: share // 2]
    condition = edge.condition[: (share - len(label)) // 2]
    left, examples = share - len(label) - len(condition), list[str]()
    for example in edge.examples:
        left -= len(example)
        if left < 0:
            break
        examples.append(example)
    return replace(edge, label=label, condition=condition, examples=tuple(examples))


def fit_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the schema with as many of its first properties as fit."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return schema
    fitting = _fit_variables(tuple({"name": name, "described": described} for name, described in properties.items()))
    return {**schema, "properties": {one["name"]: one["described"] for one in fitting}}


def _shorten_text(text: str) -> str:
    return text if len(text) <= MAX_PROMPT_CHARS else text[:MAX_PROMPT_CHARS]


def _fit_tools(tools: tuple[ToolHint, ...]) -> tuple[ToolHint, ...]:
    """Returns as many of the first tools as fit: half a tool says nothing about its arguments."""
    left, fitting = MAX_TOOL_CHARS, list[ToolHint]()
    for tool in tools:
        left -= _count_chars((tool.name, tool.description, tool.examples, tool.parameters), left)
        if left < 0:
            break
        fitting.append(tool)
    return tools if len(fitting) == len(tools) else tuple(fitting)


def _fit_variables(variables: tuple[Mapping[str, Any], ...]) -> tuple[Mapping[str, Any], ...]:
    left, fitting = MAX_VARIABLE_CHARS, list[Mapping[str, Any]]()
    for variable in variables[:MAX_VARIABLES]:
        left -= _count_chars(variable, left)
        if left < 0:
            break
        fitting.append(variable)
    return variables if len(fitting) == len(variables) else tuple(fitting)


def _count_chars(value: object, enough: int) -> int:
    """Returns the number of characters in a value's texts and names; stops counting above ``enough``."""
    waiting, count = [value], 0
    while waiting and count <= enough:
        one = waiting.pop()
        count += len(one) if isinstance(one, str) else 1
        if isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, Iterable) and not isinstance(one, str):
            waiting += one
    return count
