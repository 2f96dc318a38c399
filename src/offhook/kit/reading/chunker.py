"""Blocks become pieces of a size that a model embeds whole: along headings and paragraphs, tables by rows."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from semchunk.semchunk import chunk

from offhook.kit.reading.blocks import Block

MAX_TOKENS: Final = 200
# A piece this small goes on past the next heading: three words find nothing.
SMALL_TOKENS: Final = 60
_HEADING_LENGTH: Final = 200
# Paragraphs are counted whole; what somebody calls one line may be a megabyte.
_AT_ONCE: Final = 8_000
_CACHED: Final = 4_096

Counter = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Piece:
    """``heading``: the titles above it, outermost first; ``page`` counts from 1, of its first line."""

    text: str
    heading: str
    page: int | None
    tokens: int


@dataclass(slots=True)
class _Open:
    """The piece that is being filled."""

    heading: str = ""
    page: int | None = None
    tokens: int = 0
    parts: list[str] = field(default_factory=list)


class Cutter:
    """``count`` says how many tokens a text has."""

    def __init__(self, count: Counter, max_tokens: int = MAX_TOKENS) -> None:
        self._count = count
        self._max = max_tokens
        self._path: list[tuple[int, str]] = []
        self._open = _Open()

    def cut(self, blocks: Iterable[Block]) -> Iterator[Piece]:
        for block in blocks:
            if block.kind == "heading":
                yield from self._headed(block)
            elif block.kind == "table":
                yield from self._table(block)
            else:
                for part in self._split(block.text.strip()):
                    yield from self._add(part, block.page, separator="\n\n")
        yield from self._flushed()

    def _headed(self, block: Block) -> Iterator[Piece]:
        text = " ".join(block.text.split())[:_HEADING_LENGTH]
        if self._open.tokens >= SMALL_TOKENS:
            yield from self._flushed()
        elif self._open.parts:
            yield from self._add(text, block.page, separator="\n\n")
        self._path = [(level, title) for level, title in self._path if level < block.level]
        self._path.append((block.level, text))
        if not self._open.parts:
            self._open = _Open()

    def _heading(self) -> str:
        """The titles, the inner ones first where all of them are too long."""
        shown = ""
        for _, title in reversed(self._path):
            longer = f"{title} > {shown}" if shown else title
            if len(longer) > _HEADING_LENGTH:
                break
            shown = longer
        return shown

    def _table(self, block: Block) -> Iterator[Piece]:
        names, *rows = block.text.strip().split("\n")
        if not rows:
            rows, names = [names], ""
        for index, line in enumerate(rows):
            for number, part in enumerate(self._split(line)):
                needed = self._count(part)
                is_new = not self._open.parts or self._open.tokens + needed > self._max
                if is_new:
                    yield from self._flushed()
                if names and number == 0 and (is_new or index == 0) and len(names) < len(part) * 4 + 200:
                    yield from self._add(names, block.page, separator="\n\n")
                yield from self._add(part, block.page, separator="\n")

    def _split(self, text: str) -> Iterator[str]:
        for start in _windows(text):
            if self._count(start) <= self._max:
                yield start
            else:
                yield from map(str, chunk(start, self._max - 20, self._count, cache_maxsize=_CACHED))

    def _add(self, part: str, page: int | None, *, separator: str) -> Iterator[Piece]:
        if not part.strip():
            return
        tokens = self._count(part)
        if self._open.parts and self._open.tokens + tokens > self._max:
            yield from self._flushed()
        if not self._open.parts:
            heading = self._heading()
            self._open = _Open(heading, page, self._count(heading) if heading else 0)
        else:
            self._open.parts.append(separator)
        self._open.parts.append(part)
        self._open.tokens += tokens

    def _flushed(self) -> Iterator[Piece]:
        opened, self._open = self._open, _Open()
        text = "".join(opened.parts).strip()
        if text:
            yield Piece(text, opened.heading, opened.page, opened.tokens)


def _windows(text: str) -> Iterator[str]:
    """The text in parts of a bounded length, cut at white space where there is some."""
    at = 0
    while len(text) - at > _AT_ONCE:
        cut = max(text.rfind("\n", at, at + _AT_ONCE), text.rfind(" ", at, at + _AT_ONCE))
        end = cut if cut > at else at + _AT_ONCE
        yield text[at:end].strip()
        at = end
    if text[at:].strip():
        yield text[at:].strip()
