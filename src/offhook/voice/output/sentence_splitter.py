"""Splits a stream of model text into stretches worth synthesizing on their own."""

import re

# A sentence end: not after a single capital ("J. Smith"), a common abbreviation or inside a number ("3.5").
_END = re.compile(r"(?<=[.!?…\u3002\uff1f\uff01])[\"')\]]*\s+|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|vs|e\.g|i\.e|a\.m|p\.m|etc|Inc|Ltd|approx)\.)[\"')\]]*\s*$"
)
_CLAUSE = re.compile(r"(?<=[,;:\u2013\u2014])\s+")
# Most tokens bring none of these; looking for them takes a tenth of the time.
_MAYBE_CUT = re.compile(r"[\n.!?…\u3002\uff1f\uff01,;:\u2013\u2014]")
MIN_FIRST_CLAUSE = 18
MAX_LENGTH = 240
# In one piece of text, no sentence that is longer is looked for, and no abbreviation.
MAX_SENTENCE = 1000
_MAX_ABBREVIATION = 24


class SentenceSplitter:
    """``push`` returns finished stretches. The first one of a turn may end at a comma, so that speech starts early."""

    def __init__(self) -> None:
        self._text = ""
        self._is_first = True

    def push(self, delta: str) -> list[str]:
        self._text += delta
        done: list[str] = []
        while (cut := self._find_cut()) is not None:
            piece, self._text = self._text[:cut].strip(), self._text[cut:].lstrip()
            if piece:
                done.append(piece)
                self._is_first = False
        return done

    def flush(self) -> list[str]:
        """Returns the remaining text at the end of the turn."""
        rest, self._text = self._text.strip(), ""
        self._is_first = True
        return [rest] if rest else []

    def _find_cut(self) -> int | None:
        if len(self._text) <= MAX_LENGTH and not _MAYBE_CUT.search(self._text):
            return None
        for match in _END.finditer(self._text, 0, MAX_SENTENCE):
            before = self._text[max(0, match.start() - _MAX_ABBREVIATION) : match.start()]
            if "\n" in match.group() or not _ABBREVIATION.search(before):
                return match.end()
        if self._is_first:
            for match in _CLAUSE.finditer(self._text, 0, MAX_SENTENCE):
                if match.start() >= MIN_FIRST_CLAUSE:
                    return match.end()
        if len(self._text) > MAX_LENGTH:
            space = self._text.rfind(" ", 0, MAX_LENGTH)
            return space + 1 if space > 0 else MAX_LENGTH
        return None


def common_prefix(text: str, heard: str) -> str:
    """Returns the part of ``text`` that ``heard`` begins with, by words: the splitter may change white space."""
    words, heard_words = text.split(), heard.split()
    count = 0
    for word, other in zip(words, heard_words, strict=False):
        if word != other:
            break
        count += 1
    return " ".join(words[:count])
