"""API keys as Dograh's clients know them, ``/user/api-keys``: the same keys as ``/organizations/api-keys``."""

from datetime import datetime
from typing import Annotated

from fastapi import Query

from offhook.kit.database.database import Session
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.kit.schema import Schema
from offhook.orgs import repository
from offhook.orgs.api_keys import keys
from offhook.orgs.dependencies import Now, RequireAdmin, RequireAdminPerson
from offhook.orgs.schemas import ApiKeyCreate

router = Router(prefix="/user/api-keys", tags=["api keys"])


class UserApiKeyResponse(Schema):
    id: int
    name: str
    key_prefix: str
    is_active: bool
    created_at: datetime
    last_used_at: datetime | None
    archived_at: datetime | None


class UserApiKeyCreated(Schema):
    """``api_key`` is the secret and is returned only once."""

    id: int
    name: str
    key_prefix: str
    api_key: str
    created_at: datetime


class UserApiKeyDone(Schema):
    success: bool = True
    message: str


@router.get("", response_model=list[UserApiKeyResponse], operation_id="list_user_api_keys")
async def list_user_keys(
    org: RequireAdmin, session: Session, include_archived: Annotated[bool, Query()] = False
) -> list[UserApiKeyResponse]:
    """Lists the organization's API keys, newest first."""
    return [
        UserApiKeyResponse(
            id=record.id,
            name=record.name,
            key_prefix=record.prefix,
            is_active=record.archived_at is None,
            created_at=record.created_at,
            last_used_at=record.last_used_at,
            archived_at=record.archived_at,
        )
        for record in await repository.list_keys(session, org.organization_id, include_archived=include_archived)
    ]


@router.post("", response_model=UserApiKeyCreated, operation_id="create_user_api_key")
async def create_user_key(body: ApiKeyCreate, org: RequireAdminPerson, session: Session, now: Now) -> UserApiKeyCreated:
    """Creates an API key and returns its secret."""
    new = await keys.create_key(session, org, body, now)
    return UserApiKeyCreated(
        id=new.record.id,
        name=new.record.name,
        key_prefix=new.record.prefix,
        api_key=new.key,
        created_at=new.record.created_at,
    )


@router.delete("/{key_id}", response_model=UserApiKeyDone, operation_id="archive_user_api_key")
async def archive_user_key(key_id: Id, org: RequireAdmin, session: Session, now: Now) -> UserApiKeyDone:
    await keys.set_archived(session, org, key_id, now)
    return UserApiKeyDone(message="API key archived successfully")


@router.put("/{key_id}/reactivate", response_model=UserApiKeyDone, operation_id="reactivate_user_api_key")
async def reactivate_user_key(key_id: Id, org: RequireAdminPerson, session: Session) -> UserApiKeyDone:
    await keys.set_archived(session, org, key_id, None)
    return UserApiKeyDone(message="API key reactivated successfully")
