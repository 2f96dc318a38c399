"""A real, small implementation of the voice port for documents: a shelf on which look-ups take their time."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from offhook.knowledge import KnowledgePassage


@dataclass
class Shelf:
    """Implements Knowledge. Passages by document reference; ``asked`` keeps (loop time, references, question)."""

    passages: dict[str, str]
    takes_s: float = 0.015
    asked: list[tuple[float, tuple[str, ...], str]] = field(default_factory=list)

    async def find_passages(self, document_refs: Sequence[str], question: str) -> Sequence[KnowledgePassage]:
        self.asked.append((asyncio.get_running_loop().time(), tuple(document_refs), question))
        await asyncio.sleep(self.takes_s)
        return [KnowledgePassage(ref, f"{ref}.md", self.passages[ref]) for ref in document_refs if ref in self.passages]
