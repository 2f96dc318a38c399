"""A worker process is killed while it reads or embeds a document: nobody has to do anything."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from offhook.root import Root
from tests.knowledge.conftest import Librarian

# A real worker with a real model: its own root on the test's database, and no patience with the dead.
WORKER = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from offhook.bootstrap import build_root
from offhook.jobs.worker import run_worker
from offhook.settings import Settings

async def main():
    root = build_root(Settings(data_dir=Path(sys.argv[1])), sys.argv[2])
    quick = {"heartbeat_timeout": timedelta(seconds=2), "dequeue_timeout": timedelta(seconds=0.2)}
    await run_worker(root.db, root.jobs, asyncio.Event(), **quick)

asyncio.run(main())
"""
# Some seconds of one core: nobody is done with it before they are killed.
BOOK = "\n\n".join(
    f"## Chapter {number}\n\n" + " ".join(f"Fact {number}.{at} is about bricks and mortar." for at in range(24))
    for number in range(40)
)


class Worker:
    """A process that runs jobs until it is killed."""

    def __init__(self, root: Root) -> None:
        arguments = [str(root.settings.data_dir), root.db.url]
        self._process = subprocess.Popen([sys.executable, "-c", WORKER, *arguments], stdout=subprocess.DEVNULL)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


async def until(librarian: Librarian, document_id: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    async with asyncio.timeout(240):
        while not wanted(document := await librarian.get(document_id)):
            await asyncio.sleep(0.1)
    return document


async def vectors(root: Root) -> int:
    async with root.db.transaction() as session:
        return int(await session.scalar(text("SELECT count(*) FROM knowledge_vectors")) or 0)


@pytest.mark.slow
async def test_a_killed_worker_s_document_is_finished_by_the_next(librarian: Librarian, tmp_path: Path) -> None:
    document = (await librarian.send(BOOK, "book.md")).json()
    worker = Worker(librarian.root)
    try:
        half = await until(librarian, document["id"], lambda now: now["progress"] > 0.15)
        worker.kill()
        assert half["status"] == "processing"
        done_before = await vectors(librarian.root)
        assert 0 < done_before < half["chunk_count"]
        worker = Worker(librarian.root)
        done = await until(librarian, document["id"], lambda now: now["status"] != "processing")
    finally:
        worker.kill()
    assert done["status"] == "ready", done
    assert await vectors(librarian.root) == done["chunk_count"]
    assert os.listdir(librarian.root.settings.data_dir / "drafts") == []  # noqa: PTH208 - a list of names is compared
