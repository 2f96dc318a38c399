"""The content that a page no longer has is deleted with its file."""

import pytest
from sqlalchemy import text

from offhook.kit.files.file_store import StorageUnavailable
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture
from tests.knowledge.conftest import Librarian
from tests.recordings.test_unclaimed_uploads import HOUR, age


async def lose_content(librarian: Librarian) -> tuple[int, str]:
    """The content of a document that is gone, and the key of its file."""
    await librarian.add()
    async with librarian.root.db.transaction() as session:
        await session.execute(text("DELETE FROM knowledge_documents"))
        row = (await session.execute(text("SELECT id, storage_key FROM knowledge_contents"))).one()
    return row[0], row[1]


async def count_contents(root: Root) -> int:
    async with root.db.transaction() as session:
        return int(await session.scalar(text("SELECT count(*) FROM knowledge_contents")) or 0)


@pytest.mark.parametrize("is_old", [True, False], ids=["old", "of this minute"])
async def test_the_file_goes_unless_a_request_may_just_have_stored_it(
    librarian: Librarian, org: OrgFixture, root: Root, is_old: bool
) -> None:
    content_id, key = await lose_content(librarian)
    path = age(root, key, HOUR if is_old else 0 * HOUR)
    await root.jobs.handlers["document.forget"]({"organization_id": org.id, "content_id": content_id})
    assert await count_contents(root) == 0
    assert path.exists() != is_old


async def test_a_bucket_that_fails_keeps_the_file(
    librarian: Librarian, org: OrgFixture, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    content_id, key = await lose_content(librarian)
    path = age(root, key, HOUR)

    async def fail(_key: str) -> None:
        raise StorageUnavailable

    monkeypatch.setattr(root.storage, "delete", fail)
    await root.jobs.handlers["document.forget"]({"organization_id": org.id, "content_id": content_id})
    assert await count_contents(root) == 0
    assert path.exists()
