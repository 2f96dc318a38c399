"""Contact files: where they go, who may name them, and how they are read again."""

import os
import time
from collections.abc import AsyncIterator

from httpx2 import AsyncClient

from offhook.campaigns import CampaignServices
from offhook.campaigns.intake.contact_files import MAX_FILE_BYTES, UNUSED_FILE_TTL_S
from offhook.root import Root
from tests.campaigns.desk import Desk, contact_file
from tests.fixtures_orgs import OrgFixture


async def test_an_upload_has_its_place(desk: Desk, org: OrgFixture) -> None:
    place = (await desk.place(name="Größe ä/../x.csv")).json()
    assert place["expires_in"] == 900
    assert place["file_key"].startswith(f"campaigns/{org.id}/")
    sent = await desk.client.put(place["upload_url"], content=b"abc")
    assert (sent.status_code, sent.json()) == (200, {"file_key": place["file_key"], "file_size": 3})


async def test_what_is_refused(desk: Desk, client: AsyncClient) -> None:
    body = {"file_name": "a.csv", "file_size": 3, "content_type": "text/csv"}
    assert (await client.post("/s3/presigned-upload-url", json=body)).status_code == 401
    too_large = await desk.place(size=51 * 1024 * 1024)
    assert (too_large.status_code, too_large.json()["code"]) == (413, "too_large")
    wrong_kind = await desk.place(name="contacts.xlsx")
    assert (wrong_kind.status_code, wrong_kind.json()["code"]) == (415, "unsupported_media_type")
    assert (await desk.place(size=0)).status_code == 422
    assert (await client.put("/s3/uploads/forged", content=b"a")).status_code == 401
    assert (await client.get("/s3/files/forged")).status_code == 401


async def test_more_than_was_said_is_too_large(desk: Desk, root: Root) -> None:
    """The size that counts is that of the bytes, also of a body that does not say its length."""
    place = (await desk.place(size=10)).json()

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(51):
            yield b"a" * 1024 * 1024

    sent = await desk.client.put(place["upload_url"], content=chunks())
    assert (sent.status_code, sent.json()["code"]) == (413, "too_large")
    declared = await desk.client.put(place["upload_url"], content=b"a" * (MAX_FILE_BYTES + 1))
    assert (declared.status_code, declared.json()["code"]) == (413, "too_large")
    assert list((root.storage.root / "uploads").iterdir()) == []


async def test_a_key_belongs_to_its_organization(desk: Desk, other_desk: Desk) -> None:
    theirs = await other_desk.upload(contact_file())
    for key in (theirs, "campaigns/1/nothing.csv", "../../etc/passwd", "x"):
        answer = await desk.create(contacts_file_key=key)
        assert (answer.status_code, answer.json()["code"]) == (404, "contacts_file_not_found")


async def test_the_source_is_downloaded_by_a_link(desk: Desk, other_desk: Desk, client: AsyncClient) -> None:
    content = contact_file()
    campaign = await desk.made(content)
    link = await desk.get(f"/{campaign['id']}/source-download-url")
    assert link["expires_in"] == 900
    file = await client.get(link["download_url"])
    assert (file.status_code, file.content) == (200, content)
    assert 'filename="contacts.csv"' in file.headers["content-disposition"]
    # the right to read is no right to write
    token = link["download_url"].rpartition("/")[2]
    assert (await client.put(f"/s3/uploads/{token}", content=b"x")).status_code == 401
    other = await other_desk.ask("GET", f"/{campaign['id']}/source-download-url")
    assert (other.status_code, other.json()["code"]) == (404, "campaign_not_found")


async def test_what_no_campaign_names_is_removed_after_a_day(desk: Desk, root: Root) -> None:
    files = root.get(CampaignServices).files
    used, unused, young = [await desk.upload(contact_file()) for _ in range(3)]
    await desk.made(contacts_file_key=used)
    yesterday = time.time() - UNUSED_FILE_TTL_S - 60
    for key in (used, unused):
        os.utime(root.storage.path_for(key), (yesterday, yesterday))
    assert await files.remove_unused_files() == 1
    assert [root.storage.path_for(key).exists() for key in (used, unused, young)] == [True, False, True]
