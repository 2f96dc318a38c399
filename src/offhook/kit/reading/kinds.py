"""Detects a document's kind by its content; the name only decides where contents look alike."""

import mmap
import re
from pathlib import Path
from typing import Final, Literal

DocumentKind = Literal["pdf", "docx", "html", "markdown", "csv", "text"]
MIME_TYPES: Final[dict[DocumentKind, str]] = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "html": "text/html",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "text": "text/plain",
}
# The endings under which these kinds are known.
ENDINGS: Final = frozenset({".pdf", ".docx", ".html", ".htm", ".xhtml", ".md", ".markdown", ".csv", ".txt", ".text"})
# Endings of files that hold no plain text.
_NEVER_TEXT: Final = re.compile(
    r"\.(?:pdf|docx?|xlsx?|pptx?|od[tsp]|rtf|epub|pages|psd|ai|eps|png|jpe?g|gif|webp|bmp|tiff?|heic|ico|mp3|wav|og[ga]"
    r"|m4a|flac|aac|mp4|mov|avi|mkv|webm|zip|gz|bz2|xz|7z|rar|tar|exe|dll|so|dmg|msi|apk|iso|bin)"
)
_HEAD: Final = 65_536
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# The stream in which Office stores a password-protected document.
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
# Images, audio, archives and programs that could pass for text at their beginning.
_OTHERS: Final = (b"\x7fELF", b"MZ", b"{\\rtf", b"%!PS", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"RIFF", b"ID3", b"OggS")
_MARKUP: Final = re.compile(rb"<(?:!doctype html|html|head|body|div|p|table|article|script)[\s>/]", re.IGNORECASE)
_ANY_TAG: Final = re.compile(rb"<[a-z]", re.IGNORECASE)
_MARKDOWN: Final = re.compile(rb"^(?:#{1,6} \S|[-*] \S|\x60\x60\x60|\|.*\|\s*$|.+\n(?:===+|---+)\s*$)", re.MULTILINE)


def detect_kind(path: Path, name: str) -> DocumentKind | None:
    """Returns the kind of a nonempty file; None when it is not supported. ``name`` is the sender's."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        head = content[:_HEAD]
        if b"%PDF-" in head[:1024]:
            return "pdf"
        if head.startswith(b"PK\x03\x04"):
            return "docx" if content.find(b"word/document.xml") >= 0 else None
        if head.startswith(_OLE):
            return "docx" if content.find(_ENCRYPTED) >= 0 else None
    if head.startswith(_OTHERS) or not _is_text(head):
        return None
    return _text_kind(head, Path(name).suffix.lower())


def is_named_otherwise(kind: str, name: str) -> bool:
    """Returns whether a name has the ending of another kind of file: text named .png is probably a failed export."""
    suffix = Path(name).suffix.lower()
    return suffix != f".{kind}" and _NEVER_TEXT.fullmatch(suffix) is not None


def _is_text(head: bytes) -> bool:
    if head.startswith(_UTF_16):
        return True
    zeros = head.count(0)
    if zeros:  # UTF-16 without a byte-order mark: every other byte of western text is zero
        return zeros > len(head) // 3 and min(head[0::2].count(0), head[1::2].count(0)) < zeros // 20
    control = sum(head.count(code) for code in range(32) if code not in (9, 10, 12, 13, 27))
    return control <= len(head) // 100


def _text_kind(head: bytes, suffix: str) -> DocumentKind:
    plain = head.replace(b"\0", b"").lstrip(b"\xff\xfe\xef\xbb\xbf \t\r\n")
    if plain[:15].lower().startswith((b"<!doctype html", b"<html")):
        return "html"
    if suffix in (".md", ".markdown"):
        return "markdown"
    if suffix == ".csv":
        return "csv"
    if suffix in (".html", ".htm", ".xhtml") and _ANY_TAG.search(plain):
        return "html"
    if suffix not in (".txt", ".text", "") or not plain:
        return "text"
    if len(_MARKUP.findall(plain)) > 4:
        return "html"
    return "markdown" if re.search(rb"^#{1,6} \S", plain, re.MULTILINE) and _MARKDOWN.search(plain) else "text"
