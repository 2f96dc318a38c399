"""Measures the cost and the recall of the knowledge base. Each part runs alone; figures are in docs/performance.md.

.venv/bin/python -m bench.knowledge recall               the question set over this project's own documents
.venv/bin/python -m bench.knowledge faq --folder FOLDER  the Debian FAQ's own questions (bench/knowledge_faq.py)
.venv/bin/python -m bench.knowledge manual               a PDF of 200 pages, from file to vectors
.venv/bin/python -m bench.knowledge turn                 the time that documents add to a turn
.venv/bin/python -m bench.knowledge hostile              calls beside files made to break readers
.venv/bin/python -m bench.knowledge search --chunks N    searches beside N pieces of another organization
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import text
from tests.knowledge.test_hostile_files import CASES

from bench import knowledge_faq
from bench.knowledge_rig import Rig, manual, questions_about_topics, vocabulary
from bench.knowledge_turn import turns
from offhook.knowledge import search_queries
from offhook.knowledge.document_processing import vectors_as_text

TOP_DIR = Path(__file__).parents[1]
QUESTIONS: list[dict[str, str]] = json.loads(Path(__file__).with_name("knowledge_questions.json").read_text())


def documents() -> list[Path]:
    """Returns the project's own documents, except this bench's."""
    top = [TOP_DIR / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    return [*top, *(path for path in sorted((TOP_DIR / "docs").rglob("*.md")) if path.name != "knowledge.md")]


async def recall(rig: Rig) -> None:
    organization_id = await rig.organization("Readers")
    for path in documents():
        await rig.add(organization_id, path.read_bytes(), path.name)
    asked = [(item["question"], _holds(item["fact"])) for item in QUESTIONS]
    await compare(rig, organization_id, asked)


def _holds(fact: str) -> Callable[[str], bool]:
    return lambda piece: fact in " ".join(piece.split())


async def faq(rig: Rig, folder: Path) -> None:
    organization_id = await rig.organization("Readers")
    chapters, questions = knowledge_faq.read(folder)
    for name, body in chapters.items():
        await rig.add(organization_id, body.encode(), name)
    async with rig.root.db.transaction() as session:
        pieces = (await session.execute(text("SELECT text FROM knowledge_chunks"))).scalars().all()
    answerable = [one for one in questions if any(one.is_answered_by(piece) for piece in pieces)]
    print(f"{len(chapters)} chapters, {len(pieces)} pieces, {len(answerable)} questions of {len(questions)}")
    await compare(rig, organization_id, [(one.text, one.is_answered_by) for one in answerable])


async def compare(rig: Rig, organization_id: int, asked: Sequence[tuple[str, Callable[[str], bool]]]) -> None:
    """Prints recall at one, four and eight pieces for vectors alone, words alone and both."""
    first: dict[str, list[int]] = {"vectors": [], "words": [], "hybrid": []}
    for question, is_answer in asked:
        for way, chunk_ids in (await rankings(rig, organization_id, question)).items():
            async with rig.root.db.transaction() as session:
                rows = await session.execute(
                    text("SELECT id, text FROM knowledge_chunks WHERE id = ANY(:ids)"), {"ids": chunk_ids[:8]}
                )
                texts = {row.id: row.text for row in rows}
            places = [at for at, chunk_id in enumerate(chunk_ids[:8]) if is_answer(texts[chunk_id])]
            first[way].append(places[0] if places else len(texts) + 100)
            if way == "hybrid" and first[way][-1] >= 4:
                print(f"   not found: {question}")
    for way, places in first.items():
        shares = ", ".join(f"@{depth} {sum(at < depth for at in places) / len(asked):.3f}" for depth in (1, 4, 8))
        print(f"recall {way:8} {shares} of {len(asked)}")


async def rankings(rig: Rig, organization_id: int, question: str) -> dict[str, list[int]]:
    vector = vectors_as_text(await rig.offline.embed_query(question))[0]
    async with rig.root.db.transaction() as session:
        where = await search_queries.load_scope(session, organization_id, None)
        near = [chunk for chunk, _ in await search_queries.rank_by_meaning(session, where, vector)]
        said = await search_queries.rank_by_words(
            session, where, await search_queries.question_terms(session, organization_id, question)
        )
    return {
        "vectors": near,
        "words": said,
        "hybrid": [chunk for chunk, _ in search_queries.merge_rankings([near, said])],
    }


async def turn(rig: Rig) -> None:
    organization_id = await rig.organization("Callers")
    for path in documents():
        await rig.add(organization_id, path.read_bytes(), path.name)
    async with rig.root.db.transaction() as session:
        refs = [str(one) for one in (await session.execute(text("SELECT id FROM knowledge_documents"))).scalars()]
    await turns(rig, organization_id, refs, [item["question"] for item in QUESTIONS])


async def read_manual(rig: Rig) -> None:
    organization_id = await rig.organization("Manuals")
    raw = manual(pages=200)
    began, cpu = time.perf_counter(), time.process_time()
    children = os.times()
    content = await rig.add(organization_id, raw, "manual.pdf")
    after = os.times()
    child_s = after.children_user + after.children_system - children.children_user - children.children_system
    print(
        f"200 pages, {len(raw) / 1e6:.1f} MB, {content.tokens} tokens, {content.chunk_count} pieces:"
        f" {time.perf_counter() - began:.1f} s by the clock, {time.process_time() - cpu:.1f} s CPU here, {child_s:.1f} s in children"
    )


async def hostile(rig: Rig) -> None:
    """Runs twenty calls in a server, alone and then beside a worker that keeps reading files made to break readers."""
    await beside_calls(rig, "alone", None)
    organization_id = await rig.organization("Vandals")
    await beside_calls(rig, "beside hostile files", organization_id)


async def beside_calls(rig: Rig, what: str, vandals: int | None) -> None:
    command = (sys.executable, "-m", "bench.voice", "--calls", "20", "--seconds", "30", "--json")
    calls = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    said = asyncio.create_task(calls.communicate())
    files = [(make(), name) for make, name, _ in CASES.values()]
    read, endings = 0, Counter[str]()
    while vandals is not None and not said.done():
        raw, name = files[read % len(files)]
        endings[(await rig.add_any(vandals, raw, name)).status] += 1
        read += 1
    report = json.loads((await said)[0])
    shown = {key: report[key] for key in report if key.startswith(("gap", "added", "unanswered", "barge"))}
    print(f"{what}: {read} files {dict(endings)}; calls: {shown}")


async def search(rig: Rig, chunks: int) -> None:
    small = await rig.organization("Small")
    for path in documents():
        await rig.add(small, path.read_bytes(), path.name)
    await measure(rig, small, [item["question"] for item in QUESTIONS], "small organization, alone")
    large = await rig.organization("Large")
    began = time.perf_counter()
    await rig.fill(large, chunks)
    print(f"{chunks} pieces and their index made in {time.perf_counter() - began:.0f} s")
    await measure(rig, small, [item["question"] for item in QUESTIONS], "small organization, beside them")
    chosen, words = random.Random(5), vocabulary()
    questions = [" ".join(chosen.choices(words, k=7)) for _ in range(60)]
    await measure(rig, large, questions, f"organization of {chunks}")
    await nearest(rig, large)


async def measure(rig: Rig, organization_id: int, questions: list[str], what: str) -> None:
    for question in questions[:10]:
        await rig.search.find_passages(organization_id, f"{question} please", limit=4)
    here, there, clock = [], [], []
    for question in questions:
        before, cpu, server = time.perf_counter(), time.process_time(), await rig.server_cpu_s()
        await rig.search.find_passages(organization_id, question, limit=4)
        clock.append(time.perf_counter() - before)
        here.append(time.process_time() - cpu)
        there.append(await rig.server_cpu_s() - server)
    own = np.array(here) + np.array(there)
    p50, p95 = np.percentile(own, [50, 95]) * 1000
    print(
        f"{what}: own CPU p50 {p50:.1f} ms, p95 {p95:.1f} ms (of it the database {np.mean(there) * 1000:.1f} ms);"
        f" clock p50 {np.median(clock) * 1000:.1f} ms, p95 {np.percentile(clock, 95) * 1000:.1f} ms"
    )


async def nearest(rig: Rig, organization_id: int) -> None:
    """Prints the share of the exact neighborhood that the index finds, for questions about the topics."""
    shares = []
    for vector in vectors_as_text(questions_about_topics(20)):
        async with rig.root.db.transaction() as session:
            where = await search_queries.load_scope(session, organization_id, None)
            by_index = [chunk for chunk, _ in await search_queries.rank_by_meaning(session, where, vector)]
            exact = [chunk for chunk, _ in await search_queries.rank_by_meaning(session, _without_index(where), vector)]
        shares.append(
            [len(set(by_index[:depth]) & set(exact[:depth])) / depth for depth in (4, search_queries.MAX_RANKED)]
        )
    four, all_of_them = np.mean(shares, axis=0)
    print(
        f"of the 4 nearest pieces the index finds {four:.3f}, of the {search_queries.MAX_RANKED} nearest {all_of_them:.3f}"
    )


def _without_index(where: search_queries.SearchScope) -> search_queries.SearchScope:
    return search_queries.SearchScope(
        where.organization_id, where.ids, where.chunks, where.space_id, where.model, where.dimensions
    )


async def run(arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rig = await Rig.start(Path(folder))
        try:
            parts: dict[str, Any] = {"recall": recall, "turn": turn, "manual": read_manual, "hostile": hostile}
            if arguments.part == "search":
                await search(rig, arguments.chunks)
            elif arguments.part == "faq":
                await faq(rig, arguments.folder)
            else:
                await parts[arguments.part](rig)
        finally:
            await rig.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["recall", "faq", "manual", "turn", "search", "hostile"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--chunks", type=int, default=100_000)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
