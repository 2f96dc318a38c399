"""Faults that only xAI Voice has: missing names of responses, errors and items, responses that end without a word."""

from itertools import pairwise
from typing import Any

import pytest

from offhook.voice import events
from offhook_lab.speech.server import SpeechFault
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.speech_to_speech.spoken_call import (
    LONG,
    SURE,
    XAI,
    SpokenCall,
    Vendor,
    answer,
    on_a_line,
    spoken_agent,
)

GREETING = "Hello, how can I help?"


def interrupted() -> SpokenCall:
    call = SpokenCall(spoken_agent()).says("tell me everything", at=4).says("stop please", at=7)
    return call.says("are you there", at=12).hangs_up(at=17)


def sent_by(lab: Vendor, kind: str) -> list[dict[str, Any]]:
    return [message for message in lab.server.sent if message["type"] == kind]


class TestMissingNames:
    def test_responses_without_metadata_are_those_that_were_asked_for(self) -> None:
        async def scenario() -> None:
            async with XAI.open(answer(GREETING), answer(LONG), answer("Of course."), answer("Yes.")) as lab:
                lab.server.echoes_metadata = False
                call = await lab.carry(interrupted())

                assert call.agent_said[0] == GREETING
                assert call.agent_said[2:] == ["Of course.", "Yes."]
                assert not call.failures
                assert lab.server.connections == 1

        on_a_line(scenario)

    def test_what_nobody_asked_for_is_not_heard_without_metadata_either(self) -> None:
        async def scenario() -> None:
            async with XAI.open(answer(GREETING), answer("I was not asked."), answer(SURE)) as lab:
                lab.server.echoes_metadata = False
                call = SpokenCall(spoken_agent()).says("book a table", at=4).hangs_up(at=12)
                await lab.carry(call.does(lambda _: lab.server.start_orphan(), at=3.5))

                assert call.agent_said == [GREETING, SURE]

        on_a_line(scenario)

    @pytest.mark.parametrize("names_events", [True, False])
    def test_a_refused_cut_leaves_no_unheard_words(self, names_events: bool) -> None:
        async def scenario() -> None:
            async with XAI.open(answer(GREETING), answer(LONG), answer("Of course."), answer("Yes.")) as lab:
                lab.server.shorter_ms, lab.server.names_events = 5000, names_events
                call = await lab.carry(interrupted())

                assert any("already shorter" in complaint for complaint in lab.server.complaints)
                assert ("assistant", call.agent_said[1]) in lab.remembered_lines
                assert LONG not in [text for _, text in lab.remembered_lines]
                assert call.agent_said[-1] == "Yes."
                # what was refused without a name may be anything: another session has our history
                assert lab.server.connections == (1 if names_events else 2)

        on_a_line(scenario)

    def test_a_response_that_is_refused_without_a_name_is_asked_for_once_more(self) -> None:
        async def scenario() -> None:
            async with XAI.open() as lab:
                lab.server.names_events = False
                call = SpokenCall(spoken_agent()).says("book a table", at=4).hangs_up(at=12)
                call.does(lambda _: lab.server.refuse_next_response(), at=3.5)
                await lab.carry(call)

                assert call.failures == ["realtime_cut_off"]
                assert not call.failovers
                assert call.agent_said == [GREETING, SURE]
                assert ("user", "book a table") in lab.remembered_lines

        on_a_line(scenario)

    def test_names_of_the_beta_are_understood(self) -> None:
        async def scenario() -> None:
            async with XAI.open() as lab:
                lab.server.uses_old_names = True
                call = await lab.carry(SpokenCall(spoken_agent()).says("book a table", at=4).hangs_up(at=9))

                assert call.agent_said == [GREETING, SURE]
                assert call.usage["seconds"] == lab.server.counted_usage()["seconds"]

        on_a_line(scenario)

    @pytest.mark.parametrize("omits_items", [True, False])
    def test_a_call_that_comes_with_the_end_of_the_response_is_run_once(self, omits_items: bool) -> None:
        async def scenario() -> None:
            look = ScriptedTool("look_up", result={"free": True})
            script = [answer(GREETING), answer("", "look_up", day="monday"), answer("It is free.")]
            async with XAI.open(*script) as lab:
                lab.server.omits_items = omits_items
                call = SpokenCall(spoken_agent(tool_uuids=["look_up"]), tools=Tools(look))
                await lab.carry(call.says("is monday free", at=4).hangs_up(at=12))

                assert look.calls == [{"day": "monday"}]
                assert call.agent_said == [GREETING, "It is free."]
                assert not lab.server.complaints

        on_a_line(scenario)


class TestEnds:
    def test_a_canceled_response_that_never_ends_delays_nothing_for_long(self) -> None:
        async def scenario() -> None:
            async with XAI.open(answer(GREETING), answer(LONG), answer("Of course."), answer("Yes.")) as lab:
                lab.server.drops_canceled, lab.server.chunk_pause_s = True, 0.09
                call = await lab.carry(interrupted())

                assert not any(done["response"]["status"] == "cancelled" for done in sent_by(lab, "response.done"))
                assert call.agent_said[2:] == ["Of course.", "Yes."]
                assert not call.failures
                delays = [event["response_ms"] for event in call.sink.of(events.TURN_TIMED)]
                assert max(delays) - min(delays) <= 700

        on_a_line(scenario)

    def test_a_session_that_is_over_before_its_limit_goes_on_in_another_one(self) -> None:
        async def scenario() -> None:
            async with XAI.open(answer(GREETING), answer("There is more to say.")) as lab:
                lab.server.session_s = 20.0
                call = SpokenCall(spoken_agent(), configurations={"max_user_idle_timeout": 60})
                call.says("tell me more", at=6).says("tell me more", at=26)
                await lab.carry(call.hangs_up(at=32))

                assert any(error["error"]["type"] == "max_duration" for error in sent_by(lab, "error"))
                assert call.agent_said == [GREETING, *["There is more to say."] * 2]
                assert not call.failovers

        on_a_line(scenario)

    def test_a_connection_that_is_lost_is_charged_until_then(self) -> None:
        async def scenario() -> None:
            async with XAI.open(answer(GREETING), answer(LONG), answer("and so on")) as lab:

                def break_next(_: object) -> None:
                    lab.server.fault = SpeechFault("cut", after=8)

                call = SpokenCall(spoken_agent()).says("tell me everything", at=4).does(break_next, at=3)
                await lab.carry(call.hangs_up(at=14))

                assert lab.server.connections == 2
                assert "unreported_responses" not in call.usage
                assert call.usage["calls"] == 3
                assert abs(call.usage["seconds"] - lab.server.counted_usage()["seconds"]) <= 0.2

        on_a_line(scenario)

    @pytest.mark.slow
    def test_half_an_hour_with_a_limit_that_nobody_has_announced(self) -> None:
        """The vendor's own limit was another one until the summer of 2026."""
        turns = [10 + number * 30.0 for number in range(60)]

        async def scenario() -> None:
            async with XAI.open(answer(GREETING), answer("There is more to say.")) as lab:
                lab.server.session_s = 600.0
                call = SpokenCall(spoken_agent(), configurations={"max_user_idle_timeout": 60}, max_duration_s=2400)
                for at in turns:
                    call.says("tell me more", at=at)
                await lab.carry(call.hangs_up(at=1800))

                assert lab.server.connections == 3
                assert (call.failures, call.failovers) == ([], [])
                assert call.agent_said == [GREETING, *["There is more to say."] * len(turns)]
                assert lab.remembered_lines[0] == ("assistant", GREETING)
                times = [at for at, _ in call.leg.frames]
                assert sum(later - earlier > 0.3 for earlier, later in pairwise(times)) == len(turns)
                delays = [event["response_ms"] for event in call.sink.of(events.TURN_TIMED)]
                assert max(delays) - min(delays) <= 300

        on_a_line(scenario)
