"""Document retrieval for the agent of a call."""

from collections.abc import Sequence

import structlog

from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.knowledge import KnowledgePassage, PassageLookup
from offhook.voice.dialog.prompts import split_sentences

log = structlog.get_logger(__name__)


class CallKnowledge:
    """Implements ``voice.ports.KnowledgeSource`` for one organization. Its failures never fail a call."""

    def __init__(self, passages: PassageLookup, organization_id: int) -> None:
        self._passages = passages
        self._organization_id = organization_id

    async def find_sentences(self, document_refs: Sequence[str]) -> tuple[str, ...]:
        """Returns sentences of documents, for a recognizer; none while the database is unreachable."""
        try:
            texts = await self._passages.first_texts(self._organization_id, document_refs)
        except DATABASE_ERRORS as error:
            log.warning("knowledge_words_failed", error=f"{type(error).__name__}: {error}")
            return ()
        return tuple(sentence for text in texts for sentence in split_sentences(text))

    async def find_passages(self, document_refs: Sequence[str], question: str) -> Sequence[KnowledgePassage]:
        """Finds passages; returns none while the database is unreachable."""
        try:
            return await self._passages.look_up(self._organization_id, document_refs, question)
        except DATABASE_ERRORS as error:
            log.warning("knowledge_lookup_failed", error=f"{type(error).__name__}: {error}")
            return ()
