"""The data of a simulated callee before the phone rings: the agent's demo script and the edges of its questions.
Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class CallerMove:
    """One action of a callee. ``node`` binds it to a question (a node's id or name); otherwise it is the next in
    line."""

    kind: Literal["say", "press", "hang_up"]
    text: str = ""
    node: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptQuestion:
    """A node as the callee can answer it."""

    name: str
    phrases: tuple[str, ...] = ()
    digits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallScript:
    """``script`` is ``demo_caller`` of the workflow's definition; ``questions`` are its nodes by id."""

    script: tuple[CallerMove, ...] = ()
    questions: Mapping[str, ScriptQuestion] = field(default_factory=dict)


def read_script(definition: Mapping[str, Any]) -> CallScript:
    """Reads a definition and skips whatever does not fit, because a draft can hold anything."""
    script = definition.get("demo_caller")
    return CallScript(
        script=tuple(_read_moves(script)) if isinstance(script, list) else (),
        questions=dict(_read_questions(definition)),
    )


def _read_moves(script: list[Any]) -> Iterator[CallerMove]:
    for entry in script:
        if isinstance(entry, str) and entry.strip():
            yield CallerMove("say", entry.strip())
        elif isinstance(entry, Mapping):
            node = entry.get("node")
            node = node if isinstance(node, str) else None
            for kind in ("say", "press"):
                text = entry.get(kind)
                if isinstance(text, str) and text.strip():
                    yield CallerMove(kind, text.strip(), node)
            if entry.get("hang_up") is True:
                yield CallerMove("hang_up", node=node)


def _read_questions(definition: Mapping[str, Any]) -> Iterator[tuple[str, ScriptQuestion]]:
    phrases: dict[str, list[str]] = {}
    digits: dict[str, list[str]] = {}
    for edge in _iterate_objects(definition.get("edges")):
        source, data = edge.get("source"), edge.get("data")
        if not isinstance(source, str) or not isinstance(data, Mapping):
            continue
        examples = data.get("examples")
        known = [text for text in examples if isinstance(text, str)] if isinstance(examples, list) else []
        label = data.get("label")
        if not known and isinstance(label, str):
            known = [label]
        if isinstance(data.get("digits"), str):
            digits.setdefault(source, []).append(data["digits"])
        else:
            phrases.setdefault(source, []).extend(known[:1])
    for node in _iterate_objects(definition.get("nodes")):
        node_id, data = node.get("id"), node.get("data")
        if isinstance(node_id, str) and isinstance(data, Mapping):
            own = data.get("examples")
            answers = [text for text in own if isinstance(text, str)] if isinstance(own, list) else []
            yield (
                node_id,
                ScriptQuestion(
                    name=str(data.get("name") or ""),
                    phrases=tuple(answers[:1] + phrases.get(node_id, [])),
                    digits=tuple(digits.get(node_id, [])),
                ),
            )


def _iterate_objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, Mapping))
