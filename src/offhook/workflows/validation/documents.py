"""Warns the author about documents that cannot be used; the agent works without them."""

from collections.abc import Iterator, Mapping
from typing import Final

from offhook.knowledge.service import DocumentFacts
from offhook.workflows.graph import WorkflowGraph
from offhook.workflows.validation.issues import ValidationIssue

_UNUSABLE_REASONS: Final = {
    "archived": "is archived",
    "failed": "could not be read",
    "processing": "is still being read",
}


def document_warnings(graph: WorkflowGraph, documents: Mapping[str, DocumentFacts]) -> Iterator[ValidationIssue]:
    """Yields the warnings. ``documents``: facts by reference, without the organization's unknown references."""
    for node in graph.nodes.values():
        field = "data.document_refs" if node.data.get("document_refs") else "data.document_uuids"
        for ref in node.document_refs:
            facts = documents.get(ref)
            if facts is None:
                message = f"Document {ref!r} does not exist. “{node.name}” continues without it."
                yield ValidationIssue("node", node.id, field, "document_unknown", message)
            elif facts.status in _UNUSABLE_REASONS:
                message = f"The document “{facts.name}” {_UNUSABLE_REASONS[facts.status]}. “{node.name}” continues without it."
                yield ValidationIssue("node", node.id, field, f"document_{facts.status}", message)
