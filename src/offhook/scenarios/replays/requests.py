"""Replays on request: one at a time for each organization, in a separate process."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from offhook.kit.database.database import Database
from offhook.orgs import Caller, write_audit_entry
from offhook.runs import service as runs
from offhook.runs.journals.call_journals import CallJournals
from offhook.scenarios.errors import TooManyReplays
from offhook.scenarios.places import OrganizationPlaces
from offhook.scenarios.replays.orders import RunReplay
from offhook.scenarios.replays.processes import PROGRAM, ReplayProcess
from offhook.scenarios.replays.service import LoadedAgents, find_version, load_with_version

# Proxies give up after a minute. The wait for a place counts.
TIMEOUT_S: Final = 55.0
MAX_WAIT_S: Final = 30.0
# Of one process of the server, whose cores carry calls.
MAX_CONCURRENT_REPLAYS: Final = 2


@dataclass(slots=True)
class RunReplayService:
    """Replays a run for the page and the API."""

    db: Database
    journals: CallJournals
    program: Sequence[str] = PROGRAM
    timeout_s: float = TIMEOUT_S
    places: OrganizationPlaces = field(
        default_factory=lambda: OrganizationPlaces(MAX_CONCURRENT_REPLAYS, wait_s=MAX_WAIT_S, refusal=TooManyReplays)
    )

    async def replay(self, caller: Caller, workflow_id: int, run_id: int, *, number: int | None) -> RunReplay:
        """Plays a run with the version of this number, or with the draft. The audit log has it as a read of what was said.

        Raises RunNotFound, VersionNotFound (404), RunNotOver, RunNotKept, JournalNotKept, JournalDamaged, VersionChanged,
        NoDraft, ReplayFailed (409), TooManyReplays (429).
        """
        organization_id = caller.organization_id
        async with self.places.hold(organization_id) as waited_s:
            async with self.db.transaction() as session:
                run = await runs.get_run(session, organization_id, run_id, workflow_id=workflow_id)
                other = await find_version(session, organization_id, workflow_id, number=number)
                replayable = await load_with_version(session, self.journals, LoadedAgents(), run, other)
                await write_audit_entry(
                    session, caller, "run.replayed", f"run:{run.id}", {"version": number or "draft"}
                )
            async with ReplayProcess(self.program, timeout_s=self.timeout_s - waited_s) as process:
                return await process.replay(replayable)
