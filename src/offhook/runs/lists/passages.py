"""Where the words of a search were said in the transcripts that it found: the passages that a list shows."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.unicode_forms import normalize_text
from offhook.runs.records import event_queries
from offhook.runs.records.event_queries import StoredUtterance
from offhook.runs.records.projections import TranscriptLine, build_transcript
from offhook.runs.records.word_search import Term, WordPlace, find_places, parse_query
from offhook.runs.schemas import PassagePart, RunPassage

MAX_PASSAGE_CHARS: Final = 200
# What is said before the first word that was looked for.
_LEAD_CHARS: Final = 70
# Runs whose words are in memory at once.
_BATCH: Final = 50


async def load_passages(
    session: AsyncSession, organization_id: int, query: str, run_ids: Sequence[int]
) -> dict[int, RunPassage]:
    """Returns by run the utterance that has most of what ``query`` looks for. Runs of which no utterance has any of it are
    left out, as are those whose words cannot be decrypted."""
    terms = parse_query(query).list_wanted_terms()
    found: dict[int, RunPassage] = {}
    for start in range(0, len(run_ids) if terms else 0, _BATCH):
        batch = run_ids[start : start + _BATCH]
        utterances = await event_queries.read_utterances(session, organization_id, batch)
        found |= await asyncio.to_thread(_find_passages, utterances, terms)
    return found


def _find_passages(utterances: Iterable[StoredUtterance], terms: Sequence[Term]) -> dict[int, RunPassage]:
    spoken: dict[int, list[StoredUtterance]] = defaultdict(list)
    for utterance in utterances:
        spoken[utterance["run_id"]].append(utterance)
    found = {run_id: find_passage(build_transcript(said), terms) for run_id, said in spoken.items()}
    return {run_id: passage for run_id, passage in found.items() if passage is not None}


def find_passage(lines: Sequence[TranscriptLine], terms: Sequence[Term]) -> RunPassage | None:
    """Returns the line with most of these terms, the first of several, cut to :data:`MAX_PASSAGE_CHARS` around them."""
    # A phrase that goes on in the next utterance is shown by its words.
    for wanted in (terms, [Term((word,), is_negative=False) for term in terms for word in term.words]):
        best: tuple[int, TranscriptLine, str, list[WordPlace]] | None = None
        for line in lines:
            text = normalize_text("NFC", line.text)
            by_term = find_places(text, wanted)
            if by_term and (best is None or len(by_term) > best[0]):
                best = len(by_term), line, text, sorted(place for places in by_term.values() for place in places)
        if best is not None:
            _, line, text, places = best
            return RunPassage(role=line.role, start_s=line.start_s, parts=_mark(text, places))
    return None


def _mark(text: str, places: Sequence[WordPlace]) -> list[PassagePart]:
    begin, end = _cut(text, places[0])
    parts: list[tuple[str, bool]] = []
    at = begin
    for start, stop in places:
        if stop <= at or stop > end:
            continue
        marked_from = max(at, start)
        parts += [(text[at:marked_from], False), (text[marked_from:stop], True)]
        at = stop
    parts.append((text[at:end], False))
    if begin > 0:
        parts.insert(0, ("…", False))
    if end < len(text):
        parts.append(("…", False))
    return [PassagePart(text=part, is_match=is_match) for part, is_match in parts if part]


def _cut(text: str, first: WordPlace) -> WordPlace:
    """Returns the part of the text to show, between words where there are spaces."""
    if len(text) <= MAX_PASSAGE_CHARS:
        return 0, len(text)
    begin = min(max(0, first[0] - _LEAD_CHARS), len(text) - MAX_PASSAGE_CHARS)
    if begin > 0 and (space := text.find(" ", begin, first[0])) >= 0:
        begin = space + 1
    end = min(len(text), max(begin + MAX_PASSAGE_CHARS, first[1]))
    if end < len(text) and (space := text.rfind(" ", first[1], end)) >= 0:
        end = space
    return begin, end
