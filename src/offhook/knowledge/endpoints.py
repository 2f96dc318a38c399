"""The knowledge base over HTTP."""

from typing import Annotated, Final

from fastapi import File, Form, Path, Query, Response, UploadFile

from offhook.kit.database.database import Session
from offhook.kit.http.openapi import error_responses
from offhook.kit.http.pagination import SliceParams, set_total
from offhook.kit.http.routing import Router
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
    WebPageRequest,
    clean_name,
)
from offhook.knowledge.services import Services
from offhook.knowledge.web_pages import page_service
from offhook.orgs import CurrentOrg, Now, RequireMember

router = Router(prefix="/knowledge-base", tags=["knowledge base"])

DocumentId = Annotated[str, Path(max_length=64)]
# a multipart body is the file and a little overhead
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
    has_archived: Annotated[bool, Query(description="False excludes archived documents")] = True,
) -> list[DocumentResponse]:
    """Lists documents, newest first, including archived ones unless `status` or `has_archived` excludes them. The
    `X-Total-Count` header holds the total count."""
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
    file: Annotated[UploadFile, File(description="PDF, DOCX, TXT, Markdown, HTML or CSV, up to 50 MB")],
    org: RequireMember,
    session: Session,
    knowledge: Services,
    name: Annotated[str | None, Form(max_length=1_000, description="Defaults to the filename")] = None,
    retrieval_mode: Annotated[RetrievalMode, Form()] = "auto",
) -> DocumentResponse:
    """Uploads a document. Its status is `processing` until agents can use it (`ready`) or an `error` occurs (`failed`).

    The file type is detected from the content. Uploading the same bytes again creates a new document that is ready
    immediately.
    """
    filename = _require_valid_name(file.filename or "document")
    shown = _require_valid_name(name) if name is not None and name.strip() else filename
    # The session holds no connection before its first statement, so a slow upload holds none.
    stored = await knowledge.intake.store_upload(org.organization_id, file.file, filename)
    document, content = await service.create_document(
        session, org, stored, name=shown, filename=filename, retrieval_mode=retrieval_mode
    )
    return DocumentResponse.from_document(document, content)


@router.post("/pages", response_model=DocumentResponse, operation_id="add_web_page")
async def add_web_page(
    body: WebPageRequest, org: RequireMember, session: Session, knowledge: Services, now: Now
) -> DocumentResponse:
    """Adds the web page at an https address as a document. A job reads it: HTML, PDF, Markdown, or plain text, up to 10 MB.

    Its status is `processing` until agents can use it (`ready`), or until `web_page.error` says why it could not be read
    (`failed`). Only this page is read, not the pages it links to.
    """
    address = page_service.require_valid_address(knowledge.egress, body.address.strip())
    row = await page_service.add_page(
        session, org, address, name=body.name, retrieval_mode=body.retrieval_mode, now=now
    )
    return DocumentResponse.from_document(*row)


@router.post("/search", response_model=list[SearchHit], operation_id="search_knowledge")
async def search_knowledge(body: SearchRequest, org: CurrentOrg, knowledge: Services) -> list[SearchHit]:
    """Returns the best passages of ready documents, by meaning and by words. Unknown document ids are ignored."""
    hits = await knowledge.search.find_passages(
        org.organization_id, body.query, limit=body.limit, document_ids=body.document_ids
    )
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
) -> ReferenceDocumentList:
    """Lists documents that are not archived, newest first, as Dograh-compatible objects."""
    rows, total = await service.list_documents(
        session,
        org.organization_id,
        status=_STATUS_BY_REFERENCE[status] if status else None,
        has_archived=False,
        limit=limit,
        offset=offset,
    )
    documents = [ReferenceDocument.from_document(*row) for row in rows]
    return ReferenceDocumentList(documents=documents, total=total, limit=limit, offset=offset)


@router.get("/{document_id}", response_model=DocumentResponse, operation_id="get_document")
async def get_document(document_id: DocumentId, org: CurrentOrg, session: Session) -> DocumentResponse:
    return DocumentResponse.from_document(*await service.get_document(session, org.organization_id, document_id))


@router.patch("/{document_id}", response_model=DocumentResponse, operation_id="update_document")
async def update_document(
    document_id: DocumentId, body: DocumentUpdate, org: RequireMember, session: Session, now: Now
) -> DocumentResponse:
    """Updates a document. `metadata` is replaced completely. With the `retrieval_mode` `full_document`, agents get the
    full text (up to 4,000 tokens), with `chunked` the best passages, and with `auto` the full text of short
    documents."""
    values = {"details" if field == "metadata" else field: getattr(body, field) for field in body.model_fields_set}
    return DocumentResponse.from_document(*await service.update_document(session, org, document_id, values, now=now))


@router.delete("/{document_id}", response_model=DocumentResponse, operation_id="archive_document")
async def archive_document(document_id: DocumentId, org: RequireMember, session: Session, now: Now) -> DocumentResponse:
    """Archives a document: agents no longer use it and searches no longer find it. It can be unarchived."""
    return DocumentResponse.from_document(
        *await service.set_archived(session, org, document_id, is_archived=True, now=now)
    )


@router.post("/{document_id}/unarchive", response_model=DocumentResponse, operation_id="unarchive_document")
async def unarchive_document(
    document_id: DocumentId, org: RequireMember, session: Session, now: Now
) -> DocumentResponse:
    """Restores an archived document to its previous state."""
    return DocumentResponse.from_document(
        *await service.set_archived(session, org, document_id, is_archived=False, now=now)
    )


@router.post("/{document_id}/read-again", response_model=DocumentResponse, operation_id="read_web_page_again")
async def read_web_page_again(
    document_id: DocumentId, org: RequireMember, session: Session, now: Now
) -> DocumentResponse:
    """Reads a web page again. Agents use its previous content until the new one is ready, and keep it if the page cannot
    be read (`web_page.error`)."""
    return DocumentResponse.from_document(*await page_service.read_again(session, org, document_id, now=now))


def _require_valid_name(value: str) -> str:
    try:
        return clean_name(value)
    except ValueError:
        raise DocumentNameInvalid from None
