"""Documents over HTTP: in, read, found, changed, put away and brought back."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import text

from offhook.root import Root
from tests.fixtures_orgs import OrgFixture
from tests.knowledge.conftest import GUIDE, Librarian

COUNTS = text("SELECT (SELECT count(*) FROM knowledge_chunks), (SELECT count(*) FROM knowledge_vectors)")


class TestUpload:
    async def test_anonymous(self, librarian: Librarian) -> None:
        answer = await librarian.client.post("/knowledge-base/", files={"file": ("guide.md", GUIDE)})
        assert answer.status_code == 401

    async def test_a_document_becomes_ready_and_is_found(self, librarian: Librarian) -> None:
        document = await librarian.add(name="Visitor guide")
        assert document["status"] == "ready", document
        assert document["name"] == "Visitor guide"
        assert document["filename"] == "guide.md"
        assert document["mime_type"] == "text/markdown"
        assert document["size_bytes"] == len(GUIDE)
        assert document["chunk_count"] >= 2
        assert document["progress"] == 1
        assert document["ready_at"] is not None
        assert document["error"] is None
        best = (await librarian.find("What does it cost for a grown-up?"))[0]
        assert best["document_id"] == document["id"]
        assert "14 euros" in best["text"]
        assert 0 < best["score"] <= 1

    async def test_the_kind_is_that_of_the_content(self, librarian: Librarian) -> None:
        picture = b"\x89PNG\r\n\x1a\n" + bytes(100)
        answer = await librarian.send(picture, "report.png")
        assert (answer.status_code, answer.json()["code"]) == (415, "document_not_supported")
        for content, name in (
            (picture, "report.pdf"),
            (bytes(range(256)) * 8, "BAD.PDF"),
            (b"PK\x03\x04cut", "a.docx"),
        ):
            answer = await librarian.send(content, name)
            assert (answer.status_code, answer.json()["code"]) == (422, "document_unreadable"), name
        renamed = await librarian.send("<!doctype html><p>Hello there, visitor.</p>", "page.txt")
        assert renamed.json()["mime_type"] == "text/html"

    @pytest.mark.parametrize(
        ("name", "ending"),
        [("picture.png", ".png"), ("Song.MP3", ".MP3"), ("report.pdf", ".pdf"), ("table.xls", ".xls"),
         ("server.log", None), ("notes", None), ("Prices v1.2", None), ("text.txt", None)],
    )  # fmt: skip
    async def test_text_under_the_name_of_another_kind_is_read_and_noticed(
        self, librarian: Librarian, name: str, ending: str | None
    ) -> None:
        document = await librarian.add("This is plain text.", name)
        assert (document["status"], document["mime_type"]) == ("ready", "text/plain")
        assert (ending is None) == (document["notice"] is None)
        assert ending is None or f"ends in {ending}, but its content is text/plain" in document["notice"]

    async def test_nothing_and_too_much(self, librarian: Librarian) -> None:
        empty = await librarian.send(b"", "empty.txt")
        assert (empty.status_code, empty.json()["code"]) == (422, "document_empty")
        large = await librarian.send(b"a " * (51 << 19), "large.txt")
        assert large.status_code == 413
        nothing = await librarian.request("POST", data={"name": "x"})
        assert nothing.status_code == 422
        nameless = await librarian.send(name="x" * 256)
        assert nameless.status_code == 422

    async def test_the_same_bytes_again_are_not_embedded_again(self, librarian: Librarian, root: Root) -> None:
        first = await librarian.add()
        async with root.db.transaction() as session:
            before = (await session.execute(COUNTS)).one()
        second = await librarian.add(name="Copy")
        async with root.db.transaction() as session:
            assert (await session.execute(COUNTS)).one() == before
        assert second["status"] == "ready"
        assert second["id"] != first["id"]
        hits = await librarian.find("opening hours", document_ids=[first["id"]])
        assert {hit["document_id"] for hit in hits} == {first["id"]}

    @pytest.mark.slow
    async def test_the_same_bytes_at_the_same_moment_are_one_content(self, librarian: Librarian, root: Root) -> None:
        answers = await asyncio.gather(*(librarian.send(name=f"Copy {number}") for number in range(6)))
        assert [answer.status_code for answer in answers] == [200] * 6
        await librarian.work()
        listed = (await librarian.request("GET", "/")).json()
        assert [item["status"] for item in listed] == ["ready"] * 6
        async with root.db.transaction() as session:
            assert await session.scalar(text("SELECT count(*) FROM knowledge_contents")) == 1


class TestReadAndChange:
    async def test_lists(self, librarian: Librarian, other_librarian: Librarian) -> None:
        first, second = await librarian.add("One thing.", "one.txt"), await librarian.add("Another.", "two.txt")
        await librarian.request("DELETE", f"/{second['id']}")
        await other_librarian.add()
        answer = await librarian.request("GET", "/")
        assert [item["name"] for item in answer.json()] == ["two.txt", "one.txt"]
        assert answer.headers["X-Total-Count"] == "2"
        page = await librarian.request("GET", "/", params={"limit": 1, "offset": 1})
        assert ([item["id"] for item in page.json()], page.headers["X-Total-Count"]) == ([first["id"]], "2")
        ready = await librarian.request("GET", "/", params={"status": "ready"})
        assert [item["id"] for item in ready.json()] == [first["id"]]
        assert (await librarian.request("GET", "/", params={"status": "nonsense"})).status_code == 422

    @pytest.mark.slow
    async def test_the_reference_s_list(self, librarian: Librarian) -> None:
        document, hidden = await librarian.add(), await librarian.add("Hidden.", "hidden.txt")
        await librarian.request("DELETE", f"/{hidden['id']}")
        await librarian.send("Waiting.", "waiting.txt")
        listed = (await librarian.request("GET", "/documents", params={"status": "completed"})).json()
        assert (listed["total"], listed["limit"], listed["offset"]) == (1, 100, 0)
        shown = listed["documents"][0]
        assert isinstance(shown["id"], int)
        assert shown["document_uuid"] == document["id"]
        assert shown["processing_status"] == "completed"
        assert shown["total_chunks"] == document["chunk_count"]
        assert shown["is_active"] is True
        everything = (await librarian.request("GET", "/documents")).json()
        assert [item["processing_status"] for item in everything["documents"]] == ["processing", "completed"]

    async def test_name_and_metadata(self, librarian: Librarian) -> None:
        document = await librarian.add()
        path = f"/{document['id']}"
        changed = await librarian.request("PATCH", path, json={"name": "  Museum ", "metadata": {"team": "desk"}})
        assert (changed.json()["name"], changed.json()["metadata"]) == ("Museum", {"team": "desk"})
        again = await librarian.request("PATCH", path, json={"metadata": {}, "retrieval_mode": "full_document"})
        assert (again.json()["name"], again.json()["metadata"]) == ("Museum", {})
        bad_fields: list[dict[str, Any]] = [
            {"name": ""},
            {"name": None},
            {"metadata": []},
            {"metadata": {"x": "y" * 10_001}},
        ]
        for bad in bad_fields:
            assert (await librarian.request("PATCH", path, json=bad)).status_code == 422, bad

    @pytest.mark.slow
    async def test_archived_documents_are_not_found_and_come_back_as_they_were(self, librarian: Librarian) -> None:
        ready, broken = await librarian.add(), await librarian.add(b"%PDF-1.7 nothing", "broken.pdf")
        assert broken["status"] == "failed"
        assert "damaged" in broken["error"]
        for document in (ready, broken):
            gone = await librarian.request("DELETE", f"/{document['id']}")
            assert (gone.status_code, gone.json()["status"]) == (200, "archived")
            assert gone.json()["archived_at"] is not None
            assert (await librarian.request("DELETE", f"/{document['id']}")).status_code == 200
        left = await librarian.request("GET", "/", params={"has_archived": False})
        assert (left.json(), left.headers["X-Total-Count"]) == ([], "0")
        assert await librarian.find("tickets") == []
        for document, status in ((ready, "ready"), (broken, "failed")):
            back = await librarian.request("POST", f"/{document['id']}/unarchive")
            assert (back.json()["status"], back.json()["archived_at"]) == (status, None)
        assert await librarian.find("tickets")

    async def test_another_organization(self, librarian: Librarian, other_librarian: Librarian) -> None:
        document = await other_librarian.add()
        path = f"/{document['id']}"
        for method, at in (("GET", path), ("DELETE", path), ("POST", f"{path}/unarchive"), ("PATCH", path)):
            answer = await librarian.request(method, at, **({"json": {"name": "Mine"}} if method == "PATCH" else {}))
            assert (answer.status_code, answer.json()["code"]) == (404, "document_not_found")
        assert (await librarian.request("GET", "/nonsense")).status_code == 404
        assert await librarian.find("tickets", document_ids=[document["id"]]) == []
        assert await librarian.find("tickets") == []

    async def test_viewers_read(self, librarian: Librarian, org: OrgFixture) -> None:
        document = await librarian.add()
        viewer = Librarian(librarian.client, org.headers_for("viewer"), librarian.root)
        assert (await viewer.send()).status_code == 403
        assert (await viewer.request("DELETE", f"/{document['id']}")).status_code == 403
        assert await viewer.find("dogs")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": ""},
        {"query": "  "},
        {"query": "x" * 2001},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 21},
    ],
)
async def test_searches_that_are_none(librarian: Librarian, body: dict[str, object]) -> None:
    assert (await librarian.request("POST", "/search", json=body)).status_code == 422
