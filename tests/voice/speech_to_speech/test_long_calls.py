"""A call that is longer than the vendor lets a session be."""

from dataclasses import replace
from itertools import pairwise

import pytest

from offhook.voice import events
from tests.voice.speech_to_speech.spoken_call import OpenVendor, SpokenCall, answer, on_a_line, spoken_agent

GREETING = "Hello, how can I help?"


class TestRotation:
    def test_a_session_is_replaced_before_its_limit_and_nobody_hears_it(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer("There is more to say.")) as lab:
                # a minute instead of an hour
                lab.server.session_s = 60.0
                call = SpokenCall(spoken_agent(), configurations={"max_user_idle_timeout": 60})
                lab.model.capabilities = replace(lab.model.capabilities, max_session_s=60.0)
                for number in range(12):
                    call.says("tell me more", at=6 + number * 12.0)
                await lab.carry(call.hangs_up(at=150))

                assert lab.server.connections >= 3
                assert len(call.sink.of(events.SESSION_REPLACED)) == lab.server.connections - 1
                assert not call.failures
                assert call.agent_said == [GREETING, *["There is more to say."] * 12]
                # every answer comes as quickly as the first one
                delays = [event["response_ms"] for event in call.sink.of(events.TURN_TIMED)]
                assert max(delays) - delays[0] <= 300
                # the last session knows the first words of the call
                assert lab.remembered_lines[0] == ("assistant", GREETING)
                assert len(lab.remembered_lines) == 25

        on_a_line(scenario)

    def test_a_session_that_expires_early_is_opened_again(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer("There is more to say.")) as lab:
                lab.server.session_s = 20.0
                call = SpokenCall(spoken_agent(), configurations={"max_user_idle_timeout": 60})
                call.says("tell me more", at=6).says("tell me more", at=26)
                await lab.carry(call.hangs_up(at=32))

                assert lab.server.connections >= 2
                assert call.agent_said == [GREETING, *["There is more to say."] * 2]

        on_a_line(scenario)

    @pytest.mark.slow
    def test_seventy_minutes_with_the_vendors_own_limits(self, vendor: OpenVendor) -> None:
        turns = [10 + number * 30.0 for number in range(140)]

        async def scenario() -> None:
            async with vendor(answer(GREETING), answer("There is more to say.")) as lab:
                call = SpokenCall(spoken_agent(), configurations={"max_user_idle_timeout": 60}, max_duration_s=4500)
                for at in turns:
                    call.says("tell me more", at=at)
                await lab.carry(call.hangs_up(at=4200))

                assert len(call.sink.of(events.SESSION_REPLACED)) == lab.server.connections - 1
                assert lab.server.connections == 4200 // (lab.model.capabilities.max_session_s * 5 / 6) + 1
                assert (call.failures, call.failovers) == ([], [])
                assert call.agent_said == [GREETING, *["There is more to say."] * len(turns)]
                assert lab.remembered_lines[0] == ("assistant", GREETING)
                # the line is silent between answers only, and before none of them for longer than before the others
                times = [at for at, _ in call.leg.frames]
                silences = [later - earlier for earlier, later in pairwise(times) if later - earlier > 0.3]
                assert len(silences) == len(turns)
                delays = [event["response_ms"] for event in call.sink.of(events.TURN_TIMED)]
                assert max(delays) - min(delays) <= 300

        on_a_line(scenario)
