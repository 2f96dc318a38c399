"""What goes wrong with speech-to-speech vendors, each fault on a call: no silence, nothing lost, nothing doubled."""

import pytest

from offhook.models.ports import ModelError
from offhook.voice import events
from offhook_lab.speech.server import SpeechFault
from tests.fakes.scripted import Reply, ScriptedLlm, says
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.speech_to_speech.spoken_call import (
    CASCADE,
    LONG,
    SURE,
    OpenVendor,
    SpokenCall,
    Vendor,
    VendorKind,
    answer,
    on_a_line,
    spoken_agent,
)

GREETING = "Hello, how can I help?"
BOOK = "i want to book a table"


def booking(at: float = 4) -> SpokenCall:
    return SpokenCall(spoken_agent()).says(BOOK, at=at).hangs_up(at=at + 9)


def breaks_at(lab: Vendor, seconds: float, call: SpokenCall, fault: SpeechFault) -> SpokenCall:
    def break_next(_: object) -> None:
        lab.server.fault = fault

    return call.does(break_next, at=seconds)


class TestFatalErrors:
    """An error that will come again is never answered with another attempt."""

    def test_a_wrong_key(self, vendor: OpenVendor, kind: VendorKind) -> None:
        async def scenario() -> None:
            async with vendor(key="wrong-key") as lab:
                call = await lab.carry(booking())

                assert call.failures == ["realtime_unauthorized"]
                assert len(lab.server.requests) == 1
                assert call.failovers == [(kind.provider, "scripted")]
                assert call.agent_said == [CASCADE, CASCADE]
                assert "wrong-key" not in str(call.sink.events)

        on_a_line(scenario)

    def test_an_unknown_model(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor(model="somebody-99") as lab:
                call = await lab.carry(booking())

                assert call.failures == ["realtime_not_found"]
                assert len(lab.server.requests) == 1
                assert call.agent_said == [CASCADE, CASCADE]

        on_a_line(scenario)

    def test_no_money(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor() as lab:
                lab.server.trouble = "no_quota"
                call = await lab.carry(booking())

                assert call.failures == ["realtime_no_quota"]
                assert len(lab.server.requests) == 1

        on_a_line(scenario)

    def test_money_that_ends_during_the_call(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor() as lab:
                call = booking()

                def empty(_: object) -> None:
                    lab.server.empty_account()

                await lab.carry(call.does(empty, at=3))

                assert call.failures == ["realtime_no_quota"]
                assert lab.server.connections == 1
                assert call.agent_said == [GREETING, CASCADE]

        on_a_line(scenario)


class TestLostConnections:
    def test_a_socket_that_drops_between_answers_is_opened_again_with_the_conversation(
        self, vendor: OpenVendor
    ) -> None:
        async def scenario() -> None:
            async with vendor() as lab:
                call = booking().does(lambda _: lab.server.drop_connections(), at=3.5)
                await lab.carry(call)

                assert lab.server.connections == 2
                assert lab.remembered_lines[:2] == [("assistant", GREETING), ("user", BOOK)]
                assert call.agent_said == [GREETING, SURE]
                assert not call.failures

        on_a_line(scenario)

    @pytest.mark.parametrize("broken", ["cut", "close", "garbage", "binary_garbage", "nested"])
    def test_a_connection_that_breaks_in_a_sentence(self, vendor: OpenVendor, broken: str) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer(LONG), answer("and so on")) as lab:
                fault = SpeechFault(broken, after=8)  # type: ignore[arg-type]
                call = breaks_at(lab, 3, SpokenCall(spoken_agent()).says("tell me everything", at=4), fault)
                await lab.carry(call.hangs_up(at=14))

                begun = call.agent_said[1]
                assert LONG.startswith(begun.removesuffix("and so on").rstrip())
                assert begun.endswith("and so on")
                # the new session knows what was said, and by whom
                assert ("user", "tell me everything") in lab.remembered_lines
                assert lab.server.connections == 2
                assert call.longest_gap_after(5) < 0.3

        on_a_line(scenario)

    def test_a_vendor_that_stays_away_is_replaced_by_the_cascade(self, vendor: OpenVendor, kind: VendorKind) -> None:
        async def scenario() -> None:
            async with vendor() as lab:

                def vanish(_: object) -> None:
                    lab.server.trouble = "server_error"
                    lab.server.drop_connections()

                call = await lab.carry(booking().does(vanish, at=3.5))

                assert call.agent_said == [GREETING, CASCADE]
                assert call.failovers == [(kind.provider, "scripted")]
                assert call.longest_silence_after(6) < 3

        on_a_line(scenario)

    def test_the_model_comes_back_with_what_the_cascade_has_said(self, vendor: OpenVendor, kind: VendorKind) -> None:
        async def scenario() -> None:
            async with vendor() as lab:

                def vanish(_: object) -> None:
                    lab.server.trouble = "server_error"
                    lab.server.drop_connections()

                def return_(_: object) -> None:
                    lab.server.trouble = None

                call = booking().does(vanish, at=3.5).does(return_, at=10)
                await lab.carry(call.says("and for tomorrow", at=32).hangs_up(at=39))

                assert call.failovers == [(kind.provider, "scripted"), ("scripted", kind.provider)]
                assert ("assistant", CASCADE) in lab.remembered_lines
                assert ("user", "and for tomorrow") in lab.remembered_lines
                assert call.agent_said[-1] == SURE

        on_a_line(scenario)

    def test_a_result_outlives_the_connection_that_asked_for_it(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            book = ScriptedTool("book", result={"booked": True}, takes_s=2, has_side_effects=True)
            script = [answer(GREETING), answer("", "book", day="monday"), answer("It is booked.")]
            async with vendor(*script) as lab:
                call = SpokenCall(spoken_agent(tool_uuids=["book"]), tools=Tools(book)).says("book it now", at=4)
                call.does(lambda _: lab.server.drop_connections(), at=6.4)
                await lab.carry(call.hangs_up(at=13))

                assert book.calls == [{"day": "monday"}]
                assert lab.server.connections == 2
                assert lab.knows('{"day": "monday"}')
                assert lab.knows('{"booked": true}')
                assert call.agent_said[-1].endswith("It is booked.")

        on_a_line(scenario)

    @pytest.mark.parametrize("after", [0, 8])
    def test_a_model_that_falls_silent(self, vendor: OpenVendor, after: int) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer(LONG)) as lab:
                call = breaks_at(lab, 3, booking(), SpeechFault("stall", after=after))
                await lab.carry(call)

                assert call.failures == ["realtime_stalled"]
                assert call.agent_said[-1].endswith(CASCADE)
                assert call.longest_silence_after(6) < 3

        on_a_line(scenario)

    def test_a_handshake_that_is_never_answered(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor() as lab:
                lab.server.fault = SpeechFault("silent", times=9)
                call = await lab.carry(booking(at=8))

                assert [CASCADE in said for said in call.agent_said] == [True, True]
                assert call.longest_silence_after(0) < 3

        on_a_line(scenario)

    def test_nothing_is_left_when_the_cascade_fails_too(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor(key="wrong-key") as lab:
                broken = Reply(fails=ModelError("llm_unauthorized", "No.", retryable=False))
                call = booking()
                call.llms = [ScriptedLlm([], afterwards=broken)]
                await lab.carry(call)

                assert call.result is not None
                assert call.result.end_reason == "error"
                assert call.failures[0] == "realtime_unauthorized"

        on_a_line(scenario)


class TestOneResponseAtATime:
    @pytest.mark.parametrize(("at", "cancel_s"), [(3.5, 0.0), (5.6, 0.4)], ids=["between answers", "before an answer"])
    def test_what_nobody_asked_for_is_not_heard(self, vendor: OpenVendor, at: float, cancel_s: float) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer("I was not asked."), answer(SURE)) as lab:
                lab.server.cancel_s = cancel_s
                await lab.carry(call := booking().does(lambda _: lab.server.start_orphan(), at=at))

                assert call.agent_said == [GREETING, SURE]
                assert "asked" not in call.heard_by_the_caller
                assert lab.remembered_lines == [("assistant", GREETING), ("user", BOOK), ("assistant", SURE)]

        on_a_line(scenario)

    def test_a_response_that_takes_time_to_be_canceled(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer(LONG), answer("Of course.")) as lab:
                lab.server.cancel_s, lab.server.chunk_pause_s = 0.5, 0.09
                call = SpokenCall(spoken_agent()).says("tell me everything", at=4).says("stop please", at=7)
                await lab.carry(call.hangs_up(at=13))

                assert call.agent_said[-1] == "Of course."
                assert not any("active response" in complaint for complaint in lab.server.complaints)

        on_a_line(scenario)

    def test_arguments_of_a_canceled_call_are_not_used(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            book = ScriptedTool("book", has_side_effects=True)
            script = [answer(GREETING), answer(LONG, "book", day="monday"), answer("Alright.")]
            async with vendor(*script) as lab:
                lab.server.chunk_pause_s = 0.09
                call = SpokenCall(spoken_agent(tool_uuids=["book"]), tools=Tools(book))
                await lab.carry(call.says("tell me everything", at=4).says("stop please", at=7).hangs_up(at=13))

                assert book.calls == []
                assert call.agent_said[-1] == "Alright."

        on_a_line(scenario)

    def test_arguments_that_are_no_json(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            book = ScriptedTool("book", result="ok")
            script = [
                answer(GREETING),
                answer("", "book", day="monday"),
                answer("", "book", day="monday"),
                answer(SURE),
            ]
            async with vendor(*script) as lab:
                call = SpokenCall(spoken_agent(tool_uuids=["book"]), tools=Tools(book)).says(BOOK, at=4)

                def break_next(_: object) -> None:
                    lab.server.broken_arguments = True

                await lab.carry(call.does(break_next, at=3).hangs_up(at=12))

                assert call.failures == ["realtime_malformed"]
                assert book.calls == [{"day": "monday"}]
                assert call.agent_said[-1] == SURE

        on_a_line(scenario)


class TestFilters:
    def test_an_answer_that_the_vendor_cuts_off_goes_on_with_the_cascade(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer("I may not say this."), answer(SURE)) as lab:
                call = booking()

                def filter_next(_: object) -> None:
                    lab.server.filter_answer()

                call.says("and for tomorrow", at=12).hangs_up(at=18)
                await lab.carry(call.does(filter_next, at=3))

                assert call.failures == ["realtime_content_filtered"]
                assert call.agent_said[1].endswith(CASCADE)
                # it was this answer's fault, not the model's
                assert call.agent_said[-1] == SURE

        on_a_line(scenario)


class TestTheWatchdog:
    def test_a_slow_first_word_is_bridged(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor() as lab:
                call = SpokenCall(spoken_agent()).says(BOOK, at=4).hangs_up(at=12)

                def slow_down(_: object) -> None:
                    lab.server.first_audio_s = 2.3

                await lab.carry(call.does(slow_down, at=3))

                assert call.agent_said[-1] == f"One moment, please. {SURE}"
                assert call.longest_silence_after(6) < 2.5
                assert [event["step"] for event in call.sink.of(events.WATCHDOG_ACTED)] == ["filler"]
                assert not call.failures

        on_a_line(scenario)


def test_the_cascade_gets_the_whole_conversation(vendor: OpenVendor) -> None:
    async def scenario() -> None:
        async with vendor() as lab:
            llm = ScriptedLlm([], afterwards=says(CASCADE))
            call = booking()
            call.llms = [llm]

            def vanish(_: object) -> None:
                lab.server.trouble = "server_error"
                lab.server.drop_connections()

            await lab.carry(call.does(vanish, at=3.5))

            told = [(m.role, m.content) for m in llm.requests[0].messages if m.role != "system"]
            assert told == [("assistant", GREETING), ("user", BOOK)]

    on_a_line(scenario)
