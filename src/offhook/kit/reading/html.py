"""Reads HTML as it appears to a reader: without scripts, menus and forms; headings, lists and tables are kept."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser

from offhook.kit.reading.blocks import DocumentBlock, FileUnreadable, join_cells
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
# The parser's time grows with the square of the depth. Browsers stop at 512 levels.
MAX_DEPTH: Final = 2_000
TOO_DEEP: Final = f"The page is nested more than {MAX_DEPTH:,} levels deep: save it as text."
_TAG: Final = re.compile(r"<(/?)([a-z][a-z0-9]*)", re.IGNORECASE)
# Elements without content, or that end where the next one begins.
_NEVER_DEEP: Final = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
        "body",
        "colgroup",
        "dd",
        "dt",
        "head",
        "html",
        "li",
        "optgroup",
        "option",
        "p",
        "rp",
        "rt",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
    ]
)
_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]{2,40})", re.IGNORECASE)


def read_html(raw: bytes) -> Iterator[DocumentBlock]:
    """Yields the blocks of a page in order. Raises FileUnreadable when it is nested deeper than ``MAX_DEPTH``."""
    text = _decode_html(raw)
    _check_depth(text)
    tree = LexborHTMLParser(text)
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


def _check_depth(text: str) -> None:
    """Counts open elements by name; what the parser would repair counts as open until it is closed."""
    counts: Counter[str] = Counter()
    depth = 0
    for match in _TAG.finditer(text):
        tag = match[2].lower()
        if tag in _NEVER_DEEP:
            continue
        if not match[1]:
            counts[tag] += 1
            depth += 1
            if depth > MAX_DEPTH:
                raise FileUnreadable(TOO_DEEP)
        elif counts[tag]:
            counts[tag] -= 1
            depth -= 1


def _read_blocks(root: Any) -> Iterator[DocumentBlock]:
    parts: list[str] = []
    layout = _layout_tables(root)
    node = root.child
    while node is not None:
        tag = node.tag
        is_whole = tag in _HEADINGS or (tag == "table" and node.mem_id not in layout)
        if is_whole:
            yield from _flush_text(parts)
            if tag == "table":
                rows = [join_cells([cell.text(separator=" ") for cell in line.css("th,td")]) for line in node.css("tr")]
                yield DocumentBlock("table", "\n".join(line for line in rows if line.strip(" |")))
            else:
                yield DocumentBlock("heading", _collapse_spaces(node.text()), level=_HEADINGS[tag])
        elif tag == "-text":
            parts.append(node.text_content or "")
        elif tag in _BREAKS:
            parts.append("\n- " if tag == "li" else "\n")
            if tag in ("p", "section", "article", "ul", "ol", "pre", "hr"):
                yield from _flush_text(parts)
        node = _next_node(node, root, enters=not is_whole)
    yield from _flush_text(parts)


def _layout_tables(root: Any) -> set[int]:
    """Returns tables that contain tables: they lay out a page, and their contents are read separately."""
    found = set()
    for table in root.css("table"):
        parent = table.parent
        while parent is not None and parent.tag != "table":
            parent = parent.parent
        if parent is not None:
            found.add(parent.mem_id)
    return found


def _next_node(node: Any, root: Any, *, enters: bool) -> Any:
    """Returns the node after ``node`` in page order, within ``root``; None at the end."""
    if enters and node.child is not None:
        return node.child
    while node is not None and node.mem_id != root.mem_id:
        if node.next is not None:
            return node.next
        node = node.parent
    return None


def _flush_text(parts: list[str]) -> Iterator[DocumentBlock]:
    lines = [_collapse_spaces(line) for line in "".join(parts).split("\n")]
    parts.clear()
    text = "\n".join(line for line in lines if line and line != "-")
    if text:
        yield DocumentBlock("text", text)


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())
