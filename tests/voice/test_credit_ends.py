"""A call whose money ends: a warning, a last sentence, and the end."""

from offhook.voice import events
from tests.voice.phone import Call, simple_agent


def talk(call: Call) -> Call:
    for at in range(4, 110, 7):
        call.says("And another thing", at=at)
    return call


def test_it_is_warned_and_ended_in_order() -> None:
    call = talk(Call(simple_agent(), configurations={"max_call_duration": 300}, hangs_up_at=120))
    call.does(lambda call: call.session.limit_time(40.0), at=10).run()
    warned = call.sink.of(events.DURATION_WARNED)
    assert len(warned) == 1
    assert 19 <= warned[0]["left_s"] <= 20
    assert call.result is not None
    assert call.result.end_reason == "credit_exhausted"
    assert 50 <= call.result.duration_s <= 56
    assert call.agent_said[-1] == "I'm sorry, our time is up. Goodbye."


def test_never_without_a_warning() -> None:
    call = talk(Call(simple_agent(), hangs_up_at=120))
    call.does(lambda call: call.session.limit_time(0.0), at=10).run()
    assert call.sink.of(events.DURATION_WARNED)[0]["left_s"] <= 5.0
    assert call.result is not None
    assert call.result.end_reason == "credit_exhausted"
    assert 15 <= call.result.duration_s <= 21


def test_new_credit_lets_it_go_on() -> None:
    call = talk(Call(simple_agent(), hangs_up_at=60))
    call.does(lambda call: call.session.limit_time(15.0), at=10)
    call.does(lambda call: call.session.limit_time(None), at=20).run()
    assert call.result is not None
    assert call.result.end_reason == "caller_hung_up"
