"""First agents, made of plain prompts without examples: what their callers say leads where they mean, and is read back."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from offhook.models.providers.builtin.llm import BuiltinLlm
from tests.models.conversations import Conversation, judge_conversation, offline_agent, talk_to_agent

# Seven agents by an author who had not seen the rules, with nine conversations each.
FOLDER: Final = Path(__file__).parents[1] / "data" / "first_agents"
RIGHT: Final = 36
HARMS: Final = 8


@pytest.fixture
async def llm(models_folder: Path) -> AsyncIterator[BuiltinLlm]:
    async with offline_agent(models_folder) as agent:
        yield agent


def load_agent(slug: str) -> dict[str, Any]:
    agent: dict[str, Any] = json.loads((FOLDER / f"{slug}.json").read_text())
    return agent


async def test_conversations_with_first_agents_come_out_right(llm: BuiltinLlm) -> None:
    verdicts = []
    for path in sorted(FOLDER.glob("*.json")):
        agent = load_agent(path.stem)
        for said in agent["conversations"]:
            expected = Conversation(kind="plain", **said)
            outcome = await talk_to_agent(agent["definition"], expected.turns, llm)
            verdicts.append(judge_conversation(expected, outcome))
    assert sum(not verdict.faults for verdict in verdicts) >= RIGHT
    assert sum(verdict.is_harmful for verdict in verdicts) <= HARMS


@pytest.mark.parametrize(
    ("slug", "turns", "node"),
    [
        ("florist", ["I'd like some tulips", "for my wife", "thirty five or so", "I'll collect them"], "6"),
        ("library", ["I want to get hold of a book"], "5"),
        ("musicschool", ["oh hello, no we've, uh, we've never been with you"], "2"),
        ("tenantline", ["Dockside, 4B", "my dishwasher just hums and won't do anything"], "3"),
        # its own words, or a plain answer
        ("landscaper", ["mowing"], "2"),
        ("library", ["reserve a book", "Emma, Jane Austen", "no"], "8"),
    ],
)  # fmt: skip
async def test_what_a_caller_means_at_a_step_without_examples(
    llm: BuiltinLlm, slug: str, turns: Sequence[str], node: str
) -> None:
    assert (await talk_to_agent(load_agent(slug)["definition"], turns, llm)).node == node


async def test_an_order_is_read_back_with_what_was_changed(llm: BuiltinLlm) -> None:
    turns = [
        "hi, flowers please",
        "a birthday",
        "sixty five tops",
        "deliver it",
        "that's 9 Willow Court, and it'd have to be there Friday",
        "Helen Marsh, 555 204 7781",
    ]
    definition = load_agent("florist")["definition"]

    read = await talk_to_agent(definition, turns, llm)
    assert read.last_reply == (
        "I have 65 dollars, 9 Willow Court, Friday, Helen Marsh, and 555 204 7781. Is that right?"
    )
    changed = await talk_to_agent(definition, [*turns, "no, that's wrong", "Saturday instead of Friday"], llm)
    assert "9 Willow Court, Saturday, Helen Marsh" in changed.last_reply


async def test_a_day_on_which_the_house_is_closed_is_not_taken(llm: BuiltinLlm) -> None:
    turns = ["I'd like to order some tulips", "no reason", "thirty five", "I'll pick it up", "could I come by Sunday?"]

    outcome = await talk_to_agent(load_agent("florist")["definition"], turns, llm)

    assert outcome.node == "6"
    assert outcome.last_reply == (
        "We're open Monday to Saturday 9 to 6, closed Sundays. Which day will you pick it up?"
    )


def pizza_shop() -> dict[str, Any]:
    prompts = {
        "order": ("startCall", "Greet them. Ask which pizza and what size. Then ask pickup or delivery."),
        "check": ("agentNode", "read it back and ask if it is right"),
        "bye": ("endCall", "say it's ready in 20 minutes and goodbye"),
    }
    ways = [("order", "check", "ordered"), ("check", "bye", "right"), ("check", "order", "wrong")]
    return {
        "nodes": [
            {"id": node_id, "type": kind, "data": {"name": node_id, "prompt": prompt}}
            for node_id, (kind, prompt) in prompts.items()
        ],
        "edges": [
            {"id": label, "source": source, "target": target, "data": {"label": label, "condition": f"it is {label}"}}
            for source, target, label in ways
        ],
    }


async def test_two_questions_of_a_prompt_are_asked_together_and_asked_again_without_the_greeting(
    llm: BuiltinLlm,
) -> None:
    asked = "Which pizza and what size, and would that be pickup or delivery?"

    ordered = await talk_to_agent(pizza_shop(), ["large margherita for pickup"], llm)
    assert ordered.last_reply == "I have large margherita for pickup. Is that right?"
    wrong = await talk_to_agent(pizza_shop(), ["large margherita for pickup", "no, a small one"], llm)
    assert wrong.last_reply == asked
    misheard = await talk_to_agent(pizza_shop(), ["uh, what?"], llm)
    assert misheard.last_reply == f"Hello! {asked}"
