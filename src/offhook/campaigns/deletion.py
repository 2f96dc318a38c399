"""Deletes campaigns and their contact lists; refuses what is dialing."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import deletion_statements, repository
from offhook.campaigns.errors import CampaignHasLiveCalls, CampaignNotFound, CampaignNotOver, CampaignRunning
from offhook.campaigns.tables import Campaign
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileStore
from offhook.orgs import Caller, as_begun, hold_access, write_audit_entry
from offhook.runs.records import retention_queries
from offhook.runs.records.deletion import RunEraser

# A contact takes its dials with it.
CONTACT_BATCH: Final = 2000
RUN_BATCH: Final = 200
CAMPAIGN_BATCH: Final = 100
_STOPPED: Final = ("draft", "paused", "completed", "failed")
_OVER: Final = ("completed", "failed")
_BEGUN: Final = "Its deletion was begun. Delete it again to finish."


@dataclass(frozen=True, slots=True)
class CampaignDeletion:
    """What was deleted; its entry in the audit log has the same counts."""

    campaign_id: int
    contacts: int
    runs: int
    has_contact_file: bool
    deleted_at: datetime


class CampaignEraser:
    """Deletes in short transactions. A deletion that ends in the middle leaves a failed campaign, which is deleted again."""

    def __init__(self, db: Database, storage: FileStore, clock: Clock, runs: RunEraser) -> None:
        self._db = db
        self._storage = storage
        self._clock = clock
        self._runs = runs

    async def delete_campaign(self, caller: Caller, campaign_id: int, *, deletes_runs: bool) -> CampaignDeletion:
        """Deletes a campaign with its contacts, dials and contact file; its calls and their recordings only if asked.

        Usage, charges and do-not-call entries stay. Raises CampaignNotFound (404), CampaignRunning and CampaignHasLiveCalls
        (409).
        """
        organization_id = caller.organization_id
        async with self._db.transaction() as session:
            await hold_access(session, caller)
            await self._stop(session, organization_id, campaign_id)
        runs = await self._delete_runs(organization_id, campaign_id) if deletes_runs else 0
        contacts = await self._delete_contacts(organization_id, campaign_id)
        async with self._db.transaction() as session:
            key = await self._find_own_file(session, organization_id, campaign_id)
            if not await deletion_statements.delete_campaign(session, organization_id, campaign_id):
                raise CampaignNotFound
            done = CampaignDeletion(campaign_id, contacts, runs, key is not None, self._clock.now())
            await _record(session, caller, "campaign.deleted", done)
        await self._delete_file(key)
        return done

    async def delete_contacts(self, caller: Caller, campaign_id: int) -> CampaignDeletion:
        """Deletes the contact list of a campaign that is over: contacts, dials and file. The campaign and its calls stay.

        Raises CampaignNotFound (404), CampaignNotOver and CampaignHasLiveCalls (409).
        """
        organization_id = caller.organization_id
        async with self._db.transaction() as session:
            await hold_access(session, caller)
            campaign = await _get_campaign(session, organization_id, campaign_id)
            if campaign.status not in _OVER:
                raise CampaignNotOver
            await _refuse_live_calls(session, organization_id, campaign_id)
        contacts = await self._delete_contacts(organization_id, campaign_id)
        async with self._db.transaction() as session:
            key = await self._find_own_file(session, organization_id, campaign_id)
            await repository.update_if_status(
                session, organization_id, campaign_id, _OVER, {"contacts_file_key": None, "columns": []}
            )
            done = CampaignDeletion(campaign_id, contacts, 0, key is not None, self._clock.now())
            await _record(session, caller, "campaign.contacts_deleted", done)
        await self._delete_file(key)
        return done

    async def remove_old_contacts(self, organization_id: int, before: datetime, *, batch: int = CONTACT_BATCH) -> int:
        """Takes numbers and variables from the contacts of campaigns that ended before a moment, deletes their files and
        returns how many contacts that were. Dials, outcomes, counts and report stay, and so do the calls.

        A campaign with calls in progress is left for the next time.
        """
        emptied, after = 0, 0
        while True:
            async with self._db.transaction() as session:
                found = await deletion_statements.list_campaigns_over_before(
                    session, organization_id, before, after=after, limit=CAMPAIGN_BATCH
                )
            for campaign_id in found:
                emptied += await self._empty_contacts(organization_id, campaign_id, batch)
            if len(found) < CAMPAIGN_BATCH:
                return emptied
            after = found[-1]

    async def _empty_contacts(self, organization_id: int, campaign_id: int, batch: int) -> int:
        emptied, count = 0, batch
        while count == batch:
            async with self._db.transaction() as session:
                if await _has_live_calls(session, organization_id, campaign_id):
                    return emptied
                count = await deletion_statements.empty_contacts(session, organization_id, campaign_id, limit=batch)
            emptied += count
        values: dict[str, object] = {"contacts_file_key": None, "columns": [], "contacts_removed_at": self._clock.now()}
        async with self._db.transaction() as session:
            campaign = await repository.find_campaign(session, organization_id, campaign_id)
            if campaign is None:
                return emptied
            key = await self._find_own_file(session, organization_id, campaign_id)
            if await repository.update_if_status(session, organization_id, campaign_id, _OVER, values) is None:
                return emptied
        await self._delete_file(key)
        return emptied

    async def _stop(self, session: AsyncSession, organization_id: int, campaign_id: int) -> None:
        """Keeps the campaign from being started or resumed while it is deleted."""
        values = {"status": "failed", "failure_reason": _BEGUN}
        if await repository.update_if_status(session, organization_id, campaign_id, _STOPPED, values) is None:
            await _get_campaign(session, organization_id, campaign_id)
            raise CampaignRunning
        await _refuse_live_calls(session, organization_id, campaign_id)

    async def _delete_runs(self, organization_id: int, campaign_id: int) -> int:
        deleted = 0
        while True:
            async with self._db.transaction() as session:
                run_ids = await retention_queries.list_runs_of_campaign(
                    session, organization_id, campaign_id, limit=RUN_BATCH
                )
            if run_ids:
                await self._runs.erase_runs(organization_id, run_ids)
                deleted += len(run_ids)
            if len(run_ids) < RUN_BATCH:
                return deleted

    async def _delete_contacts(self, organization_id: int, campaign_id: int) -> int:
        deleted = 0
        while True:
            async with self._db.transaction() as session:
                batch = await deletion_statements.delete_contacts(
                    session, organization_id, campaign_id, limit=CONTACT_BATCH
                )
            deleted += batch
            if batch < CONTACT_BATCH:
                return deleted

    async def _find_own_file(self, session: AsyncSession, organization_id: int, campaign_id: int) -> str | None:
        """Returns the campaign's contact file, unless another campaign (a redial) has it too."""
        campaign = await _get_campaign(session, organization_id, campaign_id)
        key = campaign.contacts_file_key
        if key is None or await deletion_statements.is_file_shared(session, organization_id, campaign_id, key):
            return None
        return key

    async def _delete_file(self, key: str | None) -> None:
        # After the row: a file that a crash leaves is swept as one that no campaign uses.
        if key is not None:
            await self._storage.delete(key)


async def _get_campaign(session: AsyncSession, organization_id: int, campaign_id: int) -> Campaign:
    campaign = await repository.find_campaign(session, organization_id, campaign_id)
    if campaign is None:
        raise CampaignNotFound
    return campaign


async def _refuse_live_calls(session: AsyncSession, organization_id: int, campaign_id: int) -> None:
    if await _has_live_calls(session, organization_id, campaign_id):
        raise CampaignHasLiveCalls


async def _has_live_calls(session: AsyncSession, organization_id: int, campaign_id: int) -> bool:
    return bool(
        await repository.count_open_attempts(session, organization_id, campaign_id)
    ) or await retention_queries.has_live_run_of_campaign(session, organization_id, campaign_id)


async def _record(session: AsyncSession, caller: Caller, action: str, done: CampaignDeletion) -> None:
    data = {"contacts": done.contacts, "runs": done.runs, "has_contact_file": done.has_contact_file}
    await write_audit_entry(session, as_begun(caller), action, f"campaign:{done.campaign_id}", data)
