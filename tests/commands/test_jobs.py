"""``offhook jobs``: what failed for good, and another try."""

import asyncio
import json
from pathlib import Path

import pytest
from sqlalchemy import text

from offhook import jobs
from offhook.kit.database.database import Database
from tests.commands.conftest import Offhook


async def leave_failed_jobs(url: str, count: int) -> list[int]:
    database = Database(url)
    async with database.transaction() as session:
        made = [await jobs.enqueue(session, "document.read", {"n": n}, delay_s=86_400) for n in range(count)]
        await session.execute(text("UPDATE pgqueuer SET status = 'failed' WHERE id = ANY(:ids)"), {"ids": made})
    await database.dispose()
    return [job_id for job_id in made if job_id is not None]


@pytest.fixture
def offhook(tmp_path: Path, database_url: str) -> Offhook:
    """The command line on the database of this test."""
    return Offhook(tmp_path / "data", OFFHOOK_DATABASE_URL=database_url)


@pytest.mark.slow
def test_failed_jobs_are_shown_and_started_again(offhook: Offhook, database_url: str) -> None:
    first, second, third = asyncio.run(leave_failed_jobs(database_url, 3))

    listed = [json.loads(line) for line in offhook.run("jobs", "failed", "--json").stdout.splitlines()]
    assert [job["id"] for job in listed] == [third, second, first]
    assert listed[0]["payload"] == {"n": 2}
    assert f"{second}  document.read" in offhook.run("jobs", "failed").stdout

    refused = offhook.run("jobs", "retry", str(first), "999999")
    assert (refused.returncode, refused.stderr) == (
        1, "offhook: No failed job has the number 999999. Nothing was retried.\n",
    )  # fmt: skip
    assert offhook.run("jobs", "retry", str(first)).stdout == "1 job retried.\n"
    assert offhook.run("jobs", "retry", "--all").stdout == "2 jobs retried.\n"
    assert offhook.run("jobs", "failed").stdout == "No job has failed.\n"


def test_retry_without_a_job_is_one_sentence(offhook: Offhook) -> None:
    for arguments in ([], ["7", "--all"]):
        done = offhook.run("jobs", "retry", *arguments)
        assert (done.returncode, done.stderr) == (1, "offhook: Give job numbers, or use --all.\n")
