"""Who gets a call of a process when many want one: strangers with free test calls shut out neither callers nor others."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from offhook.root import Root
from offhook.runs import LiveCall, LiveCallRegistry, RunServices, service
from offhook.runs.errors import ProcessIsFull
from offhook.runs.live.call_slots import CallSlots
from offhook.runs.tables import Run
from offhook.settings import Settings
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.fakes.voice import KeptLeg
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeWorkflow

ACME, GLOBEX = 1, 2


def make_slots(places: int, *, reserve: float = 0.0, share: float = 0.5) -> CallSlots:
    settings = Settings(max_calls_per_process=places, telephone_call_reserve=reserve, org_call_share=share)
    slots = CallSlots(settings)
    slots.add_free_modes(["browser"])
    return slots


def fill(slots: CallSlots, organization_id: int, *, mode: str = "twilio", weight: float = 1.0) -> int:
    """Takes slots until it is refused; returns how many it got."""
    for taken in range(1000):
        try:
            slots.take(organization_id * 1000 + taken, organization_id, mode, weight=weight)
        except ProcessIsFull:
            return taken
    return 1000


def test_an_organization_on_its_own_has_all_places() -> None:
    assert fill(make_slots(12), ACME) == 12


def test_an_organization_leaves_places_to_others() -> None:
    slots = make_slots(12)
    slots.take(1, GLOBEX, "twilio")
    assert fill(slots, ACME) == 5
    assert fill(slots, GLOBEX) > 0


def test_a_flood_of_organizations_leaves_a_place_to_the_next() -> None:
    slots = make_slots(120)
    slots.take(1, 500, "twilio")
    taken = [fill(slots, stranger) for stranger in range(1, 21)]
    assert max(taken) <= 60
    slots.take(2, 501, "twilio")  # the victim's first call


def test_the_last_place_is_for_who_has_none() -> None:
    slots = make_slots(2)
    slots.take(1, ACME, "twilio")
    slots.take(2, GLOBEX, "twilio")
    slots.give_back(2)
    with pytest.raises(ProcessIsFull, match="Your organization is using its full share"):
        slots.take(3, ACME, "twilio")
    slots.take(4, GLOBEX, "twilio")


def test_weight_and_share() -> None:
    found = []
    for weight, share in [(1.0, 0.5), (3.0, 0.5), (1.0, 0.75), (1.0, 1.0)]:
        slots = make_slots(45, share=share)
        slots.take(1, GLOBEX, "twilio")
        found.append(fill(slots, ACME, weight=weight))
    assert found == [20, 30, 30, 44]


def test_test_calls_leave_places_to_telephones() -> None:
    slots = make_slots(8, reserve=0.25)
    assert fill(slots, ACME, mode="browser") == 6
    assert fill(slots, GLOBEX, mode="twilio") == 1, "of two that are left, one stays for the next"
    for run_id in range(ACME * 1000, ACME * 1000 + 6):
        slots.give_back(run_id)
    slots.give_back(ACME * 1000)  # returned twice, counted once
    assert fill(slots, ACME, mode="browser") > 0


def test_a_slot_is_free_once_nobody_holds_it() -> None:
    slots = make_slots(1)
    slots.take(1, ACME, "twilio")  # the socket
    slots.take(1, ACME, "twilio")  # the call
    slots.give_back(1)
    with pytest.raises(ProcessIsFull):
        slots.take(2, GLOBEX, "twilio")
    slots.give_back(1)
    assert slots.taken == 0
    slots.take(2, GLOBEX, "twilio")


def test_a_call_whose_share_was_asked_before_needs_a_place_only() -> None:
    slots = make_slots(12)
    slots.take(1, GLOBEX, "twilio")
    assert fill(slots, ACME) == 5
    slots.take(2, ACME, "twilio", is_promised=True)
    with pytest.raises(ProcessIsFull, match="its full share"):
        slots.take(3, ACME, "browser", is_promised=True)


@pytest.fixture
async def live(root: Root) -> AsyncIterator[LiveCallRegistry]:
    use_fakes(root, FixedModels([takes("done")]))
    object.__setattr__(root.settings, "max_calls_per_process", 3)
    yield root.get(RunServices).live
    await root.get(RunServices).live.stop_all()


async def test_a_caller_gets_through_while_strangers_fill_the_process(
    root: Root, live: LiveCallRegistry, org: OrgFixture, other_org: OrgFixture, make_workflow: MakeWorkflow
) -> None:
    agents = {one.id: await make_workflow(one.id) for one in (org, other_org)}

    async def make_run(owner: OrgFixture, mode: str) -> Run:
        async with root.db.transaction() as session:
            return await service.create_run(
                session,
                organization_id=owner.id,
                workflow_id=agents[owner.id],
                mode=mode,
                direction="inbound",
                use_draft=False,
            )

    async def answer(run: Run) -> tuple[LiveCall, asyncio.Task[object]]:
        leg = KeptLeg()
        call = await live.connect_leg(run.id, leg)
        leg.on_mark = call.session.feed_mark
        return call, asyncio.create_task(call.run())

    first, talking = await answer(await make_run(org, "twilio"))
    tests = [await make_run(other_org, "browser") for _ in range(2)]
    calls = [await answer(tests[0])]
    with pytest.raises(ProcessIsFull):
        await answer(tests[1])
    async with root.db.transaction() as session:
        refused = await service.get_run(session, other_org.id, tests[1].id)
    assert (refused.status, refused.worker_id) == ("initiated", None), "another process may take it"

    first.session.end_call("caller_hung_up")
    await talking
    again, talking = await answer(await make_run(org, "twilio"))
    calls.append((again, talking))
    for call, task in calls:
        call.session.end_call("caller_hung_up")
        await task
    assert live.active_calls == 0
    calls = [await answer(tests[1])]
    calls[0][0].session.end_call("caller_hung_up")
    await calls[0][1]
