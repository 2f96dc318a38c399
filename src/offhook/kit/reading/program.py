"""Reads one untrusted file in a separate, limited process (``kit.processes.limited_programs``).

    program.py IN KIND OUT TOKENIZER

IN and TOKENIZER are paths, OUT is the number of an open descriptor. Writes the chunks to OUT as lines of JSON, prints ``{"pages", "characters", "tokens", "pieces"}`` and exits with 0;
3: the file cannot be read, and a sentence that says why is printed; 4: it exceeds the memory limit.
"""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

from tokenizers import Tokenizer

from offhook.kit.json_values import sanitize_text
from offhook.kit.reading.blocks import DocumentBlock, FileUnreadable, limit_blocks
from offhook.kit.reading.chunker import DocumentChunker, TokenCounter
from offhook.kit.reading.docx import read_docx
from offhook.kit.reading.html import read_html
from offhook.kit.reading.pdf import read_pdf
from offhook.kit.reading.plain_text import read_csv, read_markdown, read_text

UNREADABLE: Final = 3
TOO_HARD: Final = 4
_OF_BYTES: Final = {"html": read_html, "markdown": read_markdown, "csv": read_csv, "text": read_text}


def read_document(path: Path, kind: str) -> Iterator[DocumentBlock]:
    """Returns the blocks of a file, at least one. Raises FileUnreadable."""
    if kind == "pdf":
        return limit_blocks(read_pdf(path))
    if kind == "docx":
        return limit_blocks(read_docx(path))
    return limit_blocks(_OF_BYTES[kind](path.read_bytes()))


def token_counter(tokenizer: str) -> TokenCounter:
    """Returns a counter of word pieces; without the tokenizer's file, an estimate by length."""
    if not tokenizer:
        return lambda text: len(text) // 4 + 1
    loaded = Tokenizer.from_file(tokenizer)
    loaded.no_truncation()
    loaded.no_padding()
    return lambda text: len(loaded.encode(text, add_special_tokens=False).ids)


def write_chunks(source: Path, kind: str, target: int, count: TokenCounter) -> dict[str, int]:
    """Writes the chunks and returns the counts. Raises FileUnreadable."""
    totals = {"pages": 0, "characters": 0, "tokens": 0, "pieces": 0}
    with os.fdopen(target, "w", encoding="utf-8") as out:
        for piece in DocumentChunker(count).chunk_blocks(read_document(source, kind)):
            kept = {"text": sanitize_text(piece.text), "heading": sanitize_text(piece.heading)}
            out.write(json.dumps({**asdict(piece), **kept}) + "\n")
            totals["pieces"] += 1
            totals["tokens"] += piece.tokens
            totals["characters"] += len(piece.text)
            totals["pages"] = max(totals["pages"], piece.page or 0)
    return totals


def main() -> int:
    source, kind, target, tokenizer = sys.argv[1:]
    try:
        totals = write_chunks(Path(source), kind, int(target), token_counter(tokenizer))
    except FileUnreadable as refused:
        sys.stdout.write(str(refused))
        return UNREADABLE
    except (MemoryError, RecursionError):
        return TOO_HARD
    sys.stdout.write(json.dumps(totals))
    return 0


if __name__ == "__main__":
    sys.exit(main())
