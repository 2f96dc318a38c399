"""What a search of documents finds, as a conversation gets it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnowledgePassage:
    """A passage of a document. ``is_whole`` marks a document's whole text; otherwise ``page`` is its page.

    ``score``, from 0 to 1, is 1 for the first place in both rankings; ``cosine`` is None for passages found by words
    alone.
    """

    document_id: str
    name: str
    text: str
    heading: str = ""
    page: int | None = None
    score: float = 1.0
    cosine: float | None = None
    is_whole: bool = False
