"""For real: a list is called by the job process, whose phones reach the server over its media socket, as a carrier's do."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from offhook.kit.database.database import Database
from tests.calls.served import Served, offhook, robot
from tests.campaigns.desk import Desk

pytestmark = [pytest.mark.real_time, pytest.mark.timeout(300)]

TALKS, BUSY = "+12015550101", "+12015550102"


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path / "data") as server:
        yield server


async def rows(served: Served, statement: str) -> list[Any]:
    assert served.info is not None
    assert served.info.database_url is not None
    database = Database(served.info.database_url, pool_size=1)
    try:
        async with database.transaction() as session:
            done: Any = await session.execute(text(statement))
            return list(done.all()) if done.returns_rows else []
    finally:
        await database.dispose()


async def called(served: Served) -> tuple[int, int]:
    """The ids of a campaign that was called to its end, and of its agent."""
    workflow_id = await served.publish(robot())
    desk = Desk(served.http, {}, workflow_id)
    campaign = await desk.made(f"phone_number\n{TALKS}\n{BUSY}\n".encode(), retry_config={"enabled": False})
    assert (await desk.ask("POST", f"/{campaign['id']}/start")).status_code == 200
    await served.until(lambda: desk.get(f"/{campaign['id']}"), lambda found: found["status"] == "completed")
    reached = await desk.get(f"/{campaign['id']}/progress")
    assert (reached["answered"], reached["outcomes"]) == (1, {"answered": 1, "busy": 1})
    return campaign["id"], workflow_id


@pytest.mark.slow
async def test_a_call_of_a_campaign_talks_over_the_media_socket(served: Served) -> None:
    campaign_id, workflow_id = await called(served)
    (call,) = await rows(served, f"SELECT run_id, process FROM sandbox_calls WHERE to_number = '{TALKS}'")
    run = await served.run(workflow_id, call.run_id)
    assert (run["outcome"], run["end_reason"]) == ("answered", "agent_ended")
    assert {line["role"] for line in run["transcript"]} == {"agent", "caller"}
    assert served.info is not None
    assert int(call.process.split("/")[1]) != served.info.pid, "the phone rang in the server"

    code, printed, _ = await offhook(served, "campaign", "verify", str(campaign_id))
    assert (code, printed.splitlines()[-1]) == (0, "0 violations.")
    await rows(served, "UPDATE campaign_contacts SET dials = dials + 1, outcome = 'voicemail'")
    code, printed, _ = await offhook(served, "campaign", "verify", str(campaign_id), "--json")
    broken = {violation["rule"] for violation in json.loads(printed)["violations"]}
    assert code == 3
    assert broken == {"dial counts match the attempts", "how a contact ended is how its last attempt ended"}
    code, _, said = await offhook(served, "campaign", "verify", "999999")
    assert (code, said.count("\n")) == (1, 1)
