"""The output of every reader: a file's blocks of text in order, or one sentence when it cannot be read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

# A thousand pages of dense print. More is a database, not a document.
MAX_CHARACTERS: Final = 5_000_000

BlockKind = Literal["heading", "text", "table"]


@dataclass(frozen=True, slots=True)
class DocumentBlock:
    """``level`` of a heading counts from 1; the first line of a table names its columns. ``page`` counts from 1."""

    kind: BlockKind
    text: str
    page: int | None = None
    level: int = 0


class FileUnreadable(Exception):
    """The file cannot be read; one sentence for its sender."""


NO_TEXT: Final = "The file holds no text."
TOO_LONG: Final = f"The file holds more than {MAX_CHARACTERS // 1_000_000} million characters of text: split it."


def limit_blocks(blocks: Iterator[DocumentBlock]) -> Iterator[DocumentBlock]:
    """Yields the blocks with content. Raises FileUnreadable if there are none, or more than ``MAX_CHARACTERS``."""
    characters = 0
    for block in blocks:
        if not block.text.strip():
            continue
        characters += len(block.text)
        if characters > MAX_CHARACTERS:
            raise FileUnreadable(TOO_LONG)
        yield block
    if not characters:
        raise FileUnreadable(NO_TEXT)


def join_cells(cells: list[str]) -> str:
    """Returns one line of a table: the cells separated by bars, without line breaks."""
    return " | ".join(" ".join(cell.split()) for cell in cells).strip()
