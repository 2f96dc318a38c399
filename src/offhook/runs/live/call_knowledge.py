"""The documents that the agent of a call may use; implements ``voice.ports.Knowledge``. A call never fails for want of one."""

from collections.abc import Sequence

import structlog

from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.knowledge import PassageLookup
from offhook.voice.ports import Passage

log = structlog.get_logger(__name__)


class CallKnowledge:
    """Of one organization."""

    def __init__(self, consultant: PassageLookup, organization_id: int) -> None:
        self._consultant = consultant
        self._organization_id = organization_id

    async def find_passages(self, document_refs: Sequence[str], question: str) -> Sequence[Passage]:
        """Nothing while the database cannot be asked."""
        try:
            found = await self._consultant.look_up(self._organization_id, document_refs, question)
        except DATABASE_ERRORS as error:
            log.warning("knowledge_lookup_failed", error=f"{type(error).__name__}: {error}")
            return ()
        return [
            Passage(item.document_id, item.name, item.text, item.heading, item.page, item.score, item.is_whole)
            for item in found
        ]
