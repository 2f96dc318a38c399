"""Splits blocks into chunks that a model can embed: along headings and paragraphs, tables by rows."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from semchunk.semchunk import chunk

from offhook.kit.reading.blocks import DocumentBlock

MAX_TOKENS: Final = 200
# A chunk this small continues past the next heading: three words match nothing.
MIN_TOKENS: Final = 60
_HEADING_LENGTH: Final = 200
# Paragraphs are counted whole, but a single line may be a megabyte.
_MAX_WINDOW_CHARS: Final = 8_000
_CACHED: Final = 4_096

TokenCounter = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class DocumentChunk:
    """``heading``: the titles above it, outermost first; ``page`` counts from 1, of its first line."""

    text: str
    heading: str
    page: int | None
    tokens: int


@dataclass(slots=True)
class _OpenChunk:
    """The chunk that is being filled."""

    heading: str = ""
    page: int | None = None
    tokens: int = 0
    parts: list[str] = field(default_factory=list)


class DocumentChunker:
    """``count`` returns the number of tokens in a text."""

    def __init__(self, count: TokenCounter, max_tokens: int = MAX_TOKENS) -> None:
        self._count = count
        self._max = max_tokens
        self._path: list[tuple[int, str]] = []
        self._open = _OpenChunk()

    def chunk_blocks(self, blocks: Iterable[DocumentBlock]) -> Iterator[DocumentChunk]:
        for block in blocks:
            if block.kind == "heading":
                yield from self._start_section(block)
            elif block.kind == "table":
                yield from self._chunk_table(block)
            else:
                for part in self._split_text(block.text.strip()):
                    yield from self._add_part(part, block.page, separator="\n\n")
        yield from self._flush_chunk()

    def _start_section(self, block: DocumentBlock) -> Iterator[DocumentChunk]:
        text = " ".join(block.text.split())[:_HEADING_LENGTH]
        if self._open.tokens >= MIN_TOKENS:
            yield from self._flush_chunk()
        elif self._open.parts:
            yield from self._add_part(text, block.page, separator="\n\n")
        self._path = [(level, title) for level, title in self._path if level < block.level]
        self._path.append((block.level, text))
        if not self._open.parts:
            self._open = _OpenChunk()

    def _heading_path(self) -> str:
        """Returns the titles joined; the inner ones when all of them are too long."""
        shown = ""
        for _, title in reversed(self._path):
            longer = f"{title} > {shown}" if shown else title
            if len(longer) > _HEADING_LENGTH:
                break
            shown = longer
        return shown

    def _chunk_table(self, block: DocumentBlock) -> Iterator[DocumentChunk]:
        names, *rows = block.text.strip().split("\n")
        if not rows:
            rows, names = [names], ""
        for index, line in enumerate(rows):
            for number, part in enumerate(self._split_text(line)):
                needed = self._count(part)
                is_new = not self._open.parts or self._open.tokens + needed > self._max
                if is_new:
                    yield from self._flush_chunk()
                if names and number == 0 and (is_new or index == 0) and len(names) < len(part) * 4 + 200:
                    yield from self._add_part(names, block.page, separator="\n\n")
                yield from self._add_part(part, block.page, separator="\n")

    def _split_text(self, text: str) -> Iterator[str]:
        for start in _bounded_windows(text):
            if self._count(start) <= self._max:
                yield start
            else:
                yield from map(str, chunk(start, self._max - 20, self._count, cache_maxsize=_CACHED))

    def _add_part(self, part: str, page: int | None, *, separator: str) -> Iterator[DocumentChunk]:
        if not part.strip():
            return
        tokens = self._count(part)
        if self._open.parts and self._open.tokens + tokens > self._max:
            yield from self._flush_chunk()
        if not self._open.parts:
            heading = self._heading_path()
            self._open = _OpenChunk(heading, page, self._count(heading) if heading else 0)
        else:
            self._open.parts.append(separator)
        self._open.parts.append(part)
        self._open.tokens += tokens

    def _flush_chunk(self) -> Iterator[DocumentChunk]:
        opened, self._open = self._open, _OpenChunk()
        text = "".join(opened.parts).strip()
        if text:
            yield DocumentChunk(text, opened.heading, opened.page, opened.tokens)


def _bounded_windows(text: str) -> Iterator[str]:
    """Yields the text in parts of a bounded length, cut at white space where possible."""
    at = 0
    while len(text) - at > _MAX_WINDOW_CHARS:
        cut = max(text.rfind("\n", at, at + _MAX_WINDOW_CHARS), text.rfind(" ", at, at + _MAX_WINDOW_CHARS))
        end = cut if cut > at else at + _MAX_WINDOW_CHARS
        yield text[at:end].strip()
        at = end
    if text[at:].strip():
        yield text[at:].strip()
