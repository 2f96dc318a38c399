"""HTML as its reader sees it: without scripts, menus and forms; headings, lists and tables kept."""

import re
from collections.abc import Iterator
from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser

from offhook.kit.reading.blocks import DocumentBlock, join_cells
from offhook.kit.reading.plain_text import decode_text

_HIDDEN_SELECTOR: Final = (
    "script,style,noscript,template,nav,footer,aside,form,svg,iframe,object,[hidden],[aria-hidden=true]"
)
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_BREAKS: Final = frozenset(
    [
        "address",
        "article",
        "blockquote",
        "body",
        "br",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "header",
        "hr",
        "li",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "td",
        "th",
        "tr",
        "ul",
    ]
)
_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]{2,40})", re.IGNORECASE)


def read_html(raw: bytes) -> Iterator[DocumentBlock]:
    tree = LexborHTMLParser(_decode_html(raw))
    if tree.body is None:
        return
    for node in tree.css(_HIDDEN_SELECTOR):
        if node.tag not in ("body", "html"):
            node.decompose(recursive=True)
    title = tree.css_first("title")
    if title is not None and tree.css_first("h1") is None:
        yield DocumentBlock("heading", _collapse_spaces(title.text()), level=1)
    root = tree.css_first("main") or tree.body
    yield from _read_blocks(root if _collapse_spaces(root.text()) else tree.body)


def _decode_html(raw: bytes) -> str:
    declared = _CHARSET.search(raw[:4096])
    if declared and not raw.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        try:
            return raw.decode(declared[1].decode("ascii"), "replace")
        except LookupError:
            pass
    return decode_text(raw)


def _read_blocks(root: Any) -> Iterator[DocumentBlock]:
    """In the order of the page. Written without recursion: strangers nest as deep as they like."""
    parts: list[str] = []
    table_ends: list[Any] = []
    for node in root.traverse(include_text=True):
        if table_ends and _is_inside(node, table_ends[-1]):
            continue
        tag = node.tag
        if tag in _HEADINGS or tag == "table":
            yield from _flush_text(parts)
            table_ends = [node]
            text = _table_text(node) if tag == "table" else _collapse_spaces(node.text())
            yield (
                DocumentBlock("table", text) if tag == "table" else DocumentBlock("heading", text, level=_HEADINGS[tag])
            )
        elif tag == "-text":
            parts.append(node.text_content or "")
        elif tag in _BREAKS:
            parts.append("\n- " if tag == "li" else "\n")
            if tag in ("p", "section", "article", "ul", "ol", "pre", "hr"):
                yield from _flush_text(parts)
                parts += ["- "] if tag == "li" else []
    yield from _flush_text(parts)


def _is_inside(node: Any, container: Any) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.mem_id == container.mem_id:
            return True
        parent = parent.parent
    return False


def _flush_text(parts: list[str]) -> Iterator[DocumentBlock]:
    lines = [_collapse_spaces(line) for line in "".join(parts).split("\n")]
    parts.clear()
    text = "\n".join(line for line in lines if line and line != "-")
    if text:
        yield DocumentBlock("text", text)


def _table_text(table: Any) -> str:
    rows = [join_cells([cell.text(separator=" ") for cell in line.css("th,td")]) for line in table.css("tr")]
    return "\n".join(line for line in rows if line.strip(" |"))


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())
