"""Web pages as documents: fetched by a job, read again, and every way in which that fails."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import text

from offhook.bootstrap import build_root, stop_domains
from offhook.kit.database.database import Database
from offhook.kit.egress import EgressClient, EgressPolicy, EgressResponse
from offhook.knowledge.tasks import STALE_AFTER
from offhook.knowledge.web_pages import fetching
from offhook.knowledge.web_pages.page_reading import GIVE_UP_AFTER
from offhook.orgs import StorageQuota
from offhook.root import Root
from offhook.settings import Settings
from tests.fakes.clock import ShiftedClock
from tests.fakes.web import LOOPBACK, FakeResolver, LocalServer, Reply, local_server
from tests.fixtures_orgs import OrgFixture
from tests.knowledge.conftest import Librarian

HOURS = "<!doctype html><title>Hours</title><main><h1>Hours</h1><p>The museum opens at {}.</p></main>"
PRIVATE = "http://10.0.0.7/"
COUNTS = text(
    "SELECT (SELECT count(*) FROM knowledge_contents), (SELECT count(*) FROM knowledge_chunks),"
    " (SELECT coalesce(sum(chunks), 0) FROM knowledge_terms WHERE term LIKE '%museum')"
)


class PlainEgress(EgressClient):
    """Fetches pages without TLS, which no server of a test has; everything else is as it is."""

    async def request(self, method: str, url: str, **more: Any) -> EgressResponse:
        return await super().request(method, url.replace("https://", "http://", 1), **more)


@pytest.fixture
async def root(settings: Settings, database: Database, shifted_clock: ShiftedClock) -> AsyncIterator[Root]:
    resolver = FakeResolver(museum_test=LOOPBACK, inside_test=["10.0.0.7"])
    egress = PlainEgress(EgressPolicy(frozenset({("museum.test", None)})), resolver)
    built = build_root(settings, database, egress, shifted_clock)
    yield built
    await stop_domains(built)
    await built.db.dispose()


@pytest.fixture
async def site() -> AsyncIterator[LocalServer]:
    async with local_server(page("nine")) as server:
        yield server


def page(hour: str) -> Reply:
    return html(HOURS.format(hour).encode())


def html(body: bytes, **headers: str) -> Reply:
    return Reply(body=body, headers={"content-type": "text/html"} | headers)


def address_of(site: LocalServer, path: str = "/visit/hours?lang=en") -> str:
    return site.url("museum.test", path).replace("http://", "https://")


async def add(librarian: Librarian, address: str, **more: str) -> dict[str, Any]:
    """The page's document as it is when its jobs have run."""
    answer = await librarian.request("POST", "/pages", json={"address": address, **more})
    assert answer.status_code == 200, answer.text
    assert answer.json()["status"] == "processing"
    await librarian.work()
    return await librarian.get(answer.json()["id"])


async def read_again(librarian: Librarian, document_id: str) -> dict[str, Any]:
    answer = await librarian.request("POST", f"/{document_id}/read-again")
    assert answer.status_code == 200, answer.text
    assert answer.json()["web_page"]["is_being_read"]
    await librarian.work()
    return await librarian.get(document_id)


async def counted(librarian: Librarian) -> tuple[int, ...]:
    async with librarian.root.db.transaction() as session:
        return tuple((await session.execute(COUNTS)).one())


class TestAdding:
    async def test_a_page_becomes_a_document_that_is_found(self, librarian: Librarian, site: LocalServer) -> None:
        address = address_of(site)
        document = await add(librarian, f"{address}#top")
        assert (document["status"], document["error"]) == ("ready", None)
        assert document["name"] == f"museum.test:{site.port}/visit/hours"
        assert (document["filename"], document["mime_type"]) == ("hours", "text/html")
        assert document["size_bytes"] == len(HOURS.format("nine"))
        state = document["web_page"]
        assert (state["address"], state["is_being_read"], state["error_code"]) == (address, False, None)
        assert state["read_at"] == document["ready_at"]
        assert [seen.target for seen in site.seen] == ["/visit/hours?lang=en"]
        assert "opens at nine" in (await librarian.find("When does the museum open?"))[0]["text"]
        listed = (await librarian.request("GET", "/documents")).json()["documents"][0]
        assert (listed["source_url"], listed["processing_status"]) == (address, "completed")

    async def test_before_it_is_read_it_is_listed_and_not_found(self, librarian: Librarian, site: LocalServer) -> None:
        body = {"address": address_of(site), "name": "Hours", "retrieval_mode": "chunked"}
        added = (await librarian.request("POST", "/pages", json=body)).json()
        assert (added["name"], added["retrieval_mode"], added["progress"]) == ("Hours", "chunked", 0)
        assert (added["size_bytes"], added["chunk_count"], added["web_page"]["read_at"]) == (0, None, None)
        assert (await librarian.request("GET", "/?status=processing")).json() == [added]
        assert (await librarian.request("GET", "/documents")).json()["documents"][0]["file_hash"] == ""
        assert (await librarian.request("PATCH", f"/{added['id']}", json={"name": "New"})).json()["name"] == "New"
        assert (await librarian.request("DELETE", f"/{added['id']}")).json()["status"] == "archived"
        assert await librarian.find("museum") == []

    @pytest.mark.parametrize(
        ("address", "code"),
        [
            ("http://museum.test/", "page_address_invalid"),
            ("ftp://museum.test/", "url_invalid"),
            ("museum.test", "url_invalid"),
            ("https://user:secret@museum.test/", "url_invalid"),
            ("https://127.0.0.1/", "egress_refused"),
            ("https://[::1]/", "egress_refused"),
            ("https://2130706433/", "url_invalid"),
            ("https://museum.test/" + "é" * 1000, "page_address_invalid"),
        ],
    )
    async def test_addresses_that_are_refused_at_once(self, librarian: Librarian, address: str, code: str) -> None:
        answer = await librarian.request("POST", "/pages", json={"address": address})
        assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, code, "address")

    async def test_a_viewer_may_not(self, client: AsyncClient, org: OrgFixture, root: Root) -> None:
        viewer = Librarian(client, org.headers_for("viewer"), root)
        body = {"address": "https://museum.test/"}
        assert (await viewer.request("POST", "/pages", json=body)).status_code == 403

    async def test_the_same_bytes_as_an_upload_are_read_once(self, librarian: Librarian, site: LocalServer) -> None:
        await librarian.add(HOURS.format("nine"), "hours.html")
        before = await counted(librarian)
        assert (await add(librarian, address_of(site)))["status"] == "ready"
        assert await counted(librarian) == before


class TestTypes:
    @pytest.mark.parametrize(
        ("reply", "path", "kind", "found"),
        [
            (Reply(body=b"# Prices\n\nAdults pay 14 euros.", headers={"content-type": "text/plain"}), "/p.md",
             "text/markdown", "14 euros"),
            (Reply(body=b"Adults pay 14 euros.", headers={"content-type": "text/plain; charset=utf-8"}), "/",
             "text/plain", "14 euros"),
            (html(b"<p>Adults pay 14 euros.</p>"), "/README.md", "text/html", "14 euros"),
            (html(gzip.compress(HOURS.format("ten").encode()), **{"content-encoding": "gzip"}), "/", "text/html", "ten"),
            (html("<html><p>Freier Eintritt für Gäste.</p></html>".encode("cp1252"),
                  **{"content-type": "text/html; charset=windows-1252"}), "/", "text/html", "für Gäste"),
            (html('<html><meta charset="latin1"><p>Für Gäste frei.</p></html>'.encode(),
                  **{"content-type": "text/html; charset=utf-8"}), "/", "text/html", "Für Gäste"),
        ],
        ids=["markdown", "text", "a page that shows Markdown", "zipped", "windows", "the response's charset goes before the page's"],
    )  # fmt: skip
    async def test_what_is_read(
        self, librarian: Librarian, site: LocalServer, reply: Reply, path: str, kind: str, found: str
    ) -> None:
        site.answers = lambda _: reply
        document = await add(librarian, address_of(site, path))
        assert (document["status"], document["mime_type"], document["error"]) == ("ready", kind, None)
        async with librarian.root.db.transaction() as session:
            texts = (await session.execute(text("SELECT text FROM knowledge_chunks"))).scalars().all()
        assert found in "".join(texts)


class TestFailing:
    @pytest.mark.parametrize(
        ("reply", "code", "sentence"),
        [
            (Reply(404, b"<p>No</p>", {"content-type": "text/html"}), "page_unreachable", "status 404 (Not Found)"),
            (Reply(500, b"{}", {"content-type": "application/json"}), "page_unreachable", "status 500"),
            (Reply(body=b"\0" * 9, headers={"content-type": "video/mp4"}), "page_not_text", "video/mp4"),
            (Reply(body=b"<p>x</p>"), "page_not_text", "no content type"),
            (html(b"\x89PNG\r\n\x1a\n" + bytes(100)), "page_not_text", "not text"),
            (html(b""), "page_empty", "empty"),
            (html(b"<html><script>draw()</script></html>"), "page_empty", "JavaScript"),
            (html(b"x" * (11 << 20)), "page_too_large", "10 MB"),
            (Reply(302, headers={"location": PRIVATE}), "page_refused", "not public"),
            (Reply(302, headers={"location": "http://inside.test/"}), "page_refused", "not public"),
            (Reply(302, headers={"location": "/visit/hours"}), "page_refused", "redirected"),
            (Reply(raw=b"nonsense\r\n\r\n"), "page_unreachable", "not HTTP"),
        ],
        ids=lambda value: value if isinstance(value, str) and " " not in value else "",
    )
    async def test_a_page_that_cannot_be_read(
        self, librarian: Librarian, site: LocalServer, reply: Reply, code: str, sentence: str
    ) -> None:
        site.answers = lambda _: reply
        document = await add(librarian, address_of(site))
        state = document["web_page"]
        assert (document["status"], state["error_code"], state["is_being_read"]) == ("failed", code, False)
        assert sentence in document["error"]
        assert state["error"] == document["error"]
        assert state["read_at"] is None
        assert await counted(librarian) == (0, 0, 0)

    async def test_a_page_that_failed_is_read_again(self, librarian: Librarian, site: LocalServer) -> None:
        site.answers = lambda _: Reply(503)
        document = await add(librarian, address_of(site))
        site.answers = lambda _: page("nine")
        again = await read_again(librarian, document["id"])
        assert (again["status"], again["error"], again["web_page"]["error_code"]) == ("ready", None, None)

    async def test_names_that_lead_nowhere_or_inside(self, librarian: Librarian) -> None:
        unknown = await add(librarian, "https://unknown.test/")
        assert unknown["web_page"]["error_code"] == "page_unreachable"
        inside = await add(librarian, "https://inside.test/")
        assert inside["web_page"]["error_code"] == "page_refused"

    async def test_a_server_that_ends_within_its_response(self, librarian: Librarian, site: LocalServer) -> None:
        site.answers = lambda _: Reply(raw=b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\ncontent-type: text/html\r\n\r\n")
        document = await add(librarian, address_of(site))
        assert document["web_page"]["error_code"] == "page_unreachable"

    async def test_a_full_storage(self, librarian: Librarian, site: LocalServer) -> None:
        librarian.root.get(StorageQuota).limit_bytes = 10
        document = await add(librarian, address_of(site))
        assert document["web_page"]["error_code"] == "storage_full"
        assert "can store" in document["error"]


class TestReadingAgain:
    async def test_new_content_replaces_the_old_one(self, librarian: Librarian, site: LocalServer) -> None:
        first = await add(librarian, address_of(site))
        before = await counted(librarian)
        site.answers = lambda _: page("eleven")
        second = await read_again(librarian, first["id"])
        assert (second["status"], second["ready_at"]) == ("ready", first["ready_at"])
        assert second["web_page"]["read_at"] > first["web_page"]["read_at"]
        assert "eleven" in (await librarian.find("When does the museum open?"))[0]["text"]
        assert await counted(librarian) == before

    async def test_agents_keep_the_old_content_until_then(self, librarian: Librarian, site: LocalServer) -> None:
        document = await add(librarian, address_of(site))
        seen: list[dict[str, Any]] = []

        async def look() -> None:
            seen.append(await librarian.get(document["id"]))
            seen.extend(await librarian.find("When does the museum open?"))

        answer = await librarian.request("POST", f"/{document['id']}/read-again")
        assert answer.json()["status"] == "ready"
        await look()
        assert seen[0]["web_page"]["is_being_read"]
        assert "nine" in seen[1]["text"]
        again = await librarian.request("POST", f"/{document['id']}/read-again")
        assert (again.status_code, again.json()["code"]) == (409, "page_being_read")

    @pytest.mark.parametrize("reply", [Reply(503), html(b"<html><script>draw()</script></html>")])
    async def test_they_keep_it_when_it_fails(self, librarian: Librarian, site: LocalServer, reply: Reply) -> None:
        first = await add(librarian, address_of(site))
        before = await counted(librarian)
        site.answers = lambda _: reply
        second = await read_again(librarian, first["id"])
        assert (second["status"], second["error"]) == ("ready", None)
        assert second["web_page"]["error_code"] in ("page_unreachable", "page_empty")
        assert second["web_page"]["read_at"] == first["web_page"]["read_at"]
        assert "nine" in (await librarian.find("When does the museum open?"))[0]["text"]
        assert await counted(librarian) == before

    async def test_customers_hear_of_each_end_of_waiting(self, librarian: Librarian, site: LocalServer) -> None:
        site.answers = lambda _: Reply(503)
        document = await add(librarian, address_of(site))
        await read_again(librarian, document["id"])
        site.answers = lambda _: page("nine")
        await read_again(librarian, document["id"])
        await read_again(librarian, document["id"])
        async with librarian.root.db.transaction() as session:
            events = (await session.execute(text("SELECT type FROM webhook_events ORDER BY id"))).scalars().all()
        assert list(events) == ["document.failed", "document.failed", "document.ready"]

    async def test_two_workers_at_one_page(self, librarian: Librarian, org: OrgFixture, site: LocalServer) -> None:
        added = (await librarian.request("POST", "/pages", json={"address": address_of(site)})).json()
        payload = {"organization_id": org.id, "document_id": added["id"]}
        fetch = librarian.root.jobs.handlers["document.fetch"]
        await asyncio.gather(fetch(payload), fetch(payload))
        await librarian.work()
        assert (await librarian.get(added["id"]))["status"] == "ready"
        assert (await counted(librarian))[0] == 1

    async def test_the_same_content_stays(self, librarian: Librarian, site: LocalServer) -> None:
        first = await add(librarian, address_of(site))
        before = await counted(librarian)
        second = await read_again(librarian, first["id"])
        assert second["web_page"]["read_at"] > first["web_page"]["read_at"]
        assert await counted(librarian) == before

    async def test_content_that_another_document_has_stays(self, librarian: Librarian, site: LocalServer) -> None:
        page_document = await add(librarian, address_of(site))
        upload = await librarian.add(HOURS.format("nine"), "hours.html")
        site.answers = lambda _: page("eleven")
        await read_again(librarian, page_document["id"])
        hits = await librarian.find("When does the museum open?", document_ids=[upload["id"]])
        assert "nine" in hits[0]["text"]

    async def test_what_cannot_be_read_again(self, librarian: Librarian, site: LocalServer) -> None:
        upload = await librarian.add()
        answer = await librarian.request("POST", f"/{upload['id']}/read-again")
        assert (answer.status_code, answer.json()["code"]) == (409, "document_not_a_page")
        document = await add(librarian, address_of(site))
        await librarian.request("DELETE", f"/{document['id']}")
        answer = await librarian.request("POST", f"/{document['id']}/read-again")
        assert (answer.status_code, answer.json()["code"]) == (409, "document_archived")
        assert (await librarian.request("POST", "/nothing/read-again")).status_code == 404

    async def test_another_organizations_page(
        self, librarian: Librarian, other_librarian: Librarian, site: LocalServer
    ) -> None:
        document = await add(librarian, address_of(site))
        assert (await other_librarian.request("POST", f"/{document['id']}/read-again")).status_code == 404


class TestLostJobs:
    async def test_a_page_whose_job_was_lost_is_fetched(self, librarian: Librarian, site: LocalServer) -> None:
        document_id = await self._lose_job(librarian, address_of(site))
        self._wait(librarian, STALE_AFTER)
        await self._sweep(librarian)
        assert (await librarian.get(document_id))["status"] == "ready"

    async def test_one_that_is_lost_again_and_again_fails(self, librarian: Librarian, site: LocalServer) -> None:
        document_id = await self._lose_job(librarian, address_of(site))
        self._wait(librarian, GIVE_UP_AFTER)
        await self._sweep(librarian)
        document = await librarian.get(document_id)
        assert (document["status"], document["web_page"]["error_code"]) == ("failed", "page_interrupted")
        # also when no worker ran for that long
        assert "busy" in document["error"]

    async def test_a_page_whose_content_was_finished_by_older_code(
        self, librarian: Librarian, site: LocalServer
    ) -> None:
        content = (await librarian.add(HOURS.format("nine"), "hours.html"))["id"]
        document_id = await self._lose_job(librarian, address_of(site))
        async with librarian.root.db.transaction() as session:
            await session.execute(
                text(
                    "UPDATE knowledge_documents SET next_content_id ="
                    " (SELECT content_id FROM knowledge_documents WHERE id = :other) WHERE id = :id"
                ),
                {"other": content, "id": document_id},
            )
        self._wait(librarian, STALE_AFTER)
        await self._sweep(librarian)
        assert (await librarian.get(document_id))["status"] == "ready"

    async def _lose_job(self, librarian: Librarian, address: str) -> str:
        added: str = (await librarian.request("POST", "/pages", json={"address": address})).json()["id"]
        async with librarian.root.db.transaction() as session:
            await session.execute(text("DELETE FROM pgqueuer WHERE entrypoint = 'document.fetch'"))
        return added

    def _wait(self, librarian: Librarian, time: timedelta) -> None:
        clock = librarian.root.clock
        assert isinstance(clock, ShiftedClock)
        clock.advance(seconds=time.total_seconds() + 1)

    async def _sweep(self, librarian: Librarian) -> None:
        await librarian.root.jobs.handlers["documents.sweep"]({})
        await librarian.work()


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://a.test/", "a.test"),
        ("https://a.test/prices/", "prices"),
        ("https://a.test/Our%20prices.html?x=1", "Our prices.html"),
        ("https://a.test/%00%0a/%2e", "."),
    ],
)
def test_the_filename_of_an_address(address: str, name: str) -> None:
    assert fetching.filename_of(address) == name


def test_the_name_of_an_address() -> None:
    assert fetching.name_of("https://a.test/%C3%96ffnung/?day=1") == "a.test/Öffnung"
