"""Agents made of plain prompts, without an example: the offline agent asks what they tell it to ask, to the end."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.models.conversations import Conversation, judge_conversation, offline_agent, talk_to_agent
from tests.quick import first_quick

# Written by an author who had not seen the rules.
FOLDER: Final = Path(__file__).parents[1] / "data" / "plain_agents"
AGENTS: Final = sorted(path.stem for path in FOLDER.glob("*.json"))
# "She's not well at all" of a child is not yet "ill", where there is an edge for any other reason.
NOT_UNDERSTOOD: Final = {"stomach-bug"}


@pytest.mark.parametrize("slug", first_quick(AGENTS))
async def test_an_agent_of_plain_prompts_is_talked_through(slug: str, models_folder: Path) -> None:
    agent: dict[str, Any] = json.loads((FOLDER / f"{slug}.json").read_text())
    failed = []
    async with offline_agent(models_folder) as llm:
        for said in agent["conversations"]:
            expected = Conversation(kind="plain", **said)
            outcome = await talk_to_agent(agent["definition"], expected.turns, llm)
            verdict = judge_conversation(expected, outcome)
            if verdict.faults and expected.id not in NOT_UNDERSTOOD:
                failed.append(f"{expected.id}: {'; '.join(verdict.faults)}")
    assert failed == []
