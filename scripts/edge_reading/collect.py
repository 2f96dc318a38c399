"""Talks every conversation of the corpora with the offline agent, and writes down what it decided at each answer.

    uv run --active python scripts/edge_reading/collect.py decisions.jsonl

One line for each conversation, in the order of the corpora; ``train.py`` reads them. It takes a quarter of an hour on two cores.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.models.conversations import (  # noqa: E402
    Conversation,
    hold_conversation,
    judge_conversation,
    load_conversations,
    offline_agent,
)

from offhook.models.providers.builtin.turns.rule_turn import RuleTurn  # noqa: E402
from offhook.workflows.catalog.templates import load_template  # noqa: E402

DATA = ROOT / "tests" / "data"
FOLDERS = (
    "conversations",
    "held_out_conversations",
    "blind_conversations",
    "indirect_conversations",
    "figurative_conversations",
    "everyday_conversations",
    "template_conversations",
)
PARTS = 4
decide_reply = RuleTurn.decide_reply


class DecisionLog:
    """What the agent decided at every answer of the conversation that is being held."""

    def __init__(self, slug: str) -> None:
        edges = load_template(slug).definition["edges"]
        self._targets = {(edge["source"], edge["data"].get("condition", "")): edge["target"] for edge in edges}
        self.decisions: list[dict[str, Any]] = []

    def decide(self, turn: RuleTurn) -> Any:
        reply = decide_reply(turn)
        heard, hint = turn._latest_utterance(), turn._hint  # noqa: SLF001 - of a run by hand
        if heard is not None and not hint.entered:
            decision = {
                "node": hint.node_id,
                "asked": turn._current_question(),  # noqa: SLF001 - of a run by hand
                "heard": heard,
                "edges": [asdict(edge) for edge in hint.edges],
                "targets": [self._targets.get((hint.node_id, edge.condition)) for edge in hint.edges],
                "call": reply.call[0] if reply.call is not None else None,
                "text": reply.text,
            }
            # the last of those that were decided again, when more sentences were known
            if self.decisions and self.decisions[-1]["heard"] == heard and self.decisions[-1]["node"] == hint.node_id:
                self.decisions.pop()
            self.decisions.append(decision)
        return reply


async def talk(slug: str, conversations: list[Conversation]) -> list[dict[str, Any]]:
    found = []
    async with offline_agent(Path(tempfile.gettempdir()) / "offhook-edge-reading") as llm:
        for conversation in conversations:
            log = DecisionLog(slug)
            with patch.object(RuleTurn, "decide_reply", lambda turn, log=log: log.decide(turn)):
                outcome = await hold_conversation(slug, conversation.turns, llm)
            faults = list(judge_conversation(conversation, outcome).faults)
            found.append({"slug": slug, **asdict(conversation), "faults": faults, "decisions": log.decisions})
    return found


def talk_part(folder: str, slug: str, part: int) -> list[dict[str, Any]]:
    return asyncio.run(talk(slug, load_conversations(slug, DATA / folder)[part::PARTS]))


def jobs() -> Iterator[tuple[str, str, int]]:
    for folder in FOLDERS:
        for path in sorted((DATA / folder).glob("*.json")):
            yield from ((folder, path.stem, part) for part in range(PARTS))


def main() -> None:
    with Path(sys.argv[1]).open("w") as file, ProcessPoolExecutor() as pool:
        for rows in pool.map(talk_part, *zip(*jobs(), strict=True)):
            file.writelines(json.dumps(row) + "\n" for row in rows)
            print(f"{len(rows)} conversations with {rows[0]['slug']}", flush=True)


if __name__ == "__main__":
    main()
