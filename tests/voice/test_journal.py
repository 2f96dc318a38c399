"""Calls of every kind played again from their journals: the same events, to the byte, and nobody is asked."""

import tracemalloc
from collections.abc import Callable
from itertools import count

import numpy as np
import pytest

from offhook.models.ports import ModelError
from offhook.voice import events
from offhook.voice.journal.kinds import AUDIO, MEASURED, TICK, WINDOW
from offhook.voice.journal.tape import BLOCK_ENTRIES, ENTRY_BYTES, CallTape, JournalUnreadable, read_journal
from offhook.voice.ports import EndCallRequest, ToolAnnouncement
from offhook.voice.recording_switch import RecordingSwitch
from tests.fakes.scripted import Reply, ScriptedLlm, ScriptedStt, ScriptedTts, calls, says, takes
from tests.fakes.voice import KeptLeg, KeptRecorder, KeptSounds, ScriptedTool, Tools
from tests.voice.phone import Call, agent_graph, edge, node, simple_agent
from tests.voice.recorded_phone import RecordedPhoneCall, replayed

LONG = "We open at nine in the morning and close at five in the evening, every single day of the week."
EXTRACTS = {"extraction_enabled": True, "extraction_variables": [{"name": "name", "type": "string", "prompt": "Name"}]}


def spoken_turns() -> RecordedPhoneCall:
    call = RecordedPhoneCall(simple_agent(), [says("We open at nine."), takes("done")])
    call.says("When do you open", at=3).says("thanks bye", at=8)
    return call


def barge_in() -> RecordedPhoneCall:
    call = RecordedPhoneCall(simple_agent(), [says(LONG), says("Of course.")])
    call.says("When do you open", at=3).says("stop please I want something else", at=6).hangs_up(at=15)
    return call


def interim_words_over_the_agent() -> RecordedPhoneCall:
    call = RecordedPhoneCall(simple_agent(), [says(LONG), says("Of course.")])
    call.stts = [ScriptedStt(call.hearing, has_endpointing=True, partials=True)]
    call.says("When do you open", at=3).says("yeah", at=6).says("wait a moment", at=8).hangs_up(at=18)
    return call


def noises() -> RecordedPhoneCall:
    call = RecordedPhoneCall(simple_agent(), [says(LONG)], murmur=1500)
    call.says("When do you open", at=3).mumbles(at=5.5).mumbles(at=9).mumbles(at=12).hangs_up(at=18)
    return call


def keys() -> RecordedPhoneCall:
    graph = agent_graph(
        node("start", "startCall", prompt="p", greeting="Press one."),
        node("end", "endCall", prompt="x", say="Goodbye."),
        edge("start", "end", "One", digits="1"),
    )
    call = RecordedPhoneCall(graph)
    call.presses("2", at=2).presses("1", at=5)
    return call


def a_slow_tool() -> RecordedPhoneCall:
    tool = ScriptedTool("lookup", {"found": True}, takes_s=2.5, announcement=ToolAnnouncement("Let me look."))
    replies = [calls("lookup", order="48213"), says("It is there."), takes("done")]
    call = RecordedPhoneCall(simple_agent(tool_uuids=["lookup"]), replies, tools=Tools(tool))
    call.says("where is it", at=3).says("thanks", at=11)
    return call


def a_tool_that_fails_and_one_that_ends() -> RecordedPhoneCall:
    failing = ScriptedTool("lookup", fails_with="The shop is closed.", takes_s=0.4)
    ending = ScriptedTool("finish", EndCallRequest({"ok": True}, outcome="sold", tags=("sold",)))
    replies = [calls("lookup"), says("They are closed."), calls("finish")]
    call = RecordedPhoneCall(simple_agent(tool_uuids=["lookup", "finish"]), replies, tools=Tools(failing, ending))
    call.says("are they open", at=3).says("then finish", at=7)
    return call


def extraction() -> RecordedPhoneCall:
    llm = ScriptedLlm([says("Hello Ada."), takes("done")], extracts='{"name": "Ada"}')
    call = RecordedPhoneCall(simple_agent(**EXTRACTS), llms=[llm])
    call.says("I am Ada", at=3).says("bye", at=6)
    return call


def idle_prompts() -> RecordedPhoneCall:
    return RecordedPhoneCall(simple_agent(), configurations={"max_user_idle_timeout": 3})


def hang_up_in_the_answer() -> RecordedPhoneCall:
    call = RecordedPhoneCall(simple_agent(**EXTRACTS), [says(LONG)])
    call.says("when", at=3).hangs_up(at=5.1)
    return call


def models_that_fail() -> RecordedPhoneCall:
    broken = ModelError("tts_down", "It is down.", retryable=False)
    call = RecordedPhoneCall(simple_agent(), [Reply("Well", hangs_after_words=1), says("We open at nine.")])
    call.llms = [ScriptedLlm(call.replies), ScriptedLlm([says("At nine.")], provider="second")]
    call.ttss = [
        ScriptedTts(fails_on=lambda text: broken if "nine" in text else None, fails_after_chunks=2),
        ScriptedTts(provider="second", sample_rate=16000),
    ]
    call.stts = [
        ScriptedStt(call.hearing, dies_at_s=7.0),
        ScriptedStt(call.hearing, provider="second"),
    ]
    call.says("when do you open", at=3).says("and on sunday", at=14).hangs_up(at=22)
    return call


def voicemail() -> RecordedPhoneCall:
    call = RecordedPhoneCall(
        simple_agent(),
        configurations={"voicemail_detection": {"enabled": True, "action": "message", "message": "Please call back."}},
        context={"direction": "outbound"},
    )
    call.says("please leave a message after the tone", at=2).beeps(at=6)
    return call


def a_beep() -> RecordedPhoneCall:
    call = RecordedPhoneCall(simple_agent(), context={"direction": "outbound"})
    call.mumbles(at=2, for_s=3).beeps(at=5.2)
    return call


def a_recorded_disclosure() -> RecordedPhoneCall:
    call = RecordedPhoneCall(
        simple_agent(),
        [says("Yes.")],
        configurations={"disclosure": {"recording_id": "notice"}},
        sounds=KeptSounds(notice="This call is recorded."),
        recording=RecordingSwitch(KeptRecorder()),
    )
    call.says("is it", at=6).hangs_up(at=9)
    return call


def marks_that_do_not_come() -> RecordedPhoneCall:
    call = RecordedPhoneCall(simple_agent(), [says("At nine.")], leg=KeptLeg(returns_marks=False))
    call.says("when", at=4).hangs_up(at=9)
    return call


def a_level_and_a_muted_line() -> RecordedPhoneCall:
    call = RecordedPhoneCall(
        simple_agent(),
        [says(LONG)],
        configurations={"vad_configuration": {"minimum_level_db": -30}, "max_call_duration": 12},
    )
    call.says("when", at=3).says("hm no wait", at=6, loudness=1200)
    return call


def a_background_that_is_a_recording() -> RecordedPhoneCall:
    call = RecordedPhoneCall(
        simple_agent(greeting_type="audio", greeting_recording_id="hello"),
        [says(LONG)],
        configurations={"ambient_noise_configuration": {"enabled": True, "recording_id": "room"}},
        sounds=KeptSounds(room="", hello="Good morning."),
    )
    call.says("when", at=4).says("stop please stop", at=7).hangs_up(at=12)
    return call


def look_from_outside(call: Call) -> None:
    call.session.elapsed_s()
    call.session.snapshot()


def money_that_ends() -> RecordedPhoneCall:
    call = RecordedPhoneCall(simple_agent(), [says("At nine.")])
    call.does(lambda one: one.session.limit_time(6.0), at=2)
    # those outside look at the clock, too: the watch of the credit, and who keeps the state of the call
    call.does(look_from_outside, at=2.5).does(look_from_outside, at=3.1)
    return call


KINDS: list[Callable[[], RecordedPhoneCall]] = [
    spoken_turns,
    barge_in,
    interim_words_over_the_agent,
    noises,
    keys,
    a_slow_tool,
    a_tool_that_fails_and_one_that_ends,
    extraction,
    idle_prompts,
    hang_up_in_the_answer,
    models_that_fail,
    voicemail,
    a_beep,
    a_recorded_disclosure,
    marks_that_do_not_come,
    a_level_and_a_muted_line,
    a_background_that_is_a_recording,
    money_that_ends,
]


@pytest.mark.parametrize("make_call", KINDS, ids=lambda make: make.__name__)
def test_a_call_is_the_same_again(make_call: Callable[[], RecordedPhoneCall]) -> None:
    call = make_call()
    call.run()
    again = call.play_again()
    assert replayed(again) == call.stored()
    assert (again.deviations, again.is_complete) == (0, True)


def test_clocks_in_sentences_show_what_they_showed() -> None:
    call = RecordedPhoneCall(simple_agent(greeting="It is {{ current_time }}."))
    call.hangs_up(at=4)
    call.run()
    (said,) = [seen.data["text"] for seen in call.play_again().observations if seen.kind == "spoke"]
    assert said == "It is 2026-01-05 12:00:00 UTC."


def test_another_answer_of_the_graph_is_seen_at_its_turn() -> None:
    call = spoken_turns()
    call.run()
    changed = simple_agent()
    changed["nodes"][1]["data"]["say"] = "See you soon."
    before, after = call.play_again(), call.play_again(definition=changed)
    first = next(pair for pair in zip(before.observations, after.observations, strict=False) if pair[0] != pair[1])
    assert [(seen.kind, seen.data, seen.turn, seen.node_id) for seen in first] == [
        ("spoke", {"text": "Thank you, goodbye."}, 2, "end"),
        ("spoke", {"text": "See you soon."}, 2, "end"),
    ]


def test_another_setting_is_seen_when_it_acts() -> None:
    call = idle_prompts()
    call.run()
    before, after = call.play_again(), call.play_again(configurations={"max_user_idle_timeout": 2})
    first = next(pair for pair in zip(before.observations, after.observations, strict=False) if pair[0] != pair[1])
    assert first[1].data["type"] == events.CALLER_IDLE
    assert first[1].at_ms < first[0].at_ms


def test_a_replay_that_the_journal_does_not_cover_comes_to_an_end() -> None:
    call = keys()
    call.run()
    silent = agent_graph(node("start", "startCall", prompt="p", greeting="Press nine."))
    again = call.play_again(definition=silent)
    assert not again.is_complete
    assert again.observations[-1].at_ms < 60_000


@pytest.mark.parametrize("damage", [b"", b"x", b"\x00" * 40])
def test_a_damaged_journal_is_an_error(damage: bytes) -> None:
    call = keys()
    call.run()
    assert call.journaled is not None
    packed = call.journaled.pack()
    with pytest.raises(JournalUnreadable):
        read_journal(damage or packed[: len(packed) // 2])


def test_a_long_call_keeps_no_journal() -> None:
    at = [0.0]
    tape = CallTape(lambda: at[0], max_bytes=2 * BLOCK_ENTRIES * ENTRY_BYTES)
    omitted = []
    for _ in range(3):
        for _ in range(BLOCK_ENTRIES):
            tape.note(AUDIO, 160)
        omitted.append(tape.omitted)
    assert omitted == ["", "", "too_long"]
    tape.note(AUDIO, 160)
    assert read_journal(tape.pack({})).entries == []


def note_much(tape: CallTape, count: int) -> None:
    for n in range(count):
        tape.note(AUDIO, 160)
        tape.note(WINDOW, n % 256 / 256)
        tape.note(MEASURED, ["overlap", [n % 7, -40.5, 3.25]])
        tape.time()


@pytest.mark.parametrize("step_s", [0.02, 0.0200001])
def test_a_long_journal_is_read_as_it_was_noted(step_s: float) -> None:
    at = count(1)
    tape = CallTape(lambda: next(at) * step_s, max_bytes=1 << 20)
    note_much(tape, 1000)
    entries = read_journal(tape.pack({})).entries
    assert [entry.value for entry in entries if entry.kind == AUDIO] == [160] * 1000
    assert [entry.value for entry in entries if entry.kind == WINDOW] == [n % 256 / 256 for n in range(1000)]
    assert [entry.value[1][0] for entry in entries if entry.kind == MEASURED] == [n % 7 for n in range(1000)]
    assert [entry.at for entry in entries] == [n * step_s for n in range(2, 4002)]


def test_values_that_json_has_no_words_for_are_kept() -> None:
    tape = CallTape(lambda: 1.0, max_bytes=10_000)
    odd = ["\ud83d", float("-inf"), np.bool_(True), np.float32(0.5), "ü€"]
    for value in odd:
        tape.note(MEASURED, ["odd", value])
    assert [entry.value[1] for entry in read_journal(tape.pack({})).entries] == odd


def test_a_journal_takes_little_memory_while_its_call_goes_on() -> None:
    tape = CallTape(lambda: 1.0, max_bytes=1 << 22)
    tracemalloc.start()
    try:
        note_much(tape, 10_000)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert not tape.omitted
    assert taken < 100_000, "a twelfth of what its entries are"


def test_times_are_kept_exactly() -> None:
    """A loop may have milliseconds, or more than that."""
    for times in ([1.001, 1.002, 2.5], [1.0000001, 1.1234567891, 2.0000000000000004]):
        at = list(times)
        tape = CallTape(lambda at=at: at.pop(0) if len(at) > 1 else at[0], max_bytes=10_000)  # type: ignore[misc]
        tape.time()
        tape.time()
        journal = read_journal(tape.pack({}))
        assert journal.started_at == times[0]
        assert [(entry.kind, entry.at) for entry in journal.entries] == [(TICK, times[1]), (TICK, times[2])]
