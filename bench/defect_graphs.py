"""Graphs that nobody has drawn, by seed: a menu of topics, each with a question, a variable and two ends."""

import random
from collections.abc import Sequence
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.scenarios.engine.agent import ScenarioTool
from offhook.tools.definitions import read_definition

# (topic, what callers say, the question, its variable, the sentence of the good end)
TOPICS: Final = (
    ("billing", ("question about my bill", "the invoice is wrong"), "Which month is the bill from?", "bill_month",
     "I have opened a case for your bill. Goodbye!"),
    ("delivery", ("where is my parcel", "the delivery is late"), "What is the name on the parcel?", "parcel_name",
     "The courier brings your parcel this evening. Goodbye!"),
    ("repair", ("my heating is broken", "i need a repair"), "Which room is the broken heater in?", "heater_room",
     "A technician comes tomorrow morning. Goodbye!"),
    ("membership", ("cancel my membership", "i want to leave the club"), "Which club are you a member of?", "club_name",
     "Your membership ends with this month. Goodbye!"),
    ("lesson", ("book a piano lesson", "i want music lessons"), "Which instrument do you want to learn?", "instrument",
     "Your first lesson is on Thursday. Goodbye!"),
    ("insurance", ("i had a car accident", "report a damage"), "What kind of car is it?", "car_kind",
     "Your claim has been filed. Goodbye!"),
    ("flowers", ("order some flowers", "send a bouquet"), "Which flowers do you like?", "flower",
     "The bouquet is on its way. Goodbye!"),
    ("table", ("reserve a table for dinner", "a table please"), "Which dish do you look forward to?", "dish",
     "Your table is reserved. Goodbye!"),
    ("library", ("renew a library book", "extend my loan"), "What is the title of the book?", "book_title",
     "The book is renewed for two weeks. Goodbye!"),
    ("vaccine", ("get a flu vaccination", "i need a vaccine"), "Which country do you travel to?", "country",
     "We have noted the vaccination. Goodbye!"),
)  # fmt: skip


def generate_graph(seed: int) -> tuple[str, JsonObject, list[ScenarioTool]]:
    """Returns the name, the definition and the tools of a graph: three to six topics, some with a tool."""
    chance = random.Random(seed)
    return _build_graph(seed, chance.sample(TOPICS, chance.randint(3, 6)), chance)


def generate_large_graph(seed: int) -> tuple[str, JsonObject, list[ScenarioTool]]:
    """Returns a graph of 100 nodes: 33 topics behind one menu."""
    repeated = [
        (f"{topic}{number}", tuple(f"{phrase} {number}" for phrase in phrases), *rest)
        for number in range(4)
        for topic, phrases, *rest in TOPICS
    ]
    return _build_graph(seed, repeated[:33], random.Random(seed))


def _build_graph(seed: int, chosen: Sequence[Any], chance: random.Random) -> tuple[str, JsonObject, list[ScenarioTool]]:
    menu = ", ".join(topic for topic, *_ in chosen[:-1]) + f" or {chosen[-1][0]}"
    greeting = f"Hello {{{{ first_name | there }}}}, this is the service desk number {seed}. Is it about {menu}?"
    nodes: list[JsonObject] = [
        _node("start", "startCall", "Greeting", prompt=f"Find out what it is about: {menu}.", greeting=greeting)
    ]
    edges: list[JsonObject] = []
    tools: list[ScenarioTool] = []
    for number, (topic, phrases, question, variable, sentence) in enumerate(chosen, start=1):
        tool_name = f"{topic}_status" if chance.random() < 0.5 else None
        lookup = f"First look the case up with {tool_name}. " if tool_name is not None else ""
        ask = _node(
            f"ask_{topic}",
            "agentNode",
            f"About {topic}",
            prompt=f"Ask about the {topic}: {question} Keep it as the {variable.replace('_', ' ')}.",
            offline_say=question,
            extraction_enabled=True,
            extraction_variables=[{"name": variable, "type": "string", "prompt": f"The answer about the {topic}."}],
        )
        confirm = _node(
            f"confirm_{topic}",
            "agentNode",
            f"Confirm {topic}",
            prompt=f"{lookup}Repeat the {variable.replace('_', ' ')} to {{{{ first_name | the caller }}}} and ask whether the "
            f"{topic} is right.",
            tool_uuids=[tool_name] if tool_name is not None else [],
            offline_say=f"You said {{{{ {variable} }}}} for the {topic}. Is that right?",
        )
        done = _node(f"done_{topic}", "endCall", f"Done {topic}", prompt=f"Close the {topic} case.", say=sentence)
        if tool_name is not None:
            tools.append(_status_tool(tool_name))
        nodes += [ask, confirm, done]
        edges += [
            _edge("start", ask, topic, f"The caller asks about {topic}.", phrases, digits=str(number)),
            _edge(ask, confirm, f"{topic} answered", "The caller has answered the question.", ()),
            _edge(confirm, done, f"{topic} right", "The caller says yes.", ("yes", "that is right")),
            _edge(confirm, ask, f"{topic} wrong", "The caller says no.", ("no", "that is wrong")),
        ]
    return f"generated-{seed}", {"nodes": list(nodes), "edges": list(edges)}, tools


def _status_tool(name: str) -> ScenarioTool:
    config = {"url": "https://example.com/status", "method": "GET"}
    return ScenarioTool(name, name, "Where the case is.", read_definition({"type": "http_api", "config": config}))


def _node(node_id: str, kind: str, name: str, **data: Any) -> JsonObject:
    return {"id": node_id, "type": kind, "position": {"x": 0, "y": 0}, "data": {"name": name, **data}}


def _edge(
    source: str | JsonObject, target: JsonObject, label: str, condition: str, examples: tuple[str, ...], **data: Any
) -> JsonObject:
    start = source if isinstance(source, str) else str(source["id"])
    said: JsonObject = {"label": label, "condition": condition, "examples": list(examples), **data}
    return {"id": f"{start}-{target['id']}", "source": start, "target": str(target["id"]), "data": said}
