"""The rules of documents: creating, renaming, archiving and unarchiving them."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs.queue import enqueue
from offhook.knowledge import repository
from offhook.knowledge.errors import DocumentNotFound
from offhook.knowledge.jobs import PROCESS
from offhook.knowledge.repository import DocumentRow
from offhook.knowledge.tables import DocumentContent, KnowledgeDocument
from offhook.knowledge.uploads import StoredFile
from offhook.orgs import Caller, skip_audit_entry, write_audit_entry
from offhook.webhooks import service as webhooks


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """A document that a definition names, as other domains see it. ``status``: processing, ready, failed or archived."""

    id: str
    name: str
    status: str


async def create_document(
    session: AsyncSession, caller: Caller, stored: StoredFile, *, name: str, filename: str, retrieval_mode: str = "auto"
) -> DocumentRow:
    """Creates a document of a stored file; the content of the same bytes is used again."""
    organization_id = caller.organization_id
    content, is_new = await get_or_add_content(session, organization_id, stored)
    document = KnowledgeDocument(
        organization_id=organization_id,
        content_id=content.id,
        name=name,
        filename=filename,
        retrieval_mode=retrieval_mode,
        created_by=caller.user_id,
    )
    session.add(document)
    await session.flush()
    await session.refresh(document)
    await session.refresh(content)
    # while the content is processed its own job completes every document that waits for it
    if is_new or content.state != "processing":
        await enqueue(session, PROCESS, {"organization_id": organization_id, "content_id": content.id})
    data = {"name": name, "size_bytes": content.size_bytes}
    await write_audit_entry(session, caller, "document.created", f"document:{document.id}", data)
    return document, content


async def find_or_create_document(
    session: AsyncSession, caller: Caller, stored: StoredFile, *, name: str, filename: str
) -> DocumentRow:
    """Returns the document of this name and these bytes that agents can use, or creates it."""
    found = await repository.find_document_of_bytes(session, caller.organization_id, stored.sha256, name)
    return found or await create_document(session, caller, stored, name=name, filename=filename)


async def get_or_add_content(
    session: AsyncSession, organization_id: int, stored: StoredFile
) -> tuple[DocumentContent, bool]:
    """Returns the content of these bytes, locked, or adds it; another request may be adding it at the same time."""
    while True:
        content = await repository.content_of_bytes(session, organization_id, stored.sha256)
        if content is not None:
            return content, False
        values = {field: getattr(stored, field) for field in ("sha256", "kind", "size_bytes", "storage_key")}
        content = await repository.add_content(session, organization_id, values)
        if content is not None:
            return content, True


async def get_document(session: AsyncSession, organization_id: int, document_id: str) -> DocumentRow:
    """Returns a document; raises DocumentNotFound (404). A web page has no content until it was read once."""
    row = await repository.find_document(session, organization_id, document_id)
    if row is None:
        raise DocumentNotFound
    return row


async def update_document(
    session: AsyncSession, caller: Caller, document_id: str, values: Mapping[str, Any], *, now: datetime
) -> DocumentRow:
    """Changes ``name``, ``details`` or ``retrieval_mode``; raises DocumentNotFound (404)."""
    document, content = await lock_document(session, caller.organization_id, document_id)
    changed = {field: value for field, value in values.items() if getattr(document, field) != value}
    if not changed:
        skip_audit_entry(session)
        return document, content
    for field, value in changed.items():
        setattr(document, field, value)
    document.updated_at = now
    await write_audit_entry(session, caller, "document.updated", f"document:{document.id}", {"fields": sorted(changed)})
    return document, content


async def set_archived(
    session: AsyncSession, caller: Caller, document_id: str, *, is_archived: bool, now: datetime
) -> DocumentRow:
    """Hides a document from agents and searches, or restores its state before; raises DocumentNotFound (404)."""
    document, content = await lock_document(session, caller.organization_id, document_id)
    if (document.archived_at is not None) == is_archived:
        skip_audit_entry(session)
        return document, content
    document.archived_at = now if is_archived else None
    document.updated_at = now
    action = "document.archived" if is_archived else "document.unarchived"
    await write_audit_entry(session, caller, action, f"document:{document.id}", {"name": document.name})
    return document, content


async def list_documents(
    session: AsyncSession,
    organization_id: int,
    *,
    status: str | None = None,
    has_archived: bool = True,
    limit: int | None = None,
    offset: int = 0,
) -> tuple[list[DocumentRow], int]:
    """Returns documents, newest first, and the total count."""
    return await repository.list_documents(
        session, organization_id, status=status, has_archived=has_archived, limit=limit, offset=offset
    )


async def document_facts(
    session: AsyncSession, organization_id: int, refs: Collection[str]
) -> dict[str, DocumentFacts]:
    """Returns documents by reference (uuid, or the integer of Dograh's list); unknown references are omitted."""
    facts: dict[str | uuid.UUID, DocumentFacts] = {}
    references = set(refs)
    for document in await repository.find_by_references(session, organization_id, references):
        status = "archived" if document.archived_at is not None else document.status
        known = DocumentFacts(str(document.id), document.name, status)
        facts[document.id] = facts[str(document.number)] = known
    found = ((ref, facts.get(repository.parse_uuid(ref) or ref)) for ref in references)
    return {ref: known for ref, known in found if known is not None}


async def read_texts(
    session: AsyncSession, organization_id: int, refs: Collection[str], *, max_chars: int
) -> dict[str, str]:
    """Returns the texts of usable documents by reference, shortest first, as long as they fit into ``max_chars``."""
    texts: dict[str, str] = {}
    left = max_chars
    for document, content in await repository.find_usable(session, organization_id, refs):
        text = await repository.whole_text(session, organization_id, content.id)
        if len(text) > left:
            break
        left -= len(text)
        names = {ref for ref in refs if repository.parse_uuid(ref) == document.id or ref == str(document.number)}
        texts |= dict.fromkeys(names, text)
    return texts


async def documents_named(session: AsyncSession, organization_id: int, names: Collection[str]) -> dict[str, str]:
    """Returns the ids of the newest usable documents of these names; unknown names are left out."""
    return await repository.ids_by_name(session, organization_id, names) if names else {}


async def publish_outcome(session: AsyncSession, document: KnowledgeDocument, content: DocumentContent | None) -> None:
    """Publishes ``document.ready`` or ``document.failed``; ``content`` is None for a page that was never read."""
    sentence = document.read_error if document.address is not None or content is None else content.error
    data = {
        "document_id": str(document.id),
        "name": document.name,
        "filename": document.filename,
        "status": document.status,
        "chunk_count": None if content is None else content.chunk_count,
        "error": sentence if document.status == "failed" else None,
    }
    event = "document.ready" if document.status == "ready" else "document.failed"
    # A page can fail again.
    key = f"{event}:{document.id}" if document.address is None else None
    await webhooks.publish_event(session, document.organization_id, event, data, key=key)


async def lock_document(session: AsyncSession, organization_id: int, document_id: str) -> DocumentRow:
    """Returns a document, locked for a change; raises DocumentNotFound (404)."""
    row = await repository.find_document(session, organization_id, document_id, for_update=True)
    if row is None:
        raise DocumentNotFound
    return row
