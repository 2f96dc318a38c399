"""The environment of the knowledge bench: its own database, documents without HTTP, pieces by the hundred thousand."""

import io
import random
import re
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import numpy as np
import structlog
from sqlalchemy import text

from offhook.bootstrap import build_root, stop_domains
from offhook.jobs.worker import run_until_empty
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.knowledge import PassageSearch, service
from offhook.knowledge.document_processing import vectors_as_text
from offhook.knowledge.embedder import Vectors, normalize_vectors
from offhook.knowledge.offline.model import OfflineModel
from offhook.knowledge.uploads import DocumentIntake
from offhook.knowledge.vectors import vector_spaces
from offhook.orgs import Caller
from offhook.orgs import service as orgs
from offhook.root import Root
from offhook.settings import Settings

_BATCH = 2_000
_TOPICS = 500


class Rig:
    """One process's parts on an embedded server; ``offline`` is the bench's own model."""

    def __init__(self, root: Root, server: EmbeddedPostgres, folder: Path) -> None:
        self.root = root
        self.search = root.get(PassageSearch)
        self.offline = OfflineModel(folder / "models")
        self._server = server

    @classmethod
    async def start(cls, folder: Path) -> "Rig":
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
        server = EmbeddedPostgres(folder / "pg", durable=False)
        url = server.start()
        database = Database(url)
        await migrations.upgrade_database(database, lambda _: None)
        await database.dispose()
        return cls(build_root(Settings(data_dir=folder), url), server, folder)

    async def stop(self) -> None:
        await self.offline.aclose()
        await stop_domains(self.root)
        await self.root.db.dispose()
        self._server.stop()

    async def organization(self, name: str) -> int:
        async with self.root.db.transaction() as session:
            return await orgs.create_organization(session, name)

    async def add(self, organization_id: int, raw: bytes, filename: str) -> Any:
        """Adds a document and returns its processed content."""
        document, content = await self._processed(organization_id, raw, filename)
        assert document.status == "ready", content.error
        return content

    async def add_any(self, organization_id: int, raw: bytes, filename: str) -> Any:
        """Adds a document and returns it, whatever its outcome."""
        return (await self._processed(organization_id, raw, filename))[0]

    async def _processed(self, organization_id: int, raw: bytes, filename: str) -> Any:
        caller = Caller(organization_id, None, None, "owner", is_superuser=False)
        taken = await self.root.get(DocumentIntake).store_upload(organization_id, io.BytesIO(raw), filename)
        async with self.root.db.transaction() as session:
            document, _ = await service.create_document(session, caller, taken, name=filename, filename=filename)
        await run_until_empty(self.root.db, self.root.jobs)
        async with self.root.db.transaction() as session:
            return await service.get_document(session, organization_id, str(document.id))

    async def server_cpu_s(self) -> float:
        """Returns the processor time of the backends that this process's connections use."""
        async with self.root.db.transaction() as session:
            rows = await session.execute(text("SELECT pid FROM pg_stat_activity WHERE datname = current_database()"))
            pids = [row.pid for row in rows]
        return sum(_cpu_s(pid) for pid in pids)

    async def fill(self, organization_id: int, chunks: int) -> None:
        """Fills in pieces of made-up sentences about five hundred topics, with vectors around the topics, and the
        index."""
        await self.add(organization_id, b"The first document of many.", "first.txt")
        numbers, words, chosen = np.random.default_rng(7), vocabulary(), random.Random(7)
        centers = _topics()
        async with self.root.db.transaction() as session:
            ids = (await session.execute(text(_IDS), {"organization_id": organization_id})).one()
        for start in range(0, chunks, _BATCH):
            topic = numbers.integers(0, _TOPICS, _BATCH)
            vectors = normalize_vectors(centers[topic] + numbers.normal(scale=0.06, size=(_BATCH, 384)))
            bodies = [" ".join(chosen.choices(words, weights=_WEIGHTS, k=90)) for _ in range(_BATCH)]
            values = {"organization_id": organization_id, "content_id": ids.content_id, "space_id": ids.space_id}
            async with self.root.db.transaction() as session:
                await session.execute(
                    text(_FILL), {**values, "start": start + 1, "bodies": bodies, "vectors": vectors_as_text(vectors)}
                )
        async with self.root.db.transaction() as session:
            await session.execute(text(_COUNT), {"organization_id": organization_id, "chunks": chunks})
            await session.execute(text(_TERMS), {"organization_id": organization_id})
        await self.root.db.run_outside_transaction("ANALYZE")
        await vector_spaces.build_index(self.root.db, organization_id, ids.space_id, 384)


def _topics() -> Vectors:
    return normalize_vectors(np.random.default_rng(11).normal(size=(_TOPICS, 384)))


def questions_about_topics(count: int) -> Vectors:
    """Returns questions as far from their topics as the pieces are."""
    numbers = np.random.default_rng(13)
    return normalize_vectors(_topics()[:count] + numbers.normal(scale=0.06, size=(count, 384)))


_IDS = """SELECT content.id AS content_id, space.id AS space_id FROM knowledge_contents content
 JOIN knowledge_spaces space USING (organization_id) WHERE organization_id = :organization_id"""
_FILL = """WITH piece AS (INSERT INTO knowledge_chunks (organization_id, content_id, position, heading, text, tokens, words)
 SELECT :organization_id, :content_id, :start + at, '', body, 120, knowledge_tsvector(:organization_id, body)
 FROM unnest(CAST(:bodies AS text[])) WITH ORDINALITY AS made (body, at) RETURNING id, position)
 INSERT INTO knowledge_vectors (space_id, chunk_id, content_id, embedding)
 SELECT :space_id, piece.id, :content_id, CAST(made.vector AS halfvec) FROM piece
 JOIN unnest(CAST(:vectors AS text[])) WITH ORDINALITY AS made (vector, at) ON piece.position = :start + made.at"""
_COUNT = "UPDATE knowledge_contents SET chunk_count = :chunks WHERE organization_id = :organization_id"
_TERMS = """INSERT INTO knowledge_terms (organization_id, term, chunks)
 SELECT :organization_id, lexeme, count(*) FROM (SELECT (unnest(words)).lexeme FROM knowledge_chunks
  WHERE organization_id = :organization_id) AS found GROUP BY lexeme
 ON CONFLICT (organization_id, term) DO UPDATE SET chunks = excluded.chunks"""
_SIZE = 8_000
_PER_PAGE = 480


def _cpu_s(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except OSError:
        return 0.0


# As in languages, the second word is half as frequent as the first.
_WEIGHTS = [1 / (rank + 1) for rank in range(_SIZE)]


def vocabulary() -> list[str]:
    chosen = random.Random(3)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    return ["".join(chosen.choices(syllables, k=3)) for _ in range(_SIZE)]


def manual(pages: int) -> bytes:
    """Returns a PDF with a heading and forty lines of text per page, 480 words: Python's reference manual."""
    words = " ".join(topics.values()).encode("ascii", "ignore").decode().split()
    words = [re.sub(r"[()\\\\]", "", word)[:30] for word in words if re.search("[a-z]", word)]
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for number in range(1, pages + 1):
        at = (number - 1) * _PER_PAGE % (len(words) - _PER_PAGE)
        lines = [f"BT /F1 18 Tf 60 790 Td (Chapter {number}: {words[at]}) Tj /F1 11 Tf 0 -30 Td 17 TL"]
        lines += [f"({' '.join(words[start : start + 12])}) Tj T*" for start in range(at, at + _PER_PAGE, 12)]
        stream = "\n".join([*lines, "ET"]).encode()
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        kids.append(len(objects) + 1)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >>"
            b" /Contents %d 0 R >>" % len(objects)
        )
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, b" ".join(b"%d 0 R" % kid for kid in kids))
    out, places = io.BytesIO(b"%PDF-1.4\n"), []
    out.seek(0, io.SEEK_END)
    for index, content in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (index, content))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return out.getvalue()
