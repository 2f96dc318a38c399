"""Deletes organizations: an owner closes theirs, which takes one transaction, and a job deletes everything in it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs.queue import enqueue
from offhook.kit.json_values import JsonObject, JsonValue
from offhook.orgs import Caller, skip_audit_entry
from offhook.orgs import service as orgs
from offhook.orgs.errors import SuperuserAccount
from offhook.orgs.people import organization_closing
from offhook.orgs.people.account_deletion import find_needed_proof
from offhook.orgs.people.organization_closing import ClosedOrganization
from offhook.privacy import organization_statements as statements
from offhook.privacy import superuser_queries
from offhook.privacy.errors import OrganizationHasLiveCalls, OrganizationHasRunningCampaigns
from offhook.privacy.tables import OrganizationDeletion

JOB: Final = "privacy.delete_organization"


@dataclass(frozen=True, slots=True)
class OrganizationDeletionPreview:
    """What a deletion would delete and what it asks for. ``accounts``: of members who are in no other organization, also the
    caller's with ``deletes_own_account``. ``refusals``: the codes that it would be refused with now."""

    name: str
    counts: dict[str, int]
    accounts: int
    deletes_own_account: bool
    needs_password: bool
    needs_code: bool
    refusals: list[str]


@dataclass(frozen=True, slots=True)
class BegunDeletion:
    """A deletion that a job goes on with, and what has ended already."""

    id: int
    closed: ClosedOrganization


async def preview_deletion(session: AsyncSession, caller: Caller, now: datetime) -> OrganizationDeletionPreview:
    """Returns what a deletion of the caller's organization would do."""
    organization = await orgs.get_organization(session, caller.organization_id)
    proof = await find_needed_proof(session, caller, now)
    refusals, account_ids = [], []
    try:
        ending = await organization_closing.list_accounts_to_end(session, organization.id)
        account_ids = [user.id for user in ending]
    except SuperuserAccount as refusal:
        refusals.append(refusal.code)
    if await statements.has_running_campaign(session, organization.id):
        refusals.append(OrganizationHasRunningCampaigns.code)
    if await statements.has_conversation(session, organization.id, now):
        refusals.append(OrganizationHasLiveCalls.code)
    if proof.is_too_old:
        refusals.append("fresh_sign_in_needed")
    return OrganizationDeletionPreview(
        name=organization.name,
        counts=await statements.count_owned(session, organization.id),
        accounts=len(account_ids),
        deletes_own_account=caller.user_id in account_ids,
        needs_password=proof.needs_password,
        needs_code=proof.needs_code,
        refusals=refusals,
    )


async def begin_deletion(session: AsyncSession, caller: Caller, name: str, now: datetime) -> BegunDeletion:
    """Closes the caller's organization and leaves the rest to the job. ``name`` is typed as a confirmation.

    Nothing is hung up and no campaign is stopped for it: who deletes an organization by mistake in the middle of its work
    is refused. Text chats that wait for a message end. Raises ``OwnerOnly`` (403), ``ConfirmationWrong`` (422), ``OrganizationClosed``, ``SuperuserAccount``,
    ``OrganizationHasRunningCampaigns`` and ``OrganizationHasLiveCalls`` (409).
    """
    assert caller.user_id is not None
    organization = await organization_closing.lock_to_close(session, caller, name)
    if await statements.has_running_campaign(session, organization.id):
        raise OrganizationHasRunningCampaigns
    if await statements.has_conversation(session, organization.id, now):
        raise OrganizationHasLiveCalls
    closed = await organization_closing.close(session, caller, organization, now)
    await statements.stop_everything(session, organization.id)
    await statements.end_waiting_chats(session, organization.id, now)
    deletion = OrganizationDeletion(organization_id=organization.id, requested_by=caller.user_id, requested_at=now)
    session.add(deletion)
    await session.flush()
    await enqueue_deletion(session, deletion)
    # The log goes with the organization; what stays is the receipt.
    skip_audit_entry(session)
    return BegunDeletion(deletion.id, closed)


async def enqueue_deletion(session: AsyncSession, deletion: OrganizationDeletion) -> None:
    # Not by the organization's number: the job deletes the jobs that have it.
    await enqueue(session, JOB, {"deletion_id": deletion.id}, dedupe_key=f"{JOB}:{deletion.id}")


async def list_receipts(session: AsyncSession) -> list[JsonObject]:
    """Returns how far each deletion of the installation is, with its receipt, newest first."""
    return [
        {
            "deletion": row.id,
            "organization": row.organization_id,
            "requested_by": row.requested_by,
            "requested_at": row.requested_at.isoformat(),
            "state": row.state,
            "step": row.step,
            "finished_at": None if row.finished_at is None else row.finished_at.isoformat(),
            "counts": row.counts,
            "books": None if row.books is None else list[JsonValue](row.books),
        }
        for row in await superuser_queries.list_deletions(session)
    ]
