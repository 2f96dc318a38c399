"""The room of several processes: asked before a call begins, and given away once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text, update

from offhook.bootstrap import build_root, stop_domains
from offhook.kit.loop_lateness import MAX_SAMPLES
from offhook.nodes.node_beat import NodeBeat
from offhook.nodes.server_description import describe_server
from offhook.orgs.tables import Organization
from offhook.root import Root
from offhook.runs import LiveCallRegistry, Run, service
from offhook.runs.call_shares import PlaceRequest
from offhook.runs.errors import ClusterFull, ConcurrentCallLimit, MediaTokenRefused, ProcessIsFull, ServerDraining
from offhook.runs.live import media_tokens
from offhook.runs.states import TEXT_CHAT
from offhook.settings import Settings
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeWorkflow

PLACES = 2
MakeCall = Callable[..., Awaitable[Run]]


class Process:
    """One server of the installation: its parts, and the beat that it sends when the test says so."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self.live = root.get(LiveCallRegistry)
        self.node = NodeBeat(
            root, describe_server(root.settings), count_live=lambda: self.live.slots.taken, on_beat=self.live.room.read
        )

    async def beat(self) -> None:
        await self.node.beat()

    async def carry(self, run: Run) -> None:
        """Marks the run as carried by this process."""
        async with self.root.db.transaction() as session:
            await session.execute(
                update(Run).where(Run.id == run.id).values(worker_id=self.root.node_id, status="in_progress")
            )


@pytest.fixture
async def processes(settings: Settings, database_url: str) -> AsyncIterator[list[Process]]:
    """Two servers with two places each, on one database."""
    found = []
    for number in (1, 2):
        own = {"max_calls_per_process": PLACES, "node_public_url": f"https://node{number}.example"}
        own_settings = settings.model_copy(update={**own, "org_concurrency_limit": 100})
        found.append(Process(build_root(own_settings, database_url)))
    for process in [*found, *found]:
        await process.beat()
    yield found
    for process in found:
        await stop_domains(process.root)
        await process.root.db.dispose()


@pytest.fixture
async def make_call(org: OrgFixture, make_workflow: MakeWorkflow) -> MakeCall:
    workflow_ids = {org.id: await make_workflow(org.id)}

    async def make(process: Process, *, owner: OrgFixture = org, mode: str = "twilio") -> Run:
        if owner.id not in workflow_ids:
            workflow_ids[owner.id] = await make_workflow(owner.id)
        async with process.root.db.transaction() as session:
            return await service.create_run(
                session,
                organization_id=owner.id,
                workflow_id=workflow_ids[owner.id],
                mode=mode,
                direction="inbound",
                use_draft=False,
            )

    return make


async def fill(processes: list[Process], make_call: MakeCall) -> list[Run]:
    """Lets calls begin until there is no room."""
    runs: list[Run] = []
    while True:
        try:
            runs.append(await make_call(processes[len(runs) % 2]))
        except ClusterFull:
            return runs


async def test_a_full_cluster_refuses_before_a_call_begins(processes: list[Process], make_call: MakeCall) -> None:
    runs = await fill(processes, make_call)
    assert len(runs) == 2 * PLACES
    with pytest.raises(ClusterFull) as refused:
        await make_call(processes[1])
    assert (refused.value.code, refused.value.status) == ("cluster_full", 503)
    assert refused.value.headers == {"Retry-After": "5"}
    await processes[0].carry(runs[0])  # carried or not yet: each counts once
    with pytest.raises(ClusterFull):
        await make_call(processes[0])
    async with processes[0].root.db.transaction() as session:
        await service.apply_status(session, runs[1].organization_id, runs[1].id, "no_answer")
    assert (await make_call(processes[1])).status == "initiated"


async def test_a_process_that_drains_answers_callers_for_others(processes: list[Process], make_call: MakeCall) -> None:
    draining, other = processes
    await draining.root.drain()
    await draining.beat()
    assert (await make_call(draining)).status == "initiated", "its balancer has not noticed yet"
    for refused in (TEXT_CHAT, "browser"):
        with pytest.raises(ServerDraining):
            await make_call(draining, mode=refused)
    await other.root.drain()
    await other.beat()
    await draining.beat()
    with pytest.raises(ServerDraining):
        await make_call(draining)


async def test_many_at_once_never_get_more_than_there_is(
    processes: list[Process], make_call: MakeCall, org: OrgFixture, other_org: OrgFixture
) -> None:
    for process in processes:
        object.__setattr__(process.root.settings, "org_call_share", 1.0)
    for owner in (org, other_org):
        await make_call(processes[0], owner=owner)
    asked = [make_call(processes[number % 2], owner=(org, other_org)[number // 4]) for number in range(8)]
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(one, Run) for one in found) == 2 * PLACES - 2
    assert all(isinstance(one, Run | ClusterFull) for one in found)


async def test_who_lags_drains_or_is_lost_has_no_room(processes: list[Process], make_call: MakeCall) -> None:
    late, other = processes
    for _ in range(MAX_SAMPLES):
        late.node.lateness.add_sample(0.5)
    await late.beat()
    assert len(await fill(processes, make_call)) == PLACES
    async with other.root.db.transaction() as session:
        await session.execute(update(Run).values(status="completed"))
        await session.execute(text("UPDATE nodes SET beat_at = beat_at - interval '20 s'"))
    await other.root.drain()
    await other.beat()
    with pytest.raises(ClusterFull, match="No server takes calls now"):
        await make_call(late)


async def test_an_own_beat_that_is_late_does_not_take_the_room_away(
    processes: list[Process], make_call: MakeCall
) -> None:
    async with processes[0].root.db.transaction() as session:
        await session.execute(text("UPDATE nodes SET beat_at = beat_at - interval '20 s'"))
    assert (await make_call(processes[0])).id


async def test_chats_need_no_place_but_somebody_who_answers(processes: list[Process], make_call: MakeCall) -> None:
    await fill(processes, make_call)
    assert (await make_call(processes[0], mode=TEXT_CHAT)).id
    for process in processes:
        for _ in range(MAX_SAMPLES):
            process.node.lateness.add_sample(0.5)
        await process.beat()
    await processes[0].beat()
    with pytest.raises(ClusterFull):
        await make_call(processes[0], mode=TEXT_CHAT)


async def test_the_organization_s_own_limit_is_said_first(processes: list[Process], make_call: MakeCall) -> None:
    async with processes[0].root.db.transaction() as session:
        await session.execute(update(Organization).values(concurrency_limit=1))
    await make_call(processes[0])
    with pytest.raises(ConcurrentCallLimit):
        await make_call(processes[1])


async def test_test_calls_leave_places_to_telephones(
    processes: list[Process], make_call: MakeCall, other_org: OrgFixture
) -> None:
    for process in processes:
        object.__setattr__(process.root.settings, "telephone_call_reserve", 0.5)
    for _ in range(2):
        await make_call(processes[0], mode="browser")
    with pytest.raises(ClusterFull):
        await make_call(processes[1], mode="browser")
    assert (await make_call(processes[1], owner=other_org)).id


async def test_an_organization_leaves_places_to_others(
    processes: list[Process], make_call: MakeCall, other_org: OrgFixture
) -> None:
    await make_call(processes[0], owner=other_org)
    await make_call(processes[0])
    await make_call(processes[1])
    with pytest.raises(ClusterFull, match="its share"):
        await make_call(processes[1])
    async with processes[0].root.db.transaction() as session:
        room = processes[0].live.room
        assert await room.take_places(session, 5, PlaceRequest(held=0)) == 1, "a campaign gets what is left"


async def test_a_full_process_leaves_the_token_to_another(processes: list[Process], make_call: MakeCall) -> None:
    full, free = processes
    tokens = {}
    for _ in range(3):
        run = await make_call(free)
        async with free.root.db.transaction() as session:
            tokens[run.id] = await media_tokens.issue_token(session, run)
    (first, second, third) = tokens.items()
    for run_id, token in (first, second):
        await full.live.admission.admit_run(run_id, token, mode="twilio")
    with pytest.raises(ProcessIsFull):
        await full.live.admission.admit_run(*third, mode="twilio")
    assert (await free.live.admission.admit_run(*third, mode="twilio")).id == third[0]
    with pytest.raises(MediaTokenRefused):
        await free.live.admission.admit_run(*third, mode="twilio")
    assert (full.live.slots.taken, free.live.slots.taken) == (2, 1)
    full.live.slots.give_back(first[0])
    assert full.live.slots.taken == 1


async def test_the_media_address_is_that_of_a_process_with_room(processes: list[Process], make_call: MakeCall) -> None:
    one, two = (process.live.room for process in processes)
    assert (one.find_media_url(), two.find_media_url()) == ("https://node1.example", "https://node2.example")
    for _ in range(PLACES):
        await processes[0].carry(await make_call(processes[0]))
    await processes[0].beat()
    assert {one.find_media_url() for _ in range(2)} == {"https://node2.example"}
    assert one.find_media_url() is None, "both were sent what they can carry: the balancer may know better"
    assert (one.has_room_elsewhere(), two.has_room_elsewhere()) == (True, True)
    await processes[1].beat()
    assert two.has_room_elsewhere() is False


async def test_monitors_see_the_room(processes: list[Process], make_call: MakeCall) -> None:
    await processes[0].carry(await make_call(processes[0]))
    await make_call(processes[1])
    await processes[1].beat()
    found = [REGISTRY.get_sample_value(f"offhook_cluster_{name}") for name in ("places", "free_places")]
    calls = [REGISTRY.get_sample_value("offhook_cluster_calls", {"state": state}) for state in ("carried", "waiting")]
    assert (found, calls) == ([4, 2], [1, 1])


async def test_without_a_beat_nothing_is_refused(root: Root, make_call: MakeCall) -> None:
    object.__setattr__(root.settings, "max_calls_per_process", 1)
    process = Process(root)
    for _ in range(3):
        await make_call(process)
    assert process.live.room.find_media_url() is None
