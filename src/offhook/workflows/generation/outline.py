"""A workflow's outline (steps and edges), the definition built from it, and rules that write simple ones. Pure."""

import re
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.workflows.nodes import KINDS

MAX_STEPS: Final = 6
_COLUMN, _ROW = 380, 240
_BULLET: Final = re.compile(r"^\s*(?:[-*•\u2013]|\d{1,2}[.)])\s+")
_BREAK: Final = re.compile(r"[\n;]+|(?<=[.!?])\s+|,?\s+(?:and then|then|after that|finally)\s+", re.IGNORECASE)
_ASK_FOR: Final = re.compile(
    r"^(?:please\s+)?(?:ask|find out|collect|get|request|take|note|record|confirm|check|verify)\s+"
    r"(?:(?:them|the \w+|each \w+)\s+)?(?:for|about)?\s*(.+)$",
    re.IGNORECASE,
)
_WHETHER: Final = re.compile(r"\b(?:whether|if)\s+(.+)$", re.IGNORECASE)
_YOUR: Final = re.compile(
    r"\b(?:the (?:caller|customer|user|client|patient|contact|person)['\u2019]s|their|his|her)\b", re.IGNORECASE
)
_YOU: Final = re.compile(r"\b(?:the (?:caller|customer|user|client|patient|contact|person)|they)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+", re.UNICODE)
_SMALL: Final = frozenset(
    re.findall(r"\w+", "a an the of to for and or in on at is are be it its with by from if about whether")
)


@dataclass(frozen=True, slots=True)
class OutlineStep:
    """One step. ``data`` is the node's data without its position."""

    id: str
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OutlineEdge:
    source: str
    target: str
    label: str
    condition: str


@dataclass(frozen=True, slots=True)
class WorkflowOutline:
    steps: Sequence[OutlineStep]
    edges: Sequence[OutlineEdge]

    @classmethod
    def from_model_answer(cls, found: Mapping[str, Any]) -> "WorkflowOutline":
        """Parses a model's JSON ``{nodes, edges}``. Raises ValueError with one sentence on the defect."""
        steps = [
            OutlineStep(
                _require_text(node, "id"),
                _require_text(node, "type"),
                {key: node[key] for key in ("name", "prompt", "greeting") if _is_filled(node.get(key))},
            )
            for node in _require_objects(found, "nodes")
        ]
        ways = [
            OutlineEdge(
                _require_text(edge, "source"),
                _require_text(edge, "target"),
                _require_text(edge, "label"),
                _require_text(edge, "condition"),
            )
            for edge in _require_objects(found, "edges")
        ]
        return cls(steps, ways)


def definition_of(outline: WorkflowOutline) -> JsonObject:
    """Returns the definition with its nodes laid out: one row per step from the start."""
    places = _layout_nodes(outline)
    return {
        "nodes": [
            {"id": step.id, "type": step.kind, "position": places[step.id], "data": _declared_fields(step)}
            for step in outline.steps
        ],
        "edges": [
            {
                "id": f"{way.source}-{way.target}-{number}",
                "source": way.source,
                "target": way.target,
                "data": {"label": way.label, "condition": way.condition},
            }
            for number, way in enumerate(outline.edges, 1)
        ],
        "viewport": {"x": 0, "y": 0, "zoom": 1},
    }


def outline_by_rules(call_type: str, use_case: str, activity: str) -> WorkflowOutline:
    """Returns a line of steps, one per topic of the description, which the built-in model can follow."""
    tasks = [task for part in _BREAK.split(activity) if (task := _BULLET.sub("", part).strip(" .,:"))]
    tasks = tasks[:MAX_STEPS] or [use_case]
    greeting = (
        f"Hello, thank you for calling. I can help you with {_lower_first(use_case)}. Shall we begin?"
        if call_type == "inbound"
        else f"Hello, I am calling about {_lower_first(use_case)}. Do you have a moment?"
    )
    steps = [
        OutlineStep(
            "1", "startCall", {"name": "Greeting", "greeting": greeting, "prompt": f"Greet the person. {use_case}."}
        )
    ]
    steps += [OutlineStep(str(number), "agentNode", _task_data(task)) for number, task in enumerate(tasks, 2)]
    last = str(len(steps) + 1)
    goodbye = {"name": "Goodbye", "prompt": "Thank the person and say goodbye.", "offline_say": "Thank you, goodbye."}
    steps.append(OutlineStep(last, "endCall", goodbye))
    ways = [OutlineEdge("1", "2", "Begin", "The person has answered and wants to go on")]
    ways += [OutlineEdge(str(n), str(n + 1), "Go on", "The person has answered") for n in range(2, int(last))]
    ways.append(OutlineEdge("1", last, "Not now", "The person does not want to talk, or has no time"))
    steps.append(OutlineStep(str(int(last) + 1), "globalNode", {"name": "Role", "prompt": f"{use_case}. {activity}"}))
    return WorkflowOutline(steps, ways)


def _task_data(task: str) -> JsonObject:
    asked = _ASK_FOR.match(task)
    data: JsonObject = {"name": _task_title(task), "prompt": task[0].upper() + task[1:] + "."}
    if asked is None:
        return {**data, "offline_say": f"{data['prompt']} Is that all right?"}
    thing = _YOU.sub("you", _YOUR.sub("your", asked[1]))
    whether = _WHETHER.search(thing)
    question = f"May I ask whether {whether[1]}?" if whether else f"Could you tell me {thing}?"
    variable: JsonObject = {
        "name": _variable_name(thing),
        "type": "boolean" if whether else "string",
        "prompt": task,
    }
    return {**data, "offline_say": question, "extraction_enabled": True, "extraction_variables": [variable]}


def _task_title(text: str) -> str:
    words = [word for word in _WORD.findall(text) if word.lower() not in _SMALL][:4]
    return " ".join(words).capitalize()[:60] or "Step"


def _variable_name(text: str) -> str:
    words = [word.lower() for word in _WORD.findall(text) if word.lower() not in _SMALL | {"your", "you"}][:4]
    return re.sub(r"[^a-z0-9_]", "", "_".join(words))[:60] or "answer"


def _lower_first(text: str) -> str:
    """Lowers the first letter, unless the word is an abbreviation."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def _layout_nodes(outline: WorkflowOutline) -> dict[str, JsonObject]:
    targets: dict[str, list[str]] = defaultdict(list)
    for way in outline.edges:
        targets[way.source].append(way.target)
    start = next((step.id for step in outline.steps if step.kind == "startCall"), None)
    rows: dict[str, int] = {} if start is None else {start: 0}
    waiting = deque(rows)
    while waiting:
        here = waiting.popleft()
        for target in targets[here]:
            if target not in rows:
                rows[target] = rows[here] + 1
                waiting.append(target)
    taken: dict[int, int] = defaultdict(int)
    places: dict[str, JsonObject] = {}
    for step in outline.steps:
        row = rows.get(step.id, -1)  # nodes without an incoming edge go on top
        places[step.id] = {"x": taken[row] * _COLUMN, "y": row * _ROW}
        taken[row] += 1
    return places


def _declared_fields(step: OutlineStep) -> JsonObject:
    """Keeps only fields of the node's kind: a model may put a greeting anywhere."""
    if step.kind not in KINDS:
        return dict(step.data)
    names = {spec.name for spec in KINDS[step.kind].spec.properties}
    return {key: value for key, value in step.data.items() if key in names}


def _require_objects(found: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    items = found.get(name)
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise ValueError(f"{name} is not an array of objects.")
    return items


def _require_text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not _is_filled(value):
        raise ValueError(f"{key} is missing in {str(dict(item))[:200]}")
    return str(value)


def _is_filled(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
