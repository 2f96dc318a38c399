"""``offhook sample``: records a demo agent's conversation with a simulated caller, to be heard before the first talk.

It is a process of its own, so that ``serve`` loads no models for it and keeps none.
"""

import asyncio
import os
from typing import Annotated, Final

import typer
import uvloop

from offhook.bootstrap import build_root, stop_domains
from offhook.commands.console import load_settings, report_errors
from offhook.commands.database import any_database, open_database
from offhook.orgs import service as orgs
from offhook.runs import service as runs
from offhook.runs.services import RunServices
from offhook.runs.states import FINAL_STATES
from offhook.settings import Settings
from offhook.telephony.calls.outbound import CallOrder
from offhook.telephony.services import TelephonyServices

# The simulated person who answers and follows the conversation.
CALLEE: Final = "+12015550101"
# The web app finds the run by this variable and says what it is.
MARK: Final = "sample_call"
NICENESS: Final = 3
# A machine that is busy with other things loses calls: the next one is recorded when it may have calmed down.
MAX_ATTEMPTS: Final = 3
RETRY_AFTER_S: Final = 5.0
TIME_LIMIT_S: Final = 180.0
POLL_INTERVAL_S: Final = 0.5


def register(app: typer.Typer) -> None:
    @app.command()
    def sample(
        workflow: Annotated[int, typer.Option(help="Id of a published agent of the first organization.")],
    ) -> None:
        """Record a sample call of an agent with a simulated caller; `serve` does it once, at its first start."""
        os.nice(NICENESS)
        with report_errors():
            settings = load_settings()
            with any_database(settings) as url, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                run_id = runner.run(record_sample_call(settings, url, workflow))
        typer.echo(f"Run {run_id} is the sample call.")


async def record_sample_call(settings: Settings, url: str, workflow_id: int) -> int:
    """Places the call, again where it failed, and returns its run when it is over. Raises DomainError, or TimeoutError
    when a call takes longer than three minutes.

    A failed attempt is deleted before the next one: it is no run of the user's.
    """
    lost: list[int] = []
    for attempt in range(1, MAX_ATTEMPTS + 1):
        run_id, end_reason = await _record_once(settings, url, workflow_id, lost)
        if end_reason == "agent_ended" or attempt == MAX_ATTEMPTS:
            break
        lost = [run_id]
        await asyncio.sleep(RETRY_AFTER_S)
    return run_id


async def _record_once(settings: Settings, url: str, workflow_id: int, lost: list[int]) -> tuple[int, str | None]:
    """Deletes the runs that were lost. Returns the new run and why it ended."""
    root = build_root(settings, open_database(settings, url))
    try:
        async with root.db.transaction() as session:
            organization = await orgs.find_organization(session, orgs.DEFAULT_ORGANIZATION)
        await root.get(RunServices).eraser.erase_runs(organization.id, lost)
        order = CallOrder(organization.id, workflow_id, CALLEE, use_draft=False, platform_context={MARK: True})
        placed = await root.get(TelephonyServices).outbound.place_call(order)
        async with asyncio.timeout(TIME_LIMIT_S):
            while True:
                async with root.db.transaction() as session:
                    run = await runs.get_run(session, organization.id, placed.run_id)
                if run.status in FINAL_STATES:
                    return run.id, run.end_reason
                await asyncio.sleep(POLL_INTERVAL_S)
    finally:
        await stop_domains(root)
        await root.db.dispose()
