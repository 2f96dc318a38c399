"""Deletes a person's account: they leave every organization, and nothing opens the account again."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.audit_trail.recorder import skip_audit_entry, write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.errors import (
    ConfirmationWrong,
    MembershipsChanged,
    OnlyOwner,
    SuperuserAccount,
)
from offhook.orgs.fresh_sign_in import has_fresh_sign_in
from offhook.orgs.people import account_deletion_statements as statements
from offhook.orgs.people import accounts, repository
from offhook.orgs.second_factor import repository as second_factors

Refusal = Literal["superuser_account", "only_owner", "fresh_sign_in_needed"]


@dataclass(frozen=True, slots=True)
class MembershipToEnd:
    """An organization that the person would leave, and how many of their API keys would end there."""

    id: int
    name: str
    role: str
    is_only_owner: bool
    api_keys: int


@dataclass(frozen=True, slots=True)
class DeletionPreview:
    """What a deletion would end and what it asks for. ``refusal``: the code that it would be refused with now."""

    organizations: list[MembershipToEnd]
    needs_password: bool
    needs_code: bool
    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class AccountDeletion:
    """What ended with the account."""

    organizations: int
    ended_keys: int


@dataclass(frozen=True, slots=True)
class NeededProof:
    """What a person confirms a deletion with. ``is_too_old``: they have neither, and their sign-in is not fresh."""

    needs_password: bool
    needs_code: bool
    is_too_old: bool


async def find_needed_proof(session: AsyncSession, caller: Caller, now: datetime) -> NeededProof:
    """Returns what the caller has to confirm a deletion with; raises ``UserNotFound`` (404)."""
    assert caller.user_id is not None
    user = await accounts.get_user(session, caller.user_id)
    needs_password, needs_code = user.password_hash is not None, await second_factors.has_factor(session, user.id)
    return NeededProof(
        needs_password, needs_code, not needs_password and not needs_code and not has_fresh_sign_in(caller, now)
    )


async def preview_deletion(session: AsyncSession, caller: Caller, now: datetime) -> DeletionPreview:
    """Returns what a deletion of the caller's account would do; raises ``UserNotFound`` (404)."""
    assert caller.user_id is not None
    user = await accounts.get_user(session, caller.user_id)
    alone = {organization.id for organization in await statements.list_owned_alone(session, user.id)}
    keys = await statements.count_active_keys(session, user.id)
    organizations = [
        MembershipToEnd(
            id=organization.id,
            name=organization.name,
            role=role,
            is_only_owner=organization.id in alone,
            api_keys=keys.get(organization.id, 0),
        )
        for organization, role in await repository.organizations_of(session, user.id)
    ]
    proof = await find_needed_proof(session, caller, now)
    refusal: Refusal | None = None
    if user.is_superuser:
        refusal = "superuser_account"
    elif alone:
        refusal = "only_owner"
    elif proof.is_too_old:
        refusal = "fresh_sign_in_needed"
    return DeletionPreview(organizations, proof.needs_password, proof.needs_code, refusal)


async def delete_account(session: AsyncSession, caller: Caller, email: str, now: datetime) -> AccountDeletion:
    """Deletes the caller's own account. Their sessions, links, keys and second factor end with the transaction.

    What they made stays with the organizations, whose audit logs name the person by number only. ``email`` is the
    address, typed as a confirmation.

    Raises ``InvalidToken`` (401), ``ConfirmationWrong`` (422), ``SuperuserAccount``, ``OnlyOwner`` and
    ``MembershipsChanged`` (409).
    """
    assert caller.user_id is not None
    user_id = caller.user_id
    # Organizations before the user, as who joins one: otherwise the two wait for each other.
    locked = {member.organization_id for member in await statements.list_memberships(session, user_id)}
    await statements.lock_organizations(session, locked)
    user = await accounts.lock_caller(session, caller, now)
    if email.strip().lower() != user.email.lower():
        raise ConfirmationWrong(field="email")
    if user.is_superuser:
        raise SuperuserAccount
    memberships = await statements.list_memberships(session, user_id)
    if not {member.organization_id for member in memberships} <= locked:
        raise MembershipsChanged
    alone = await statements.list_owned_alone(session, user_id)
    if alone:
        names = ", ".join(organization.name for organization in alone)
        raise OnlyOwner(
            f"You are the only owner of {names}. Make another member an owner first, or delete the "
            "organization. If it is your only one, your account is deleted with it."
        )
    left = [(member.organization_id, member.role) for member in memberships]
    keys = await statements.count_active_keys(session, user_id)
    await statements.end_keys(session, user_id, now)
    # The entry of somebody who was in no organization any more would have their address on the network.
    skip_audit_entry(session)
    for organization_id, role in left:
        await repository.delete_member(session, organization_id, user_id)
        there = replace(caller, organization_id=organization_id, ip=None)
        data = {"role": role, "ended_keys": keys.get(organization_id, 0)}
        await write_audit_entry(session, there, "account.deleted", f"user:{user_id}", data)
    await statements.delete_account(session, user)
    return AccountDeletion(len(left), sum(keys.values()))
