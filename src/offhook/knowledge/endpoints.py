"""The knowledge base over HTTP."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, File, Form, Path, Query, Response, UploadFile

from offhook.kit.database.database import Database, Session
from offhook.kit.http.openapi import error_responses
from offhook.kit.http.pagination import SliceParams, set_total
from offhook.knowledge import service
from offhook.knowledge.errors import DocumentNameInvalid
from offhook.knowledge.limits import MAX_FILE_BYTES
from offhook.knowledge.schemas import (
    DocumentResponse,
    DocumentStatus,
    DocumentUpdate,
    ReferenceDocument,
    ReferenceDocumentList,
    ReferenceStatus,
    RetrievalMode,
    SearchHit,
    SearchRequest,
    clean_name,
)
from offhook.knowledge.search import PassageSearch
from offhook.knowledge.uploads import DocumentIntake
from offhook.orgs import CurrentOrg, Now, RequireMember
from offhook.root import database_of, use_service

router = APIRouter(prefix="/knowledge-base", tags=["knowledge base"])

DocumentId = Annotated[str, Path(max_length=64)]
# a multipart body is its file and some words around it
_MAX_FORM_BYTES: Final = MAX_FILE_BYTES + 64 * 1024
_STATUS_BY_REFERENCE: Final[dict[ReferenceStatus, str]] = {
    "pending": "processing",
    "processing": "processing",
    "completed": "ready",
    "failed": "failed",
}


@router.get("/", response_model=list[DocumentResponse], operation_id="list_knowledge_documents")
async def list_knowledge_documents(
    org: CurrentOrg,
    session: Session,
    response: Response,
    part: SliceParams,
    status: DocumentStatus | None = None,
    has_archived: Annotated[bool, Query(description="False leaves out the archived ones")] = True,
) -> list[DocumentResponse]:
    """Newest first, archived ones included unless `status` or `has_archived` says otherwise; `X-Total-Count` is the
    whole length."""
    rows, total = await service.list_documents(
        session,
        org.organization_id,
        status=status,
        has_archived=has_archived,
        limit=part.limit,
        offset=part.offset,
    )
    set_total(response, total)
    return [DocumentResponse.from_document(*row) for row in rows]


@router.post(
    "/",
    response_model=DocumentResponse,
    operation_id="upload_document",
    responses=error_responses(415),
    max_body_size=_MAX_FORM_BYTES,
)
async def upload_document(
    file: Annotated[UploadFile, File(description="PDF, DOCX, TXT, Markdown, HTML or CSV, at most 50 MB")],
    org: RequireMember,
    db: Annotated[Database, Depends(database_of)],
    intake: Annotated[DocumentIntake, Depends(use_service(DocumentIntake))],
    name: Annotated[str | None, Form(max_length=1_000, description="The filename unless given")] = None,
    retrieval_mode: Annotated[RetrievalMode, Form()] = "auto",
) -> DocumentResponse:
    """A new document with the status `processing`; it is `ready` when agents can use it, or `failed` with an `error`.

    The kind is found from the content. The same bytes again are a new document, and ready at once.
    """
    filename = _require_valid_name(file.filename or "document")
    shown = _require_valid_name(name) if name is not None and name.strip() else filename
    taken = await intake.store_upload(org.organization_id, file.file, filename)
    async with db.transaction() as session:
        made = await service.create_document(
            session, org, taken, name=shown, filename=filename, retrieval_mode=retrieval_mode
        )
    return DocumentResponse.from_document(*made)


@router.post("/search", response_model=list[SearchHit], operation_id="search_knowledge")
async def search_knowledge(
    body: SearchRequest, org: CurrentOrg, search: Annotated[PassageSearch, Depends(use_service(PassageSearch))]
) -> list[SearchHit]:
    """The passages that answer best, by meaning and by words; only of documents that are ready. Ids that are no document
    of yours find nothing."""
    hits = await search.find_passages(org.organization_id, body.query, limit=body.limit, document_ids=body.document_ids)
    return [
        SearchHit(
            document_id=hit.document_id,
            name=hit.name,
            text=hit.text,
            score=hit.score,
            page=hit.page,
            heading=hit.heading or None,
        )
        for hit in hits
    ]


@router.get(
    "/documents",
    response_model=ReferenceDocumentList,
    operation_id="list_documents",
    openapi_extra={"x-sdk-method": "list_documents", "x-sdk-description": "List the documents of the knowledge base."},
)
async def list_documents(
    org: CurrentOrg,
    session: Session,
    status: ReferenceStatus | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> dict[str, Any]:
    """Those that are not archived, newest first, in the shape that Dograh's client libraries know."""
    rows, total = await service.list_documents(
        session,
        org.organization_id,
        status=_STATUS_BY_REFERENCE[status] if status else None,
        has_archived=False,
        limit=limit,
        offset=offset,
    )
    documents = [ReferenceDocument.from_document(*row) for row in rows]
    return {"documents": documents, "total": total, "limit": limit, "offset": offset}


@router.get("/{document_id}", response_model=DocumentResponse, operation_id="get_document")
async def get_document(document_id: DocumentId, org: CurrentOrg, session: Session) -> DocumentResponse:
    return DocumentResponse.from_document(*await service.get_document(session, org.organization_id, document_id))


@router.patch("/{document_id}", response_model=DocumentResponse, operation_id="update_document")
async def update_document(
    document_id: DocumentId, body: DocumentUpdate, org: RequireMember, session: Session, now: Now
) -> DocumentResponse:
    """`metadata` is replaced as a whole. `retrieval_mode`: `full_document` gives agents the whole text (up to 4,000
    tokens), `chunked` the best passages, `auto` the whole of a short one."""
    values = {"details" if field == "metadata" else field: getattr(body, field) for field in body.model_fields_set}
    return DocumentResponse.from_document(*await service.update_document(session, org, document_id, values, now=now))


@router.delete("/{document_id}", response_model=DocumentResponse, operation_id="archive_document")
async def archive_document(document_id: DocumentId, org: RequireMember, session: Session, now: Now) -> DocumentResponse:
    """Agents no longer use it and searches no longer find it; it can be brought back."""
    return DocumentResponse.from_document(
        *await service.set_archived(session, org, document_id, is_archived=True, now=now)
    )


@router.post("/{document_id}/unarchive", response_model=DocumentResponse, operation_id="unarchive_document")
async def unarchive_document(
    document_id: DocumentId, org: RequireMember, session: Session, now: Now
) -> DocumentResponse:
    """As it was before it was archived."""
    return DocumentResponse.from_document(
        *await service.set_archived(session, org, document_id, is_archived=False, now=now)
    )


def _require_valid_name(value: str) -> str:
    try:
        return clean_name(value)
    except ValueError:
        raise DocumentNameInvalid from None
