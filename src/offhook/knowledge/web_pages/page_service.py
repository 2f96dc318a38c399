"""The rules of web pages: adding one by its address, and reading it again."""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs.queue import enqueue
from offhook.kit.egress import EgressClient, EgressError
from offhook.kit.egress.policy import MAX_URL_LENGTH
from offhook.knowledge import service
from offhook.knowledge.jobs import FETCH
from offhook.knowledge.repository import DocumentRow
from offhook.knowledge.tables import KnowledgeDocument
from offhook.knowledge.web_pages.fetching import filename_of, name_of
from offhook.knowledge.web_pages.page_errors import DocumentArchived, NotAPage, PageAddressInvalid, PageBeingRead
from offhook.knowledge.web_pages.page_state import begin_reading
from offhook.orgs import Caller, write_audit_entry


def require_valid_address(egress: EgressClient, address: str) -> str:
    """Returns an address as it is stored. Raises UrlInvalid, AddressRefused and PageAddressInvalid (422)."""
    try:
        target = egress.parse_url(address)
    except EgressError as error:
        raise type(error)(error.message, field="address") from None
    if target.url.scheme != "https":
        raise PageAddressInvalid(field="address")
    normal = str(target.url.copy_with(fragment=None))
    # Letters beyond ASCII are longer in it.
    if len(normal) > MAX_URL_LENGTH:
        raise PageAddressInvalid(f"Addresses are limited to {MAX_URL_LENGTH} characters.", field="address")
    return normal


async def add_page(
    session: AsyncSession, caller: Caller, address: str, *, name: str | None, retrieval_mode: str, now: datetime
) -> DocumentRow:
    """Creates a document for a web page, and a job that fetches it."""
    document = KnowledgeDocument(
        organization_id=caller.organization_id,
        name=name or name_of(address),
        filename=filename_of(address),
        retrieval_mode=retrieval_mode,
        created_by=caller.user_id,
        address=address,
    )
    begin_reading(document, now=now)
    session.add(document)
    await session.flush()
    await session.refresh(document)
    await _enqueue_fetch(session, document)
    data = {"name": document.name, "address": address}
    await write_audit_entry(session, caller, "document.created", f"document:{document.id}", data)
    return document, None


async def read_again(session: AsyncSession, caller: Caller, document_id: str, *, now: datetime) -> DocumentRow:
    """Has a page fetched again; agents keep its content until then. Raises DocumentNotFound (404), NotAPage,
    DocumentArchived and PageBeingRead (409).
    """
    document, content = await service.lock_document(session, caller.organization_id, document_id)
    if document.address is None:
        raise NotAPage
    if document.archived_at is not None:
        raise DocumentArchived
    if document.reading_since is not None:
        raise PageBeingRead
    begin_reading(document, now=now)
    await _enqueue_fetch(session, document)
    data = {"name": document.name, "address": document.address}
    await write_audit_entry(session, caller, "document.read_again", f"document:{document.id}", data)
    return document, content


async def _enqueue_fetch(session: AsyncSession, document: KnowledgeDocument) -> None:
    payload = {"organization_id": document.organization_id, "document_id": str(document.id)}
    await enqueue(session, FETCH, payload)
