"""Files that real programs made (tests/data/documents): their text, tables, headings and pages are found."""

from pathlib import Path

import pytest

from offhook.kit.reading.blocks import DocumentBlock
from offhook.kit.reading.chunker import DocumentChunk, DocumentChunker
from offhook.kit.reading.kinds import detect_kind
from offhook.kit.reading.program import read_document, token_counter
from offhook.knowledge.offline.prepared_model import tokenizer_path
from tests.knowledge.conftest import Librarian

DATA = Path(__file__).parent.parent / "data" / "documents"
HANDBOOKS = ("browser.pdf", "writer.pdf", "writer.docx", "handbook.html")


def pieces(name: str) -> list[DocumentChunk]:
    kind = detect_kind(DATA / name, name)
    assert kind is not None
    return list(DocumentChunker(token_counter(str(tokenizer_path()))).chunk_blocks(read_document(DATA / name, kind)))


@pytest.mark.parametrize("name", HANDBOOKS)
def test_a_handbook(name: str) -> None:
    found = pieces(name)
    everything = " ".join(f"{piece.heading} {piece.text}" for piece in found)
    for fact in ("forty euros", "Größe, façade, naïve, 12 €", "half past eight", "Cargo bike"):
        assert fact in everything
    row = next(line for piece in found for line in piece.text.split("\n") if line.startswith("Cargo bike"))
    assert row.replace(" |", "") == "Cargo bike 18 euros 29 euros"
    opening = next(piece for piece in found if "half past eight" in piece.text)
    assert opening.heading.endswith("Opening hours")
    assert opening.page == (3 if name.endswith(".pdf") else None)


def test_a_spreadsheet_s_table_in_another_encoding() -> None:
    (piece,) = pieces("spreadsheet.csv")
    assert "Station: Market; east side; Street: Hall Lane 9; Bicycles: 12" in piece.text
    assert "Station: Mühlentor; Street: Mühlenweg 1" in piece.text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "utf-32"])
def test_an_encoding(tmp_path: Path, encoding: str) -> None:
    text = "Die Öffnungszeiten für Gäste: täglich außer Montag, geöffnet von zehn bis sechs Uhr. Größere Gruppen grüßen früh."
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    assert detect_kind(tmp_path / "a.txt", "a.txt") == "text"
    assert [block.text for block in read_document(tmp_path / "a.txt", "text")] == [text]


def test_a_table_longer_than_a_piece_names_its_columns_in_each() -> None:
    rows = "\n".join(f"Part {number} | {number * 7} euros | shelf {number % 12}" for number in range(120))
    found = list(
        DocumentChunker(token_counter(str(tokenizer_path()))).chunk_blocks(
            iter([DocumentBlock("table", f"Name | Price | Place\n{rows}")])
        )
    )
    assert len(found) > 5
    assert all(piece.text.startswith("Name | Price | Place\n") for piece in found)
    assert all(piece.tokens <= 200 for piece in found)


@pytest.mark.slow
async def test_all_of_them_answer(librarian: Librarian) -> None:
    for name in (*HANDBOOKS, "spreadsheet.csv"):
        document = await librarian.add((DATA / name).read_bytes(), name)
        assert document["status"] == "ready", document
        assert document["page_count"] == (3 if name.endswith(".pdf") else None)
    for hit in await librarian.find("When does the desk open?", limit=4):
        assert "half past eight" in hit["text"]
        assert hit["page"] in (3, None)
