"""Document retrieval for the agent of a call."""

from collections.abc import Sequence

import structlog

from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.knowledge import KnowledgePassage, PassageLookup

log = structlog.get_logger(__name__)


class CallKnowledge:
    """Implements ``voice.ports.KnowledgeSource`` for one organization. Its failures never fail a call."""

    def __init__(self, passages: PassageLookup, organization_id: int) -> None:
        self._passages = passages
        self._organization_id = organization_id

    async def find_passages(self, document_refs: Sequence[str], question: str) -> Sequence[KnowledgePassage]:
        """Finds passages; returns none while the database is unreachable."""
        try:
            return await self._passages.look_up(self._organization_id, document_refs, question)
        except DATABASE_ERRORS as error:
            log.warning("knowledge_lookup_failed", error=f"{type(error).__name__}: {error}")
            return ()
