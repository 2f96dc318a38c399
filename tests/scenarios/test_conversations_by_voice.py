"""Whole conversations by voice with the offline agent: corrections, refusals, questions and silence, over a line with noise."""

from pathlib import Path

import pytest
from bench.spoken_conversations import hold_conversation, open_player, read_conversations

from offhook.scenarios.offline import build_offline_model

# Of five or six, whose voices the offline recognizer hears badly; bench/spoken_conversations.py prints how many.
LEAST_UNDERSTOOD = {"appointment_booking": 2, "order_status": 1, "survey": 1}


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("agent", LEAST_UNDERSTOOD)
def test_nothing_is_done_against_what_was_said(models_folder: Path, agent: str) -> None:
    make_llm = build_offline_model(models_folder)
    with open_player() as player:
        held = [hold_conversation(player, conversation, make_llm) for conversation in read_conversations(agent)]
    assert [list(one.lines()) for one in held if one.is_harmful] == []
    missed = [[one.conversation.kind, *one.lines()] for one in held if not one.is_understood]
    assert len(held) - len(missed) >= LEAST_UNDERSTOOD[agent], missed
