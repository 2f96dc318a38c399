"""Event streams end with their credential."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from httpx2 import AsyncClient
from sqlalchemy import delete, select

from offhook.orgs import StreamLimits
from offhook.orgs.credential_watch import OpenStreams, watch_stream
from offhook.orgs.errors import TooManyStreams
from offhook.orgs.tables import ApiKey, UserSession
from offhook.root import Root
from offhook.runs.tables import Run
from tests.campaigns.conftest import MakeCampaign, make_campaign
from tests.fakes.clock import run_virtual
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import make_run, make_workflow, run, workflow_id

__all__ = ["make_campaign", "make_run", "make_workflow", "run", "workflow_id"]


class Credential:
    """A credential that is archived at a time of the virtual clock; counts its checks."""

    def __init__(self, archived_at_s: float) -> None:
        self._archived_at = asyncio.get_running_loop().time() + archived_at_s
        self.checks = 0

    async def keeps_access(self) -> bool:
        self.checks += 1
        return asyncio.get_running_loop().time() < self._archived_at


async def tell_every(seconds: float, ended: list[bool]) -> AsyncGenerator[str]:
    try:
        while True:
            await asyncio.sleep(seconds)
            yield "event"
    finally:
        ended.append(True)


def follow_until_it_ends(part_every_s: float, archived_at_s: float) -> tuple[float, int, int]:
    """Returns when the stream ended, in seconds, the parts that left and the checks."""

    async def follow() -> tuple[float, int, int]:
        loop = asyncio.get_running_loop()
        begun, ended = loop.time(), list[bool]()
        credential = Credential(archived_at_s)
        parts = [
            part
            async for part in watch_stream(tell_every(part_every_s, ended), credential.keeps_access, StreamLimits())
        ]
        assert ended, "its source goes on"
        return loop.time() - begun, len(parts), credential.checks

    return run_virtual(follow())


@pytest.mark.parametrize("part_every_s", [1.01, 14.0, 20.0, 1e6])
def test_an_archived_key_ends_it_within_one_keep_alive(part_every_s: float) -> None:
    seconds, parts, checks = follow_until_it_ends(part_every_s, archived_at_s=1.6)
    assert seconds == pytest.approx(15.0)
    assert (parts, checks) == (15 // part_every_s, 1)


def test_it_ends_after_15_minutes_and_is_checked_every_15_seconds() -> None:
    seconds, parts, checks = follow_until_it_ends(0.7, archived_at_s=1e9)
    assert seconds == pytest.approx(900.0)
    assert (parts, checks) == (1285, 59)


def test_it_ends_with_its_source() -> None:
    async def three() -> AsyncGenerator[str]:
        for number in range(3):
            yield str(number)

    async def follow() -> list[str]:
        return [part async for part in watch_stream(three(), Credential(1e9).keeps_access, StreamLimits())]

    assert run_virtual(follow()) == ["0", "1", "2"]


@pytest.fixture
async def paths(run: Run, make_campaign: MakeCampaign) -> list[str]:
    """The event streams of a run that is not over and of a campaign that has not begun."""
    campaign = await make_campaign(contacts=1)
    return [f"/workflow/{run.workflow_id}/runs/{run.id}/events", f"/campaign/{campaign.id}/progress/stream"]


async def test_streams_of_a_key_end_when_it_is_archived(
    client: AsyncClient, root: Root, org: OrgFixture, paths: list[str]
) -> None:
    root.provide(StreamLimits, StreamLimits(check_every_s=0.02))
    streams = [asyncio.create_task(client.get(path, headers=org.key_headers)) for path in paths]
    async with asyncio.timeout(60):
        while not await is_used(root, org.key_id):
            await asyncio.sleep(0.01)
        assert not any(stream.done() for stream in streams)
        archived = await client.delete(f"/user/api-keys/{org.key_id}", headers=org.owner_headers)
        assert archived.status_code == 200, archived.text
        answers = await asyncio.gather(*streams)
    for answer in answers:
        assert answer.status_code == 200 or answer.json()["code"] == "invalid_api_key"
        assert "event: ended" not in answer.text
    for path in paths:
        assert (await client.get(path, headers=org.key_headers)).status_code == 401


async def is_used(root: Root, key_id: int) -> bool:
    async with root.db.transaction() as session:
        return await session.scalar(select(ApiKey.last_used_at).where(ApiKey.id == key_id)) is not None


async def test_streams_of_a_session_end_with_it(
    client: AsyncClient, root: Root, org: OrgFixture, paths: list[str]
) -> None:
    root.provide(StreamLimits, StreamLimits(check_every_s=0.02))
    streams = [asyncio.create_task(client.get(path, headers=org.owner_headers)) for path in paths]
    await asyncio.sleep(0)
    async with root.db.transaction() as session:
        await session.execute(delete(UserSession))
    async with asyncio.timeout(60):
        assert {answer.status_code for answer in await asyncio.gather(*streams)} <= {200, 401}


async def test_streams_of_a_valid_key_end_after_a_while(
    client: AsyncClient, root: Root, org: OrgFixture, paths: list[str]
) -> None:
    root.provide(StreamLimits, StreamLimits(check_every_s=0.02, max_s=0.1))
    for path in paths:
        answer = await client.get(path, headers=org.key_headers)
        assert answer.status_code == 200
        assert answer.text.startswith("retry:")
        assert "event: ended" not in answer.text


class TestManyStreams:
    @pytest.fixture(autouse=True)
    def few_streams(self, root: Root) -> None:
        root.provide(StreamLimits, StreamLimits(check_every_s=60, max_s=0.5, per_organization=2))

    async def test_one_organization_has_so_many_and_leaves_the_others_theirs(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, paths: list[str]
    ) -> None:
        answers = await asyncio.gather(*(client.get(paths[0], headers=org.key_headers) for _ in range(5)))
        assert sorted(answer.status_code for answer in answers) == [200, 200, 429, 429, 429]
        assert {answer.json()["code"] for answer in answers if answer.status_code == 429} == {"too_many_streams"}
        for path in paths:  # those have ended
            assert (await client.get(path, headers=org.key_headers)).status_code == 200

    async def test_each_organization_has_its_own(self) -> None:
        streams, ended = OpenStreams(), list[bool]()
        kept = [streams.admit_stream(number, 1, tell_every(1, ended)) for number in range(3)]
        with pytest.raises(TooManyStreams):
            streams.admit_stream(2, 1, tell_every(1, ended))
        # nobody began to read it
        del kept[2]
        await streams.admit_stream(2, 1, tell_every(1, ended)).aclose()
