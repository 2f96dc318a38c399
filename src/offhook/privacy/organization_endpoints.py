"""The deletion of an organization over HTTP: the preview and the request."""

from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from offhook.kit.database.database import Session
from offhook.kit.http.routing import Router
from offhook.kit.schema import Schema
from offhook.orgs import Now, RequireOwnerPerson
from offhook.orgs.services import Services as OrgServices
from offhook.privacy import organization_deletion
from offhook.privacy.organization_deletion import OrganizationDeletionPreview

router = Router(prefix="/organizations/deletion", tags=["organizations"])


class OrganizationDeletionPreviewResponse(Schema):
    """``accounts``: of members who are in no other organization; they are deleted too. ``refusals``: the codes with
    which the deletion would be refused now, whatever the confirmation."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    counts: dict[str, int] = Field(
        description="agents, runs, documents, campaigns, contacts, phone_numbers, members, api_keys"
    )
    accounts: int
    deletes_own_account: bool
    needs_password: bool
    needs_code: bool
    refusals: list[str]


class OrganizationDeletionBody(Schema):
    """``name``: the name of the organization, as a confirmation. ``current_password`` is not needed when your account has no
    password, ``code`` only with two-step sign-in: of the app, or a recovery code."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    current_password: Annotated[str, StringConstraints(max_length=1024)] | None = None
    code: Annotated[str, StringConstraints(strip_whitespace=True, max_length=64)] | None = None


class OrganizationDeletionResponse(Schema):
    """What ended immediately, and the number of the deletion, which the operator needs to find its receipt."""

    deletion_id: int
    members: int
    accounts: int
    ended_keys: int
    deleted_own_account: bool


@router.get("", response_model=OrganizationDeletionPreviewResponse, operation_id="preview_organization_deletion")
async def preview_deletion(org: RequireOwnerPerson, session: Session, now: Now) -> OrganizationDeletionPreview:
    """Shows what deleting your organization would delete, and what you must confirm it with. Owners only."""
    return await organization_deletion.preview_deletion(session, org, now)


@router.post("", response_model=OrganizationDeletionResponse, operation_id="delete_organization")
async def delete_organization(
    body: OrganizationDeletionBody, org: RequireOwnerPerson, session: Session, services: OrgServices, now: Now
) -> OrganizationDeletionResponse:
    """Deletes your organization with everything in it, and the accounts of members who are in no other organization.
    Owners only. The organization closes immediately: sessions and API keys end, numbers no longer answer, and no calls
    are placed. A job then deletes its data. Returns 409 while calls, chats or campaigns are running. If you have
    neither a password nor two-step sign-in, you must have signed in within the last 10 minutes.
    """
    await services.confirm_deletion(session, org, body.current_password, body.code, now)
    begun = await organization_deletion.begin_deletion(session, org, body.name, now)
    return OrganizationDeletionResponse(
        deletion_id=begun.id,
        members=begun.closed.members,
        accounts=begun.closed.accounts,
        ended_keys=begun.closed.keys,
        deleted_own_account=begun.closed.is_own_account_deleted,
    )
