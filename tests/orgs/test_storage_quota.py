"""What strangers upload: at most what they announced, what their organization may store, and what the disk has room for."""

from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from httpx2 import AsyncClient, Response

from offhook.orgs import StorageQuota
from offhook.root import Root
from offhook.settings import Settings
from tests.campaigns.conftest import desk, other_desk, workflow_id
from tests.campaigns.desk import Desk, contact_file
from tests.fixtures_orgs import OrgFixture
from tests.knowledge.conftest import Librarian
from tests.recordings.conftest import Studio
from tests.recordings.sounds import sound_file
from tests.runs.conftest import make_workflow

__all__ = ["desk", "make_workflow", "other_desk", "workflow_id"]

STORAGE = "/organizations/usage/storage"


@pytest.fixture
def librarian(client: AsyncClient, org: OrgFixture, root: Root) -> Librarian:
    return Librarian(client, org.key_headers, root)


@pytest.fixture
def studio(client: AsyncClient, org: OrgFixture) -> Studio:
    return Studio(client, org.key_headers)


def code_of(answer: Response) -> tuple[int, str | None]:
    return answer.status_code, answer.json().get("code")


async def upload_sound(studio: Studio) -> Response:
    return await studio.client.put((await studio.place())["upload_url"], content=sound_file())


async def test_a_contact_file_is_as_large_as_it_was_announced(desk: Desk, root: Root) -> None:
    content = contact_file()
    place = (await desk.place(size=len(content))).json()
    assert code_of(await desk.client.put(place["upload_url"], content=content + b"x")) == (413, "too_large")
    assert not root.storage.path_for(place["file_key"]).exists()
    assert (await desk.client.put(place["upload_url"], content=content)).status_code == 200


async def test_a_recording_is_as_large_as_it_was_announced(studio: Studio) -> None:
    content = sound_file()
    place = await studio.place(len(content))
    assert code_of(await studio.client.put(place["upload_url"], content=content + b"x")) == (413, "file_too_large")
    assert (await studio.client.put(place["upload_url"], content=content)).status_code == 200


async def test_a_full_organization_uploads_nothing_and_others_do(
    root: Root, desk: Desk, other_desk: Desk, librarian: Librarian, studio: Studio, other_org: OrgFixture
) -> None:
    await librarian.send("x" * 900, "a.txt")
    place = (await desk.place(size=500)).json()
    root.get(StorageQuota).limit_bytes = 1_000
    full = (409, "storage_quota_exceeded")
    assert code_of(await librarian.send("y" * 900, "b.txt")) == full
    assert code_of(await upload_sound(studio)) == full
    assert code_of(await desk.place(size=500)) == full
    assert code_of(await desk.client.put(place["upload_url"], content=b"x" * 500)) == full, "one address, many uploads"
    assert (await desk.place(size=50)).status_code == 200
    assert (await other_desk.place(size=500)).status_code == 200


async def test_uploads_of_the_same_moment_do_not_share_room(
    root: Root, desk: Desk, other_desk: Desk, librarian: Librarian
) -> None:
    addresses = [(await desk.place(size=600)).json()["upload_url"] for _ in range(2)]
    of_others = (await other_desk.place(size=600)).json()["upload_url"]
    root.get(StorageQuota).limit_bytes = 1_000
    meanwhile: list[tuple[int, str | None]] = []

    async def body() -> AsyncIterator[bytes]:
        yield b"x" * 300
        meanwhile.append(code_of(await desk.client.put(addresses[1], content=b"x" * 600)))
        meanwhile.append(code_of(await librarian.send("y" * 600, "b.txt")))
        meanwhile.append(code_of(await desk.client.put(of_others, content=b"x" * 600)))
        raise ConnectionError

    with suppress(ConnectionError):
        await desk.client.put(addresses[0], content=body())
    full = (409, "storage_quota_exceeded")
    assert meanwhile == [full, full, (200, None)]
    answer = await desk.client.put(addresses[1], content=b"x" * 600)
    assert answer.status_code == 200, "an upload that broke off keeps no room"


@pytest.mark.slow
async def test_a_recording_takes_the_room_of_its_decoded_sound(root: Root, studio: Studio) -> None:
    place = await studio.place()
    sent = sound_file("OGG", seconds=3)
    assert (await studio.client.put(place["upload_url"], content=sent)).status_code == 200
    stored = root.storage.path_for(place["storage_key"]).stat().st_size
    quota, place = root.get(StorageQuota), await studio.place()
    quota.limit_bytes = 2 * stored - 1
    assert len(sent) < stored
    assert code_of(await studio.client.put(place["upload_url"], content=sent)) == (409, "storage_quota_exceeded")
    quota.limit_bytes = 2 * stored
    assert (await studio.client.put(place["upload_url"], content=sent)).status_code == 200


@pytest.mark.slow
async def test_deleting_makes_room(root: Root, librarian: Librarian, studio: Studio) -> None:
    made = await studio.record("hello")
    root.get(StorageQuota).limit_bytes = 1_000
    assert (await librarian.send("y" * 900, "b.txt")).status_code == 409
    assert (await studio.request("DELETE", f"/{made['recording_id']}")).status_code == 200
    assert (await librarian.send("y" * 900, "b.txt")).status_code == 200


async def test_without_a_limit_nothing_is_counted(root: Root, librarian: Librarian) -> None:
    root.get(StorageQuota).limit_bytes = None
    assert (await librarian.send("y" * 900, "b.txt")).status_code == 200


class TestAnAlmostFullDisk:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"min_free_disk_mb": 10**9})

    async def test_takes_no_uploads(self, desk: Desk, librarian: Librarian, studio: Studio) -> None:
        refused = (503, "disk_almost_full")
        assert code_of(await librarian.send()) == refused
        assert code_of(await upload_sound(studio)) == refused
        assert code_of(await desk.place()) == refused


async def test_usage_is_shown_to_whose_it_is(
    client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, desk: Desk, librarian: Librarian
) -> None:
    await librarian.send("x" * 900, "a.txt")
    content = contact_file()
    await desk.upload(content)
    expected = {
        "used_bytes": 900 + len(content),
        "limit_bytes": 5_000_000_000,
        "documents": 900,
        "recordings": 0,
        "contact_files": len(content),
    }
    assert (await client.get(STORAGE, headers=org.headers_for("viewer"))).json() == expected
    assert (await client.get(STORAGE, headers=other_org.owner_headers)).json()["used_bytes"] == 0
    assert (await client.get(STORAGE)).status_code == 401
