"""An independent question set: the Debian FAQ, its questions removed from the text and put to the rest.

    apt-get download debian-faq && dpkg -x debian-faq_*.deb FOLDER      (0.5 MB; GPL-2+, so not stored here)

Questions are the titles of its sections. A document is a chapter whose sections are only numbered, without references
to other sections (which quote their titles). A question counts as answered when one of the first pieces is of its
section.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

_PART = 50


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    answer: str

    def is_answered_by(self, piece: str) -> bool:
        """Returns True if any line of the piece belongs to the answer."""
        lines = [" ".join(line.split()) for line in piece.split("\n")]
        return any(len(line) >= _PART and line[:_PART] in self.answer for line in lines)


def read(folder: Path) -> tuple[dict[str, str], list[Question]]:
    """Returns ``({file name: Markdown}, questions)``."""
    documents, questions = {}, []
    for path in sorted(folder.rglob("FAQ/*.en.html")):
        page = LexborHTMLParser(path.read_text())
        for quoting in page.css("a.xref, .navheader, .navfooter, .toc, style"):
            quoting.decompose()
        chapter = page.css_first("h1.title")
        parts = [f"# {chapter.text(strip=True) if chapter is not None else path.stem}"]
        for number, section in enumerate(page.css("div.section"), 1):
            title = section.css_first(".title")
            if title is None or section.css("div.section div.section"):
                continue
            asked = " ".join(title.text().split()).partition(" ")[2]
            title.decompose()
            lines = _lines(section)
            parts.append(f"## {number}\n\n" + "\n\n".join(lines))
            if asked.endswith("?") and lines:
                questions.append(Question(asked, " ".join(lines)))
        documents[f"{path.name.partition('.')[0]}.md"] = "\n\n".join(parts)
    return documents, questions


def _lines(section: Any) -> list[str]:
    return [line for block in section.css("p, pre, dt, td") if (line := " ".join(block.text().split()))]
