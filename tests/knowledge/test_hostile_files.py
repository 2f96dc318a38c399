"""Files that break readers: each ends as ready or failed with a sentence, and the server does not notice."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import pypdfium2
import pytest

from tests.knowledge.conftest import Librarian

DATA = Path(__file__).parent.parent / "data" / "documents"


def pdf_of(pages: int) -> bytes:
    """A PDF of so many pages without text."""
    document = pypdfium2.PdfDocument.new()
    for _ in range(pages):
        document.new_page(200, 200)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def docx_with(*parts: bytes) -> bytes:
    """A Word document whose text part is replaced by these, one after the other."""
    made = io.BytesIO()
    docx.Document().save(made)
    out = io.BytesIO()
    with zipfile.ZipFile(made) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for item in source.infolist():
            with target.open(item.filename, "w", force_zip64=True) as written:
                for part in parts if item.filename == "word/document.xml" else (source.read(item),):
                    written.write(part)
    return out.getvalue()


def bomb() -> bytes:
    return docx_with(b"<a>", *[b" " * (1 << 20)] * 500, b"</a>")


def own_peak_mb() -> float:
    """The most memory that this process has ever had."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def entities() -> bytes:
    """Ten times ten times ten …: a gigabyte of laughs."""
    rows = [b'<!ENTITY a0 "ha">']
    rows += [b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 10)]
    word = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    return docx_with(
        b"<!DOCTYPE x ["
        + b"".join(rows)
        + b']><w:document xmlns:w="'
        + word
        + b'"><w:body><w:p><w:r><w:t>&a9;</w:t></w:r></w:p></w:body></w:document>'
    )


def broken_xref() -> bytes:
    """The table of objects points nowhere and the end is missing; readers that look for the objects still find the text."""
    whole = (DATA / "browser.pdf").read_bytes()
    at = whole.rindex(b"startxref")
    return whole[:at].replace(b"0000000", b"9999999") + b"startxref\n99999999\n%%EOF"


CASES: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "encrypted PDF": ((DATA / "encrypted.pdf").read_bytes, "secret.pdf", "password"),
    "zip bomb": (bomb, "bomb.docx", "too large when unpacked"),
    "entities": (entities, "laughs.docx", ""),
    "10,000 pages": (lambda: pdf_of(10_000), "long.pdf", "10000 pages"),
    "pictures only": (lambda: pdf_of(3), "scan.pdf", "OCR"),
    "script only": (lambda: b"<html><script>document.write('x')</script></html>", "app.html", "no text"),
    "cut off": (lambda: (DATA / "writer.docx").read_bytes()[:3000] + b"word/document.xml", "half.docx", "damaged"),
    "one line": (lambda: b"word " * 1_200_000, "line.txt", "million characters"),
    "deep": (lambda: b"<div>" * 5_000 + b"deep down", "deep.html", ""),
    "very deep": (lambda: b"<div>" * 600_000 + b"deep down", "deep.html", "2,000 levels"),
    "tables in tables": (lambda: b"<table><tr><td>x" * 190_000, "tables.html", "2,000 levels"),
    "ends that fit nothing": (lambda: b"<b></i><i></u><u></b>" * 140_000 + b"words", "strays.html", ""),
    "fonts that are never closed": (
        lambda: b"".join(b"<p><font color=%d>" % n for n in range(150_000)),
        "fonts.html",
        "2,000 levels",
    ),
    "as deep as it may be": (lambda: b"<table><tr><td>x" * 1_999 + b"y" * 2_900_000, "edge.html", ""),
}


# The others take seconds each, for they are as large as an upload may be.
QUICK = {"cut off", "deep"}


@pytest.mark.parametrize(
    "case", [case if case in QUICK else pytest.param(case, marks=pytest.mark.slow) for case in CASES]
)
async def test_a_hostile_file(librarian: Librarian, case: str) -> None:
    make, filename, sentence = CASES[case]
    raw = make()
    before = own_peak_mb()
    document = await librarian.add(raw, filename)
    assert document["status"] in ("ready", "failed")
    if sentence:
        assert document["status"] == "failed", document
        assert sentence in document["error"]
    if document["status"] == "failed":
        assert document["error"].endswith(".")
        # a few copies of the upload, and nothing of what it unfolds to: half a gigabyte, or ten thousand pages
        assert own_peak_mb() - before < 100


@pytest.mark.slow
async def test_a_broken_table_of_objects_is_repaired_or_told(librarian: Librarian) -> None:
    document = await librarian.add(broken_xref(), "xref.pdf")
    assert (document["status"] == "ready") != ("damaged" in (document["error"] or ""))


@pytest.mark.slow
async def test_a_pdf_with_another_name_is_a_pdf(librarian: Librarian) -> None:
    document = await librarian.add((DATA / "browser.pdf").read_bytes(), "notes.txt")
    assert (document["status"], document["mime_type"]) == ("ready", "application/pdf")
