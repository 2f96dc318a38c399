"""A caller who clearly asks never to be called again is put on the list; anyone else is not."""

from datetime import UTC, datetime, timedelta

import pytest

from offhook.kit.opt_out_sentences import asks_not_to_be_called
from offhook.orgs.do_not_call import repository as do_not_call
from offhook.orgs.tables import DoNotCallEntry
from offhook.root import Root
from offhook.runs import RunServices
from offhook.runs.finishing.do_not_call_event import DO_NOT_CALL_REQUESTED
from offhook.runs.live import lease_queries
from offhook.runs.records import event_queries
from offhook.runs.tables import Run
from offhook.voice.events import CALLER_SAID, VoiceEvent
from offhook.voice.ports import CallResult
from tests.runs.conftest import MakeRun
from tests.runs.test_sweeper import make_sweeper

CALLED = "+12015550101"


@pytest.mark.parametrize(
    "sentence",
    [
        "Do not call me again.",
        "Please don't call me again!",
        "dont ever call me again",
        "Don’t call this number anymore",
        "never call us again, goodbye",
        "Stop calling me.",
        "Would you please stop calling this number?",
        "please stop calling",
        "Take me off your list",
        "Yeah hi, just take me off your calling list please",
        "Remove my number from your database.",
        "I want you to remove me from this list",
        "Put me on your do-not-call list",
        "I don't want to be called anymore",
        "I don't want to receive any more calls",
        "I no longer want to receive calls from you",
        "I don't want you to call me again.",
        "Lose my number",
        "Rufen Sie mich bitte nie wieder an!",
        "Streichen Sie mich von Ihrer Anrufliste",
        "Ich möchte nicht mehr angerufen werden",
        "No me vuelvan a llamar",
        "no me llame más, por favor",
        "Ne m'appelez plus",
        "Retirez-moi de votre liste s'il vous plaît",
    ],
)
def test_clear_sentences(sentence: str) -> None:
    assert asks_not_to_be_called(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "Call me again tomorrow.",
        "Why don't you call me again next week?",
        "Don't call me Bob.",
        "please don't call me sir",
        "Don't call me before nine.",
        "Don't call me again today, call tomorrow",
        "do not call me again until Monday",
        "stop calling me sweetheart",
        "Can you take me off the waiting list?",
        "take me off the list",
        "Take the onions off my order",
        "Remove me from the group booking",
        "I did not say don't call me again",
        "What happens if I say stop calling me?",
        "You never call me again when you promise it, do you",
        "I don't want to be called at work",
        "My wife will call you again",
        "Rufen Sie mich morgen wieder an",
        "No me llame antes de las nueve",
        "no me vuelva a llamar hasta mañana",
    ],
)
def test_anything_else(sentence: str) -> None:
    assert not asks_not_to_be_called(sentence)


def test_a_long_utterance_is_looked_at_in_no_time() -> None:
    """Its cost is linear: what a caller says is not ours to choose."""
    assert not asks_not_to_be_called("do not call " * 5000)


async def listed(root: Root, run: Run) -> list[DoNotCallEntry]:
    async with root.db.transaction() as session:
        entries, _ = await do_not_call.list_entries(session, run.organization_id, search=None, limit=10, offset=0)
        return list(entries)


async def talk(root: Root, run: Run, *sentences: str) -> None:
    """A conversation in which the caller says this, carried and stored by this process."""
    sink = root.get(RunServices).writer.create_sink(run.id)
    for second, sentence in enumerate(sentences):
        sink.emit(VoiceEvent(CALLER_SAID, second, {"text": sentence}))
    await root.get(RunServices).live.store_end(
        run.organization_id, run.id, sink, CallResult("answered", "agent_ended", 3.0)
    )


@pytest.mark.parametrize("direction", ["inbound", "outbound"])
async def test_saying_so_lists_the_far_end_once(root: Root, make_run: MakeRun, direction: str) -> None:
    ours = "+12015550199"
    numbers = (CALLED, ours) if direction == "inbound" else (ours, CALLED)
    run = await make_run(direction=direction, caller_number=numbers[0], called_number=numbers[1])

    await talk(root, run, "Who is this?", "Do not call me again.", "I said take me off your list!")

    (entry,) = await listed(root, run)
    assert (entry.phone_number, entry.source, entry.run_id) == (CALLED, "call", run.id)
    async with root.db.transaction() as session:
        events = await event_queries.read_events(session, run.organization_id, run.id)
    assert [event["data"] for event in events if event["type"] == DO_NOT_CALL_REQUESTED] == [
        {"text": "Do not call me again."}
    ]


async def test_an_ordinary_call_lists_nobody(root: Root, make_run: MakeRun) -> None:
    run = await make_run(called_number=CALLED)
    await talk(root, run, "Please call me again tomorrow.")
    assert await listed(root, run) == []


async def test_a_conversation_without_a_number(root: Root, make_run: MakeRun) -> None:
    run = await make_run(mode="browser", direction="inbound")
    await talk(root, run, "Do not call me again.")
    assert await listed(root, run) == []


async def test_it_holds_although_the_worker_died(root: Root, make_run: MakeRun) -> None:
    run = await make_run(called_number=CALLED)
    now = datetime.now(UTC)
    async with root.db.transaction() as session:
        await lease_queries.take_run(session, run.id, worker_id="w1", now=now, until=now - timedelta(seconds=1))
    root.get(RunServices).writer.create_sink(run.id).emit(VoiceEvent(CALLER_SAID, 1.0, {"text": "Stop calling me."}))
    assert await root.get(RunServices).writer.flush()

    await make_sweeper(root, root.clock, grace_s=0).sweep()

    assert [entry.phone_number for entry in await listed(root, run)] == [CALLED]
