"""Scenarios as whole calls: what the caller does is heard, and the same seed gives the same bytes of the recording."""

import wave
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from offhook.kit.virtual_time import run_on_virtual_time
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.scenarios import ScenarioAgent, ScenarioResult, run_suite
from offhook.scenarios.engine.played_sound import PlayedSound
from offhook.scenarios.engine.suite import run_scenario
from offhook.scenarios.sound.clips import place_words
from offhook.scenarios.sound.offline_recognizer import OfflineListener
from offhook.scenarios.sound.player import SoundPlayer
from offhook.scenarios.sound.recognizer import StreamingRecognizer
from offhook.voice import events
from tests.scenarios.agents import DEFINITION, LOOKUP, agent, codes, edge, node, play, scenario

SALES: dict[str, Any] = {"turns": ["sales please", "london"]}
LONG = "We sell tea, coffee and cocoa from all over the world, and we deliver them to your door. Which city are you in?"


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SoundPlayer]:
    with closing(SoundPlayer(tmp_path_factory.mktemp("recordings"))) as made:
        yield made


def call(player: SoundPlayer, of: ScenarioAgent | None = None, seed: int = 0, **fields: Any) -> ScenarioResult:
    return run_scenario(of or agent(), scenario(**fields), BuiltinLlm, seed, play=player.play_call)


def heard(result: ScenarioResult) -> PlayedSound:
    assert result.played is not None
    assert result.played.sound is not None
    return result.played.sound


def said(result: ScenarioResult) -> list[str]:
    assert result.played is not None
    return [str(event.data["text"]) for event in result.played.journal if event.type == events.CALLER_SAID]


def talkative(**start: Any) -> ScenarioAgent:
    """Has a long answer that begins two seconds after the greeting."""
    sales = node("sales", "agentNode", prompt="Ask for the city.", offline_say=LONG, **start)
    return agent({**DEFINITION, "nodes": [part if part["id"] != "sales" else sales for part in DEFINITION["nodes"]]})


def test_a_call_takes_what_a_text_takes(player: SoundPlayer) -> None:
    expect = {"edges": ["start-sales", "sales-bye"], "end": "bye", "says": ["which city"], "end_reason": "agent_ended"}
    by_text, by_sound = play(agent(), caller=SALES, expect=expect), call(player, caller=SALES, expect=expect)
    assert (by_text.faults, by_sound.faults) == ((), ())
    assert said(by_sound) == ["sales please", "london"]
    assert by_text.played is not None
    assert by_sound.played is not None
    assert by_sound.played.turns == by_text.played.turns
    assert [answer.turn for answer in heard(by_sound).answers] == [0, 1]
    assert heard(by_sound).talk_overs == []


def test_the_same_seed_gives_the_same_bytes(player: SoundPlayer, tmp_path: Path) -> None:
    caller = {**SALES, "manner": {"hesitates": 0.5, "interrupts": 0.5}}
    scenarios = [
        scenario(name="a", caller=caller, expect={"end": "bye"}),
        scenario(caller=SALES, expect={"end": "bye"}),
    ]
    with closing(SoundPlayer(tmp_path)) as other:
        first = run_suite(agent(), scenarios, BuiltinLlm, 1, play=player.play_call)
        again = run_suite(agent(), list(reversed(scenarios)), BuiltinLlm, 1, play=other.play_call)
    assert [result.as_json() for result in first.results] == [result.as_json() for result in reversed(again.results)]
    assert len({run_suite(agent(), scenarios, BuiltinLlm, seed, play=player.play_call).hash for seed in range(4)}) == 4


def test_a_recording_is_kept_of_a_failed_call(player: SoundPlayer) -> None:
    passed = call(player, caller=SALES, expect={"end": "bye"})
    assert not heard(passed).recording.exists()
    failed = call(player, caller=SALES, expect={"end": "support"})
    with wave.open(str(heard(failed).recording)) as file:
        assert (file.getnchannels(), file.getframerate(), file.getsampwidth()) == (2, 8000, 2)
        sides = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2)
    greeting, first_turn = (round(8000 * at) for at in heard(failed).began_at_s[:2])
    assert [int(np.abs(side).max()) > 1000 for side in sides[greeting:first_turn].T] == [False, True]
    assert heard(failed).hash == heard(passed).hash
    assert failed.hash == passed.hash


def test_a_hesitation_is_not_the_end_of_a_sentence(player: SoundPlayer) -> None:
    caller = {"turns": ["sales please"], "manner": {"hesitates": 1}}
    result = call(player, caller=caller, expect={"edges": ["start-sales"], "max_talk_overs": 0})
    assert result.faults == ()
    assert result.played is not None
    assert result.played.turns[1].move is not None
    assert result.played.turns[1].move.say == "Um, sales please"
    # a recognizer drops the filler, and the pause after it is not the end
    assert said(result) == ["sales please"]


def test_a_caller_who_interrupts_is_let_speak(player: SoundPlayer) -> None:
    manner = {"interrupts": 1}
    result = call(
        player,
        talkative(allow_interrupt=True),
        caller={"turns": ["sales please", "london please"], "manner": manner},
        expect={"max_yield_ms": 1500, "never_says": ["to your door"], "end": "bye"},
    )
    assert result.faults == ()
    assert [found.turn for found in heard(result).interruptions][-1:] == [1]


def test_an_agent_that_ignores_interruptions_is_found(player: SoundPlayer) -> None:
    caller = {"turns": ["sales please", "london please"], "manner": {"interrupts": 1}}
    result = call(player, talkative(allow_interrupt=False), caller=caller, expect={"max_yield_ms": 1500})
    assert codes(result)[-1] == "interruption_ignored"


def test_silence_is_asked_about_and_ends_the_call(player: SoundPlayer) -> None:
    expect = {"end_reason": "idle", "says": ["are you still there"]}
    assert call(player, caller={"turns": [{"silence_s": 40}]}, expect=expect).faults == ()


def test_keys_and_hanging_up(player: SoundPlayer) -> None:
    turns = [{"press": 1}, {"hang_up": True}]
    expect = {"keyed_edges": ["start-sales"], "end_reason": "caller_hung_up", "is_over": True}
    assert call(player, caller={"turns": turns}, expect=expect).faults == ()


def test_a_call_goes_on_when_the_caller_has_nothing_left_to_do(player: SoundPlayer) -> None:
    result = call(player, caller={"turns": ["sales please"]}, expect={"is_over": False, "end_reason": "still_open"})
    assert result.faults == ()


def test_rules_answer_at_nodes_and_to_words(player: SoundPlayer) -> None:
    rules = [
        {"at": "start", "one_of": ["sales please", "i want to buy"]},
        {"when_agent_says": "which city", "say": "{{ city }}"},
    ]
    caller = {"facts": {"city": "Paris"}, "rules": rules}
    for seed in range(3):
        assert call(player, seed=seed, caller=caller, expect={"end": "bye"}).faults == ()


def test_answers_that_take_too_long_are_found_at_their_turn(player: SoundPlayer) -> None:
    ask = node("start", "startCall", greeting="Hello.", prompt="Look up orders.", tool_uuids=["lookup-1"])
    found = node("found", "endCall", say="It is on its way.")
    definition = {"nodes": [ask, found], "edges": [edge("start", "found", "order", "where is my order")]}
    slow = agent(definition, configurations={"filler_after": 30}, tools=[LOOKUP])
    turns = {"turns": ["hello there", "where is my order"]}
    tools = {"lookup-1": [{"result": "on its way", "takes_s": 4}]}
    quick = call(player, slow, caller=turns, tools=tools, expect={"max_answer_ms": 60_000})
    assert quick.faults == ()
    longest = max(heard(quick).answers, key=lambda answer: answer.silence_ms)
    result = call(player, slow, caller=turns, tools=tools, expect={"max_answer_ms": longest.silence_ms - 1})
    assert (result.faults[0].code, result.faults[0].turn) == ("answer_too_slow", longest.turn)


def test_what_only_sound_shows_is_not_asked_of_text() -> None:
    expect = {"max_answer_ms": 1, "max_yield_ms": 1, "max_talk_overs": 0}
    assert play(agent(), caller=SALES, expect=expect).faults == ()


def test_a_caller_speaks_in_their_own_voice_and_pace(player: SoundPlayer) -> None:
    usual = call(player, caller=SALES, expect={"end": "bye"})
    slow = call(player, caller={**SALES, "manner": {"speed": 0.6, "voice": "en-gb+f3"}}, expect={"end": "bye"})
    assert (usual.faults, slow.faults) == ((), ())
    assert slow.played is not None
    assert usual.played is not None
    assert slow.played.duration_s > usual.played.duration_s


@pytest.mark.parametrize("seed", range(20))
def test_words_are_heard_in_their_order(seed: int) -> None:
    sentence = "it is about a will that my aunt once made"

    async def recognize() -> str:
        recognizer = StreamingRecognizer(np.random.default_rng(seed))
        stream = await recognizer.open_stream(sample_rate=8000, language="en-US")
        recognizer.hear_words(place_words(sentence.split(), np.zeros(8000, np.int16), 0.0), 1000.0)
        return await anext(event.text async for event in stream.events() if event.kind == "final")

    assert run_on_virtual_time(recognize(), limit_s=10) == sentence


@pytest.mark.slow
def test_the_offline_recognizer_can_listen(tmp_path: Path) -> None:
    with closing(OfflineListener()) as listener, closing(SoundPlayer(tmp_path, listener.recognize_speech)) as player:
        result = call(player, caller={"turns": ["it is broken"]}, expect={"end": "support"})
    assert said(result) == ["it is broken"]
    assert result.faults == ()
