"""Extracts variables in the background, when a node is left and at the end of the conversation."""

import asyncio
import json
from collections.abc import Collection, Sequence
from typing import Final

from offhook.kit.json_values import JsonObject, JsonValue, parse_json
from offhook.models.ports import EdgeHint, LlmMessage, LlmRequest, NodeHint
from offhook.voice import events
from offhook.voice.call_inputs import current_inputs
from offhook.voice.dialog.llm_chain import Emit, LlmChain
from offhook.voice.errors import AllModelsFailed
from offhook.workflows.graph import Node, WorkflowGraph

INSTRUCTION = (
    "Read the conversation and answer with one JSON object. Use null for what was not said. Do not guess. {extra}"
)
_TYPES = {"string": "string", "number": "number", "boolean": "boolean"}
# A description in a caller's own words has some hundred characters. A model server that an organization chose sends as many
# as it likes, and the values are stored with every turn of a text chat.
MAX_VALUE_CHARS: Final = 10_000
MAX_VALUES_CHARS: Final = 60_000


class VariableExtractor:
    """``values`` holds what is known so far; a later node may correct an earlier value, but never with null."""

    def __init__(self, llm: LlmChain, emit: Emit, graph: WorkflowGraph) -> None:
        self._llm = llm
        self._emit = emit
        self._inputs = current_inputs()
        self._graph = graph
        self.values: JsonObject = {}
        # by name: a caller may correct at any node what another node asked for
        self._definitions = {
            variable["name"]: dict(variable)
            for node in graph.nodes.values()
            if node.extraction_enabled
            for variable in node.extraction_variables
            if isinstance(variable.get("name"), str)
        }
        self._tasks: dict[asyncio.Task[None], frozenset[str]] = {}

    @property
    def known_variables(self) -> tuple[JsonObject, ...]:
        """The definitions of the variables that have a value."""
        return tuple(variable for name, variable in self._definitions.items() if self.values.get(name) is not None)

    def start_extraction(self, node: Node, history: Sequence[LlmMessage]) -> None:
        """Starts extracting this node's variables; returns immediately."""
        if node.extraction_enabled and node.extraction_variables:
            task = asyncio.create_task(self._extract_variables(node, list(history)))
            names = (str(variable.get("name")) for variable in node.extraction_variables)
            self._tasks[task] = frozenset((*names, *self.values))
            task.add_done_callback(lambda done: self._tasks.pop(done, None))

    async def wait_for(self, names: Collection[str], timeout_s: float) -> None:
        """Waits for running extractions that may set one of these names; returns immediately if there are none."""
        wanted = [task for task, brings in self._tasks.items() if not brings.isdisjoint(names)]
        if wanted:
            await asyncio.wait(wanted, timeout=timeout_s)
            await self._inputs.resumed("extracted")

    async def wait_or_cancel(self, timeout_s: float) -> None:
        if self._tasks:
            _, late = await asyncio.wait(list(self._tasks), timeout=timeout_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
            await self._inputs.resumed("settled")

    async def _extract_variables(self, node: Node, history: list[LlmMessage]) -> None:
        await self._inputs.resumed("extract")
        variables = [v for v in node.extraction_variables if isinstance(v.get("name"), str)]
        own = {v["name"] for v in variables}
        known = [variable for name, variable in self._definitions.items() if name in self.values and name not in own]
        schema = {
            "type": "object",
            "properties": {
                v["name"]: {
                    "type": [_TYPES.get(str(v.get("type")), "string"), "null"],
                    "description": str(v.get("prompt") or v["name"]),
                }
                for v in variables
            },
            "required": [v["name"] for v in variables],
            "additionalProperties": False,
        }
        spoken = "\n".join(
            f"{'Caller' if m.role == 'user' else 'Agent'}: {m.content}"
            for m in history
            if m.role in ("user", "assistant") and m.content
        )
        request = LlmRequest(
            messages=[
                LlmMessage("system", INSTRUCTION.format(extra=node.extraction_prompt)),
                LlmMessage("user", spoken),
            ],
            temperature=0.0,
            response_schema=schema,
            hint=NodeHint(
                node.id, node.name, node.kind, node.prompt, False,
                variables=tuple(map(dict, variables)),
                known_variables=tuple(known),
                edges=tuple(
                    EdgeHint(edge.tool_name, edge.label, edge.condition, edge.examples)
                    for edge in self._graph.edges_from(node.id)
                ),
            ),
        )  # fmt: skip
        names = {v["name"] for v in (*variables, *known)}
        try:
            values = _parse_values(await self._llm.complete_text(request), names)
        except AllModelsFailed:
            return
        fitting = self._fitting(values)
        self.values.update(fitting)
        if fitting:
            self._emit(events.VARIABLES_EXTRACTED, {"node_id": node.id, "values": fitting})
        if left_out := [name for name in values if name not in fitting]:
            self._emit(events.VALUES_LEFT_OUT, {"node_id": node.id, "names": left_out})

    def _fitting(self, found: JsonObject) -> JsonObject:
        """Returns the values of a usual length, as far as there is room beside those that are known already."""
        room = MAX_VALUES_CHARS - sum(_length(value) for name, value in self.values.items() if name not in found)
        fitting: JsonObject = {}
        for name, value in found.items():
            length = _length(value)
            if length <= min(MAX_VALUE_CHARS, room):
                fitting[name] = value
                room -= length
        return fitting


def _length(value: JsonValue) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def _parse_values(text: str, names: set[str]) -> JsonObject:
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return {}
    try:
        found = parse_json(text[start : end + 1])
    except ValueError:
        return {}
    return {k: v for k, v in found.items() if k in names and v is not None} if isinstance(found, dict) else {}
