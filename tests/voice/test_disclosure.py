"""The sentence that a call begins with: said whole and proved before anything is recorded; recordings that tools pause."""

from typing import Any

import pytest

from offhook.models.ports import ModelError
from offhook.runs.live.call_tools import ToolText, build_recording_tool
from offhook.tools.definitions import RecordingAction, RecordingConfig
from offhook.voice import events
from offhook.voice.recording_switch import RecordingSwitch
from tests.fakes.scripted import ScriptedTts, calls, says
from tests.fakes.voice import KeptLeg, KeptRecorder, KeptSounds, Tools
from tests.voice.phone import Call, agent_graph, edge, node, simple_agent

SENTENCE = "This call is recorded to improve our service."
GREETING = "Hello, how can I help?"


class TimedRecorder(KeptRecorder):
    """Keeps when each frame was recorded, in seconds since the call began."""

    def __init__(self) -> None:
        super().__init__()
        self.agent_times: list[float] = []
        self.caller_times: list[float] = []

    def record_caller(self, at_s: float, payload: bytes) -> None:
        super().record_caller(at_s, payload)
        self.caller_times.append(at_s)

    def record_agent(self, at_s: float, payload: bytes) -> None:
        super().record_agent(at_s, payload)
        self.agent_times.append(at_s)


def disclosed(recorder: KeptRecorder | None = None, **disclosure: Any) -> Call:
    configurations = {"disclosure": disclosure or {"text": SENTENCE}}
    recording = RecordingSwitch(recorder or TimedRecorder())
    return Call(simple_agent(), [says("Sure.")], configurations, recording=recording).hangs_up(at=12)


def kinds(call: Call, *wanted: str) -> list[str]:
    return [event.type for event in call.sink.events if event.type in wanted]


class TestDisclosure:
    def test_nothing_is_recorded_before_it_was_played_whole(self) -> None:
        recorder = TimedRecorder()
        call = disclosed(recorder).run()

        assert call.agent_said[:2] == [SENTENCE, GREETING]
        played, said = call.sink.of(events.DISCLOSURE_PLAYED)[0], call.sink.of(events.AGENT_SAID)
        assert (played["proof"], played["start_s"], played["end_s"]) == ("mark", said[0]["start_s"], said[0]["end_s"])
        assert call.sink.of(events.RECORDING_STARTED) == [{"because": "disclosure_played"}]
        began = call.sink.at(events.RECORDING_STARTED)[0]
        assert played["end_s"] <= began <= said[1]["start_s"]
        assert min(recorder.caller_times) >= began
        assert min(recorder.agent_times) == pytest.approx(said[1]["start_s"], abs=0.06)
        assert call.recording is not None
        assert call.recording.is_kept

    def test_variables_and_a_recording_of_it(self) -> None:
        call = disclosed(text="{{ company }} records this call.")
        call.context = {"company": "Acme"}
        assert call.run().agent_said[0] == "Acme records this call."
        other = disclosed(recording_id="notice")
        other.sounds = KeptSounds(notice="We record calls.")
        assert other.run().agent_said[0] == "We record calls."
        assert len(other.sink.of(events.DISCLOSURE_PLAYED)) == 1

    def test_a_lost_recording_of_it_means_that_nothing_is_recorded(self) -> None:
        recorder = TimedRecorder()
        call = disclosed(recorder, recording_id="gone").run()

        assert call.agent_said[0] == GREETING
        assert call.sink.of(events.DISCLOSURE_MISSED) == [{"reason": "recording_missing"}]
        assert (recorder.callers, recorder.agents) == ([], [])

    def test_the_caller_cannot_interrupt_it(self) -> None:
        call = disclosed().says("Stop, I have a question", at=0.4).run()

        assert kinds(call, events.BARGED_IN) == []
        assert [who for who, _ in call.transcript] == ["caller", "agent", "agent"]
        assert call.agent_said == [SENTENCE, GREETING]
        assert len(call.sink.of(events.DISCLOSURE_PLAYED)) == 1

    def test_a_key_that_is_pressed_meanwhile_takes_its_edge_afterwards(self) -> None:
        graph = agent_graph(
            node("start", "startCall", prompt="Help.", greeting=GREETING),
            node("end", "endCall", prompt="Say goodbye.", say="Thank you, goodbye."),
            edge("start", "end", "Done", digits="9"),
        )
        call = Call(graph, [], {"disclosure": {"text": SENTENCE}}).presses("9", at=0.4).run()

        assert call.agent_said == [SENTENCE, "Thank you, goodbye."]

    def test_the_clock_is_the_proof_where_the_far_end_reports_nothing(self) -> None:
        call = disclosed()
        call.leg = KeptLeg(returns_marks=False, confirms_playback=False)
        call.run()

        assert [played["proof"] for played in call.sink.of(events.DISCLOSURE_PLAYED)] == ["clock"]
        assert call.sink.at(events.RECORDING_STARTED)[0] >= call.sink.of(events.DISCLOSURE_PLAYED)[0]["end_s"] + 1

    def test_a_far_end_that_should_report_and_does_not_leaves_no_recording(self) -> None:
        recorder = TimedRecorder()
        call = disclosed(recorder)
        call.leg = KeptLeg(returns_marks=False)
        call.run()

        assert call.agent_said[:2] == [SENTENCE, GREETING]
        assert call.sink.of(events.DISCLOSURE_MISSED) == [{"reason": "not_confirmed"}]
        assert (recorder.callers, recorder.agents) == ([], [])
        assert call.recording is not None
        assert not call.recording.is_kept

    def test_a_late_report_begins_the_recording_late(self) -> None:
        recorder = TimedRecorder()
        call = disclosed(recorder)
        call.leg = KeptLeg(returns_marks=False)
        call.does(lambda call: call.session.feed_mark("s1"), at=8).run()

        assert [played["proof"] for played in call.sink.of(events.DISCLOSURE_PLAYED)] == ["mark"]
        assert min(recorder.caller_times) >= 8

    def test_a_report_about_audio_that_was_cleared_proves_nothing(self) -> None:
        recorder = TimedRecorder()
        call = disclosed(recorder)
        call.leg = KeptLeg(returns_marks=False)
        call.says("No, wait a moment please", at=4.6).does(lambda call: call.session.feed_mark("s1"), at=9).run()

        assert kinds(call, events.BARGED_IN) == [events.BARGED_IN]
        assert call.sink.of(events.DISCLOSURE_MISSED) == [{"reason": "not_confirmed"}]
        assert recorder.callers == []

    def test_a_caller_who_hangs_up_during_it_is_not_recorded(self) -> None:
        recorder = TimedRecorder()
        call = disclosed(recorder).hangs_up(at=0.9).run()

        assert call.sink.of(events.DISCLOSURE_MISSED) == [{"reason": "cut_off"}]
        assert (recorder.callers, recorder.agents) == ([], [])

    def test_the_rest_of_it_by_another_voice_is_all_of_it(self) -> None:
        call = disclosed()
        error = ModelError("vendor_down", "Down.", retryable=False)
        broken = ScriptedTts(fails_on=lambda text: error, fails_after_chunks=12)
        call.ttss = (broken, ScriptedTts())
        call.run()

        assert call.agent_said[0] == SENTENCE
        assert len(call.sink.of(events.DISCLOSURE_PLAYED)) == 1

    def test_without_one_all_of_the_call_is_recorded(self) -> None:
        recorder = TimedRecorder()
        call = Call(simple_agent(), [], recording=RecordingSwitch(recorder)).hangs_up(at=3).run()

        assert call.sink.of(events.RECORDING_STARTED) == [{"because": "call_connected"}]
        assert min(recorder.caller_times) == pytest.approx(0, abs=0.03)


def with_tool(action: RecordingAction, at: str = "start") -> tuple[Call, TimedRecorder]:
    recorder = TimedRecorder()
    switch = RecordingSwitch(recorder)
    tools = [
        build_recording_tool(ToolText(name, ""), RecordingConfig(action=kind), switch)
        for name, kind in ((action, action), ("go_on", "resume"))
    ]
    graph = simple_agent(tool_uuids=[action, "go_on"])
    replies = [calls(action), says("Go ahead."), calls("go_on"), says("Thank you.")]
    call = Call(graph, replies, tools=Tools(*tools), recording=switch)
    call.says("I want to pay by card", at=2.5).says("four one one one and so on", at=6).hangs_up(at=12)
    return call, recorder


class TestTools:
    def test_a_tool_pauses_and_another_resumes(self) -> None:
        call, recorder = with_tool("pause")
        call.run()

        assert kinds(call, events.RECORDING_PAUSED, events.RECORDING_RESUMED) == [
            events.RECORDING_PAUSED,
            events.RECORDING_RESUMED,
        ]
        paused, resumed = call.sink.at(events.RECORDING_PAUSED)[0], call.sink.at(events.RECORDING_RESUMED)[0]
        assert resumed - paused > 2
        assert not [at for at in recorder.caller_times + recorder.agent_times if paused + 0.05 < at < resumed]
        assert [at for at in recorder.caller_times if at > resumed]
        assert [answer["result"] for answer in call.sink.of(events.TOOL_ANSWERED)] == [
            {"recording": "paused"},
            {"recording": "on"},
        ]

    def test_a_tool_discards_it_for_good(self) -> None:
        call, recorder = with_tool("discard")
        call.run()

        assert kinds(call, events.RECORDING_DISCARDED, events.RECORDING_RESUMED) == [events.RECORDING_DISCARDED]
        assert (recorder.callers, recorder.agents) == ([], [])
        assert call.recording is not None
        assert (call.recording.state, call.recording.is_kept) == ("discarded", False)
