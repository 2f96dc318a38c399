"""Folders over HTTP."""

from fastapi import Response

from offhook.kit.database.database import Session
from offhook.kit.http.pagination import SliceParams, set_total
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, RequireMember
from offhook.workflows.folders import folders
from offhook.workflows.schemas import DeletedResponse, FolderRequest, FolderResponse

router = Router(prefix="/folder", tags=["workflows"])


@router.get("/", response_model=list[FolderResponse], operation_id="list_folders")
async def list_folders(
    org: CurrentOrg, session: Session, response: Response, part: SliceParams
) -> list[FolderResponse]:
    """Lists folders by name. The `X-Total-Count` header holds the total count."""
    rows, total = await folders.list_folders(session, org.organization_id, limit=part.limit, offset=part.offset)
    set_total(response, total)
    return [FolderResponse.model_validate(row) for row in rows]


@router.post("/", response_model=FolderResponse, operation_id="create_folder")
async def create_folder(body: FolderRequest, org: RequireMember, session: Session) -> FolderResponse:
    folder = await folders.create_folder(session, org, body.name)
    return FolderResponse(id=folder.id, name=folder.name, created_at=folder.created_at, workflow_count=0)


@router.put("/{folder_id}", response_model=FolderResponse, operation_id="rename_folder")
async def rename_folder(folder_id: Id, body: FolderRequest, org: RequireMember, session: Session) -> FolderResponse:
    folder = await folders.rename_folder(session, org, folder_id, body.name)
    count = await folders.workflow_count(session, org.organization_id, folder_id)
    return FolderResponse(id=folder.id, name=body.name, created_at=folder.created_at, workflow_count=count)


@router.delete("/{folder_id}", response_model=DeletedResponse, operation_id="delete_folder")
async def delete_folder(folder_id: Id, org: RequireMember, session: Session) -> DeletedResponse:
    """Deletes a folder; its workflows are kept without a folder."""
    await folders.delete_folder(session, org, folder_id)
    return DeletedResponse(id=folder_id)
