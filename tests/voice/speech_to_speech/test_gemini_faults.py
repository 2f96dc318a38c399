"""Faults that only Gemini Live has: announced ends, conversations that only grow, canceled calls, turns without an answer."""

import asyncio

import pytest

from offhook.voice import events
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.speech_to_speech.spoken_call import GEMINI, LONG, SURE, SpokenCall, answer, on_a_line, spoken_agent

GREETING = "Hello, how can I help?"
BOOK = "i want to book a table"
PATIENT = {"max_user_idle_timeout": 200}


def booking() -> SpokenCall:
    return SpokenCall(spoken_agent()).says(BOOK, at=4).hangs_up(at=13)


class TestConnections:
    def test_an_announced_end_is_not_waited_for(self) -> None:
        async def scenario() -> None:
            async with GEMINI.open() as lab:
                call = SpokenCall(spoken_agent(), configurations=PATIENT).says(BOOK, at=8).hangs_up(at=20)
                call.does(lambda _: lab.server.newest_session.go_away(0.0, 10.0), at=4)
                await lab.carry(call)

                assert lab.server.connections == 2
                assert len(call.sink.of(events.SESSION_REPLACED)) == 1
                assert not call.failures
                assert lab.remembered_lines == [("assistant", GREETING), ("user", BOOK), ("assistant", SURE)]

        on_a_line(scenario)

    def test_a_pong_after_half_a_minute_is_no_lost_connection(self) -> None:
        async def scenario() -> None:
            async with GEMINI.open() as lab:
                call = SpokenCall(spoken_agent(), configurations=PATIENT).says(BOOK, at=100).hangs_up(at=108)
                # the client pings a connection that was idle for 45 s
                call.does(lambda _: lab.server.delay_pongs(35.0), at=40)
                await lab.carry(call)

                assert lab.server.connections == 1
                assert call.agent_said == [GREETING, SURE]

        on_a_line(scenario)


class TestAConversationThatOnlyGrows:
    def test_a_session_without_the_unheard_words_is_ready_when_the_caller_stops(self) -> None:
        async def scenario() -> None:
            async with GEMINI.open(answer(GREETING), answer(LONG), answer("Of course.")) as lab:
                call = SpokenCall(spoken_agent()).says("tell me everything", at=4).says("stop please", at=7)
                await lab.carry(call.hangs_up(at=13))

                heard = call.agent_said[1]
                assert lab.server.connections == 2
                assert lab.remembered_lines == [
                    ("assistant", GREETING),
                    ("user", "tell me everything"),
                    ("assistant", heard),
                    ("user", "stop please"),
                    ("assistant", "Of course."),
                ]
                first, second = (event["response_ms"] for event in call.sink.of(events.TURN_TIMED)[:2])
                assert second - first <= 100

        on_a_line(scenario)

    def test_an_answer_that_was_heard_needs_no_other_session(self) -> None:
        async def scenario() -> None:
            async with GEMINI.open() as lab:
                call = SpokenCall(spoken_agent()).says(BOOK, at=4).says("for two people", at=11).hangs_up(at=17)
                await lab.carry(call)

                assert lab.server.connections == 1

        on_a_line(scenario)


class TestTools:
    def test_a_call_that_the_vendor_cancels_is_made_once_and_its_result_is_kept(self) -> None:
        async def scenario() -> None:
            book = ScriptedTool("book", result={"booked": True}, takes_s=2, has_side_effects=True)
            async with GEMINI.open(answer(GREETING), answer("", "book", day="monday"), answer("It is booked.")) as lab:
                call = SpokenCall(spoken_agent(tool_uuids=["book"]), tools=Tools(book)).says("book it now", at=4)
                tasks = []

                def cancel(_: object) -> None:
                    tasks.append(asyncio.ensure_future(lab.server.newest_session.cancel_calls()))

                await lab.carry(call.does(cancel, at=6.4).hangs_up(at=13))

                assert book.calls == [{"day": "monday"}]
                assert lab.server.connections == 2
                assert lab.knows('book({"day": "monday"}): {"booked": true}')
                assert call.agent_said[-1].endswith("It is booked.")
                assert not lab.server.complaints

        on_a_line(scenario)


class TestTurns:
    @pytest.mark.parametrize("reason", ["NEED_MORE_INPUT", "MALFORMED_FUNCTION_CALL"])
    def test_a_turn_without_an_answer_is_asked_for_again(self, reason: str) -> None:
        async def scenario() -> None:
            async with GEMINI.open(answer(GREETING), answer(), answer(SURE)) as lab:

                def withhold(_: object) -> None:
                    lab.server.next_reason = reason

                call = await lab.carry(booking().does(withhold, at=3))

                assert call.agent_said == [GREETING, SURE]
                assert ("user", BOOK) in lab.remembered_lines
                assert not call.failovers
                assert call.longest_silence_after(6) < 3

        on_a_line(scenario)

    def test_an_answer_with_a_reason_that_is_no_fault_is_an_answer(self) -> None:
        async def scenario() -> None:
            async with GEMINI.open() as lab:
                lab.server.last_reason = "TURN_COMPLETE_REASON_UNSPECIFIED"
                call = await lab.carry(booking())

                assert call.agent_said == [GREETING, SURE]
                assert not call.failures

        on_a_line(scenario)

    def test_a_model_that_interrupts_itself_goes_on(self) -> None:
        async def scenario() -> None:
            async with GEMINI.open(answer(GREETING), answer(LONG), answer("and so on")) as lab:

                def interrupt(_: object) -> None:
                    lab.server.interrupts_itself = True

                call = SpokenCall(spoken_agent()).says("tell me everything", at=4).does(interrupt, at=3)
                await lab.carry(call.hangs_up(at=14))

                assert LONG.startswith(call.agent_said[1].removesuffix("and so on").rstrip())
                assert call.agent_said[1].endswith("and so on")
                assert call.longest_gap_after(5) < 0.3

        on_a_line(scenario)

    @pytest.mark.parametrize(("completes_after_s", "has_late_words"), [(8.0, False), (0.0, True), (3.0, True)])
    def test_late_words_and_late_ends_change_nothing(self, completes_after_s: float, has_late_words: bool) -> None:
        async def scenario() -> None:
            async with GEMINI.open(answer(GREETING), answer(SURE), answer("Of course.")) as lab:
                lab.server.completes_after_s, lab.server.has_late_words = completes_after_s, has_late_words
                call = SpokenCall(spoken_agent()).says(BOOK, at=4).says("for two people", at=11)
                await lab.carry(call.hangs_up(at=17))

                assert call.agent_said == [GREETING, SURE, "Of course."]
                assert not call.failures
                assert max(event["response_ms"] for event in call.sink.of(events.TURN_TIMED)) < 1500

        on_a_line(scenario)

    def test_tokens_of_no_modality_are_counted(self) -> None:
        async def scenario() -> None:
            async with GEMINI.open() as lab:
                lab.server.uncovered_tokens = 25
                call = await lab.carry(booking())

                counted = {"provider": GEMINI.provider, "model": GEMINI.model, "calls": 2}
                assert call.usage == counted | lab.server.counted_usage()

        on_a_line(scenario)
