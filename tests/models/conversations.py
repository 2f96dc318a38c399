"""Conversations as callers have them with the demo agents, and what each must lead to."""

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from offhook.knowledge.offline.edge_reader import OfflineEdgeReader
from offhook.knowledge.offline.model import OfflineModel
from offhook.models.ports import CallModels, Llm
from offhook.models.providers.builtin.acts.classifier import load_shipped_classifier
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.runs.call_toolbox import CallToolbox
from offhook.scenarios.engine.mocks import FixedDocuments
from offhook.voice.call_context import CallAgent
from offhook.voice.config import CallConfig
from offhook.voice.text_session import TextSession
from offhook.workflows.catalog.templates import definition_with, load_template
from offhook.workflows.graph import parse_graph
from tests.fakes.scripted import Hearing, ScriptedStt, ScriptedTts
from tests.fakes.voice import KeptEvents

FOLDER: Final = Path(__file__).parents[1] / "data" / "conversations"
# By someone who had read the agents' graphs, and none of the rules.
BLIND_FOLDER: Final = Path(__file__).parents[1] / "data" / "blind_conversations"
# Written blind as well, by somebody whose callers speak in figures ("kicking the tires").
FIGURATIVE_FOLDER: Final = Path(__file__).parents[1] / "data" / "figurative_conversations"
# By five more who knew only the demo agents' graphs and documents, 50 each for each agent.
HELD_OUT_FOLDER: Final = Path(__file__).parents[1] / "data" / "held_out_conversations"
# By two more, whose callers hint, tell a story first, or speak a dialect: 50 each for each agent.
TEMPLATE_FOLDER: Final = Path(__file__).parents[1] / "data" / "template_conversations"
EVERYDAY_FOLDER: Final = Path(__file__).parents[1] / "data" / "everyday_conversations"
INDIRECT_FOLDER: Final = Path(__file__).parents[1] / "data" / "indirect_conversations"
# By two more, who wrote only what is said at the last question before something final.
DECISIONS_FOLDER: Final = Path(__file__).parents[1] / "data" / "decisions"
# A Friday: "tomorrow" is a weekend.
CONTEXT: Final = {"current_weekday": "Friday", "current_time": "2:05 PM"}


@asynccontextmanager
async def offline_agent(folder: Path) -> AsyncIterator[BuiltinLlm]:
    """The offline agent as it is shipped, where its model is installed; no answer goes without for being slow.

    ``folder`` keeps the model once it is prepared.
    """
    model = _model_in(folder)
    if not model.is_installed():
        yield BuiltinLlm()
        return
    await model.load()
    reader = _reader_in(folder)
    await reader.load()
    yield BuiltinLlm(
        model.embed_sentences, max_wait_s=60, load_classifier=load_shipped_classifier, read_edges=reader.read
    )


@cache
def _model_in(folder: Path) -> OfflineModel:
    # One for all tests of a process, which stays loaded.
    return OfflineModel(folder)


@cache
def _reader_in(folder: Path) -> OfflineEdgeReader:
    return OfflineEdgeReader(folder)


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a caller says, and patterns of what must come of it.

    ``node`` are the nodes where it may stand in the end, ``never`` those that would be against what was said.
    ``says`` are patterns of the last reply, ``never_says`` of any reply; ``variables`` patterns by name, "" for nothing.
    """

    id: str
    kind: str
    turns: Sequence[str]
    node: Sequence[str] = ()
    never: Sequence[str] = ()
    variables: Mapping[str, Sequence[str]] = field(default_factory=dict)
    says: Sequence[str] = ()
    never_says: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a conversation stood when the caller had said everything, and what was kept of it."""

    node: str
    visited: Sequence[str]
    values: Mapping[str, Any]
    last_reply: str
    all_replies: str
    ended_early: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """``faults`` say what is wrong; ``is_harmful``: it did something that the caller did not want."""

    faults: Sequence[str]
    is_harmful: bool


def load_conversations(slug: str, folder: Path = FOLDER) -> list[Conversation]:
    return [Conversation(**case) for case in json.loads((folder / f"{slug}.json").read_text())]


async def hold_conversation(slug: str, turns: Sequence[str], llm: Llm) -> Outcome:
    """Talks by text to an agent of the catalog, with the documents that it is created with."""
    template = load_template(slug)
    texts = {document.filename: document.content.decode() for document in template.documents}
    definition = definition_with(template, document_ids=list(texts), tool_ids={})
    return await talk_to_agent(definition, turns, llm, texts)


async def talk_to_agent(
    definition: Any, turns: Sequence[str], llm: Llm, documents: Mapping[str, str] | None = None
) -> Outcome:
    """Talks to an agent by text."""
    graph = parse_graph(definition)
    ids = {node.name: node.id for node in graph.nodes.values()}
    agent = CallAgent(
        graph, CallConfig(give_up_after_s=60.0), CallToolbox(), dict(CONTEXT), knowledge=FixedDocuments(documents or {})
    )
    models = CallModels((llm,), (ScriptedTts(),), (ScriptedStt(Hearing()),))
    session = TextSession(agent=agent, models=models, sink=KeptEvents())
    replies, last, ended_early = list(await session.start()), [""], False
    for text in turns:
        if session.is_over:
            ended_early = True
            break
        last = list(await session.say(text))
        replies += last
    node = session.node_id
    gathered: dict[str, Any] = dict((await session.end()).gathered_context)
    return Outcome(
        node=node,
        visited=[ids[name] for name in gathered["nodes_visited"]],
        values=gathered["extracted_variables"],
        last_reply=" ".join(last),
        all_replies=" ".join(replies),
        ended_early=ended_early,
    )


def judge_conversation(expected: Conversation, outcome: Outcome) -> Verdict:
    """Compares what came of a conversation with what must come of it."""
    entered = [node for node in expected.never if node in outcome.visited]
    faults = [f"entered {node}" for node in entered]
    if expected.node and outcome.node not in expected.node:
        faults.append(f"at {outcome.node}, not {list(expected.node)}")
    if outcome.ended_early:
        faults.append("ended early")
    for name, patterns in expected.variables.items():
        value = "" if outcome.values.get(name) is None else str(outcome.values[name])
        if not any(value == "" if pattern == "" else _is_found(pattern, value) for pattern in patterns):
            faults.append(f"{name} is {value!r}, not {list(patterns)}")
    if expected.says and not any(_is_found(pattern, outcome.last_reply) for pattern in expected.says):
        faults.append(f"does not say {list(expected.says)}: {outcome.last_reply!r}")
    faults += [f"says {pattern}" for pattern in expected.never_says if _is_found(pattern, outcome.all_replies)]
    return Verdict(faults, bool(entered))


def _is_found(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None
