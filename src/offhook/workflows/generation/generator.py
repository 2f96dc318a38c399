"""Generates a workflow from a description, with the organization's language model or, without one, by rules."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from offhook.kit.json_values import JsonObject
from offhook.models.ports import Llm, LlmMessage, LlmRequest, ModelError, TextDelta
from offhook.workflows.errors import GenerationFailed, GenerationTimedOut
from offhook.workflows.generation.outline import WorkflowOutline, definition_of, outline_by_rules
from offhook.workflows.validation import validate_definition

GENERATION_TIMEOUT_S: Final = 120.0
_MAX_ATTEMPTS: Final = 2
_MAX_REPORTED_ERRORS: Final = 20


def _objects_of(*names: str) -> JsonObject:
    item: JsonObject = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": list(names),
        "additionalProperties": False,
    }
    return {"type": "array", "items": item}


SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "nodes": _objects_of("id", "type", "name", "greeting", "prompt"),
        "edges": _objects_of("source", "target", "label", "condition"),
    },
    "required": ["nodes", "edges"],
    "additionalProperties": False,
}
INSTRUCTIONS: Final = """\
You design voice agents that talk on the telephone. An agent is a graph. Answer with one JSON object and nothing else:
{"nodes": [{"id": "1", "type": "startCall", "name": "Greeting", "greeting": "Hello, …", "prompt": "…"}, …],
 "edges": [{"source": "1", "target": "2", "label": "Wants an appointment", "condition": "The caller …"}, …]}
Types of nodes:
- startCall: exactly one, nothing leads into it. greeting: its first spoken sentence. prompt: what it does next.
- agentNode: one task each, between three and eight of them. prompt: the task, as an instruction to the agent.
- endCall: at least one, nothing leads out of it. prompt: how to say goodbye.
- globalNode: at most one, without edges. prompt: who the agent is, its tone, what it must never do.
greeting is an empty string for every type but startCall. Every node can be reached from the start and leads to an end.
The labels of edges that leave one node differ. A condition says what the caller said or did, so that the agent can tell
when to go on. Write in the language of the description."""


@dataclass(frozen=True, slots=True)
class AgentBrief:
    """The purpose of an agent. ``call_type`` is inbound or outbound."""

    call_type: str
    use_case: str
    activity: str

    @property
    def workflow_name(self) -> str:
        """Returns a workflow name of at most 200 characters."""
        kind = f" - {self.call_type.upper()}"
        return self.use_case[: 200 - len(kind)] + kind


async def write_definition(llm: Llm, brief: AgentBrief) -> JsonObject:
    """Returns a definition that passes validation. Raises GenerationFailed (502, with the reason) when the model fails
    twice or its vendor fails; GenerationTimedOut (504).
    """
    if llm.model_ref.provider == "builtin":
        return definition_of(outline_by_rules(brief.call_type, brief.use_case, brief.activity))
    who = "is called by customers" if brief.call_type == "inbound" else "calls customers"
    description = f"The agent {who}. Use case: {brief.use_case}\n\nWhat it does:\n{brief.activity}"
    messages = [LlmMessage("system", INSTRUCTIONS), LlmMessage("user", description)]
    problems: list[str] = []
    for _ in range(_MAX_ATTEMPTS):
        text = await _ask_model(llm, messages)
        definition, problems = await asyncio.to_thread(_parse_answer, text)
        if not problems:
            return definition
        report = "\n".join(problems[:_MAX_REPORTED_ERRORS])
        messages += [
            LlmMessage("assistant", text),
            LlmMessage("user", f"This cannot be used. Write it again:\n{report}"),
        ]
    raise GenerationFailed(f"The language model did not generate a valid workflow: {problems[0]}")


async def _ask_model(llm: Llm, messages: Sequence[LlmMessage]) -> str:
    request = LlmRequest(messages=list(messages), response_schema=SCHEMA)
    try:
        async with asyncio.timeout(GENERATION_TIMEOUT_S):
            pieces = [event.text async for event in llm.stream(request) if isinstance(event, TextDelta)]
    except ModelError as error:
        raise GenerationFailed(f"The language model failed: {error}") from error
    except TimeoutError as error:
        raise GenerationTimedOut from error
    return "".join(pieces)


def _parse_answer(text: str) -> tuple[JsonObject, list[str]]:
    """Parses an answer: ``(definition, problems)``; the definition is valid only without problems."""
    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1]) if start >= 0 else None
    except ValueError:
        found = None
    if not isinstance(found, Mapping):
        return {}, ["The answer is not one JSON object."]
    try:
        definition = definition_of(WorkflowOutline.from_model_answer(found))
    except ValueError as wrong:
        return {}, [str(wrong)]
    report = validate_definition(definition)
    return definition, [f"{issue.kind} {issue.id or ''} {issue.message}".strip() for issue in report.errors]
