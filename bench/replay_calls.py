"""Calls of the lab with their journals, and changes of their agent whose turn is known: seeded, on virtual time."""

import copy
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final

from tests.fakes.scripted import Reply, ScriptedLlm, calls, says, takes
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.phone import agent_graph, edge, node
from tests.voice.recorded_phone import RecordedPhoneCall

from offhook.models.ports import LlmEvent, LlmRequest
from offhook.voice import events

QUESTIONS: Final = ("when do you open", "do you deliver", "how much is it", "i need a table", "is it vegan")
ANSWERS: Final = (
    "We open at nine in the morning.",
    "Yes, we deliver within the city, every day of the week but Sunday, until ten in the evening.",
    "It is twelve dollars, and fourteen with salad.",
    "Let me see what we have.",
)
GREETING: Final = "Hello {{ customer }}, how can I help?"


@dataclass(frozen=True, slots=True)
class Request:
    """A question to the model as the call asked it: in which turn and step."""

    turn: int
    node_id: str


@dataclass(eq=False)
class WatchedLlm(ScriptedLlm):
    """Notes where the call is when it asks."""

    call: "LabCall | None" = None
    asked: list[Request] = field(default_factory=list)

    def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        assert self.call is not None
        self.asked.append(Request(*self.call.place()))
        return super().stream(request)


@dataclass
class LabCall(RecordedPhoneCall):
    """A call to a small shop."""

    llm: WatchedLlm = field(default_factory=lambda: WatchedLlm(()))

    def place(self) -> tuple[int, str]:
        """Returns the turn and the step that the call is in."""
        entered = self.sink.of(events.NODE_ENTERED)
        return len(self.sink.of(events.CALLER_SAID)), str(entered[-1]["node_id"]) if entered else ""

    def turn_of(self, kind: str, **data: Any) -> int | None:
        """Returns the turn of an event; None for one that never came."""
        turn = 0
        for event in self.sink.events:
            turn += event.type == events.CALLER_SAID
            if event.type == kind and all(event.data.get(name) == value for name, value in data.items()):
                return turn
        return None

    def turn_asked(self, *node_ids: str) -> int | None:
        """Returns the turn in which the model was first asked in one of these steps."""
        return next((asked.turn for asked in self.llm.asked if asked.node_id in node_ids), None)


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A change of the agent: ``definition`` and ``context`` are the other ones, ``turn`` is the first that shows it."""

    kind: str
    turn: int
    definition: dict[str, Any]
    context: dict[str, Any]


def shop() -> dict[str, Any]:
    return agent_graph(
        node(
            "start",
            "startCall",
            prompt="Answer questions of {{ customer }}.",
            greeting=GREETING,
            allow_interrupt=True,
            tool_uuids=["lookup"],
        ),
        node("order", "agentNode", prompt="Take an order of {{ product }}.", tool_uuids=["book"], allow_interrupt=True),
        node("help", "agentNode", prompt="Connect the caller with a person."),
        node("end", "endCall", prompt="Say goodbye.", say="Thank you, goodbye."),
        edge("start", "order", "Order", "the caller orders"),
        edge("start", "help", "Person", "the caller wants a person"),
        edge("order", "end", "Bought", "the order is complete"),
        edge("start", "end", "Done", "the caller is done"),
    )


def make_call(seed: int) -> LabCall:
    """Returns a call that is over: questions, an order or none, with interruptions, noises, keys and silences."""
    chance = random.Random(f"replay/{seed}")
    script: list[Reply] = []
    call = LabCall(
        shop(), tools=Tools(ScriptedTool("lookup", {"price": 12}, takes_s=chance.uniform(0.1, 2)), _booking(chance))
    )
    call.context = {"customer": "Ada", "product": chance.choice(("tea", "coffee")), "direction": "inbound"}
    call.configurations = {"max_user_idle_timeout": chance.choice((3, 5, 10))}
    call.murmur = chance.choice((0.0, 0.0, 300.0))
    at = 2.5 + chance.random()
    for _ in range(chance.randint(1, 3)):
        if chance.random() < 0.3:
            script.append(calls("lookup", article=str(chance.randint(1, 99))))
        script.append(says(chance.choice(ANSWERS)))
        call.says(chance.choice(QUESTIONS), at=at)
        at = _go_on(call, chance, at)
    orders = chance.random() < 0.7
    script.append(takes("order" if orders else "done"))
    call.says("i would like to order" if orders else "thanks bye", at=at)
    at = _go_on(call, chance, at)
    if orders:
        script += [says("What would you like?"), calls("book"), says("It is booked."), takes("bought")]
        call.says("two of them please", at=at).says("no that is all", at=at + 6)
        at += 10
    call.hangs_up(at=at + chance.uniform(0, 4))
    call.llm = WatchedLlm(script, call=call)
    call.llms = [call.llm]
    return call.run()


def _booking(chance: random.Random) -> ScriptedTool:
    return (
        ScriptedTool("book", None, fails_with="It is sold out.")
        if chance.random() < 0.2
        else ScriptedTool("book", {"ok": True})
    )


def _go_on(call: LabCall, chance: random.Random, at: float) -> float:
    """Lets something happen before the caller speaks again, and returns when that is."""
    happens = chance.choice(("nothing", "nothing", "interrupts", "mumbles", "presses", "waits"))
    if happens == "interrupts":
        call.says("wait stop", at=at + chance.uniform(1.5, 3))
    elif happens == "mumbles":
        call.mumbles(at=at + chance.uniform(1, 3))
    elif happens == "presses":
        call.presses(str(chance.randint(0, 9)), at=at + chance.uniform(2, 4))
    return at + (9.0 if happens == "waits" else 5.0) + chance.random()


def plan_changes(call: LabCall) -> list[PlannedChange]:
    """Returns a change of each kind that this call comes across."""
    found = [
        _change(call, "changed_phrase", 0, say=("start", "greeting", "Hi {{ customer }}, what can I do?")),
        _change(
            call, "changed_phrase", call.turn_of(events.NODE_ENTERED, node_id="end"), say=("end", "say", "See you.")
        ),
        _change(
            call, "wrong_edge", call.turn_of(events.EDGE_TAKEN, edge_id="start-order"), edge=("start-order", "help")
        ),
        _change(call, "wrong_edge", call.turn_of(events.EDGE_TAKEN, edge_id="start-end"), edge=("start-end", "help")),
        _change(call, "dropped_tool", call.turn_asked("start"), say=("start", "tool_uuids", [])),
        _change(call, "dropped_tool", call.turn_asked("order"), say=("order", "tool_uuids", [])),
        _change(call, "swapped_prompt", call.turn_asked("start", "order"), swap=("start", "order")),
        _change(call, "swapped_prompt", call.turn_asked("order"), swap=("order", "help")),
        _change(call, "lost_variable", 0, loses="customer"),
        _change(call, "lost_variable", call.turn_asked("order"), loses="product"),
    ]
    return [change for change in found if change is not None]


def _change(
    call: LabCall,
    kind: str,
    turn: int | None,
    *,
    say: tuple[str, str, Any] | None = None,
    edge: tuple[str, str] | None = None,
    swap: tuple[str, str] | None = None,
    loses: str | None = None,
) -> PlannedChange | None:
    if turn is None:
        return None
    raw: dict[str, Any] = copy.deepcopy(call.definition)
    nodes = {item["id"]: item["data"] for item in raw["nodes"]}
    if say is not None:
        nodes[say[0]][say[1]] = say[2]
    if edge is not None:
        next(item for item in raw["edges"] if item["id"] == edge[0])["target"] = edge[1]
    if swap is not None:
        first, second = nodes[swap[0]], nodes[swap[1]]
        first["prompt"], second["prompt"] = second["prompt"], first["prompt"]
    kept = {name: value for name, value in call.context.items() if name != loses}
    return PlannedChange(kind, turn, raw, kept)
