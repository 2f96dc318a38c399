"""Names in spoken English: said, answered and spelled. Pure."""

import re
from typing import Final

from offhook.models.providers.builtin.english.words import STOP, word_set

_NOT_A_NAME: Final = word_set("""i am im is it its it's that's i'm my name this the a an here yes no sure ok okay of course calling speaking for you can call me
    sorry what please thanks thank not hello hi hey from and""")
_NAME: Final = re.compile(
    r"\b(?:(?:my|his|her|their) (?:\w+ )?name(?: is|'?s)|the name'?s|i am|i'm|this is|it is|it's|call me|name is|the name is|speaking is)"
    r"\s+((?:[A-Za-z][\w'-]*\s*){1,3})",
    re.IGNORECASE,
)
# Where nobody asked for a name, "it's for a divorce" gives none.
_NAME_UNASKED: Final = re.compile(
    r"\b(?:(?i:(?:my|his|her|their) (?:full |first |last )?name(?: is|'?s)|the name'?s|call me|the name is)\s+|(?i:this is)\s+(?=[A-Z]))"
    r"((?:[A-Za-z][\w'-]*\s*){1,3})"
)
# "Yes, my business partner, Denise Okafor"
_WRITTEN: Final = re.compile(
    r"(?<=[,.;!?] )(?:(?:it's|it is|that's|she's|he's|called|named) )?(?P<name>(?!(?:I|Yes|No|The|My|Our|And|But)\b)[A-Z][a-z'-]+(?: [A-Z][a-zA-Z'-]+){1,2})(?= ?[,.;!?]|$)"
)
_OF_PLACES: Final = re.compile(
    r"\b(?:Street|Road|Avenue|Lane|Court|Drive|Square|Place|Close|Row|Way|Park|New|North|South|East|West|San|Los|Saint|Mr|Mrs|Ms|Dr|\w+day|January|February|March|April|June|July|August|September|October|November|December)\b"
)
_FIRST_NAME: Final = re.compile(r"\b(?:first|given) name(?:'s| is)?,? (?P<name>[a-z][\w'-]+)", re.IGNORECASE)
_LAST_NAME: Final = re.compile(r"\b(?:last|family|sur) ?name(?:'s| is)?,? (?P<name>[a-z][\w'-]+)", re.IGNORECASE)
_SPELLED: Final = re.compile(
    r"(?:\b(?P<before>[A-Za-z'-]{3,})[\s,]+(?:that's |that is |spelled )?)?\b(?P<letters>(?:[A-Za-z][\s.,-]+){2,}[A-Za-z])\b"
)
# Words of a sentence, not of a name.
_NEVER_NAMES: Final = STOP - word_set("will may an do my can") | word_set("""hold same before none just already told ask asking rather
    complicated upset sure afraid driving busy sorry secretary advice business number phone name nothing something anything nobody call
    calling later never no not yes lawyer i'd i'll i've don't can't won't what's because why whatever whoever wait stop
    always again once only maybe probably perhaps still yet first last sure confused lost late early ready done here there back
    private personal important difficult hard easy fine well good bad great right wrong true false married divorced alone home
    rude stupid robot machine human person people help please thanks hurry""")
_NO_NAMES: Final = word_set("""about for in on at to with regarding because buying selling looking calling trying having getting
    going interested right wrong correct incorrect fine good not misspelled spelled still so very really there home""")


def person_name(text: str, *, may_be_whole: bool = True) -> str | None:
    """Returns a person's name: after "my name is" and the like, or the whole short answer.

    Letters that spell it are read: "Kowalski, K O W A L S K I, first name Denise" → "Denise Kowalski".
    """
    text = _SPELLED.sub(_read_spelled, text)
    if whole := _first_and_last(text):
        return whole
    if match := (_NAME if may_be_whole else _NAME_UNASKED).search(text):
        words = _name_words(match.group(1))
    elif written := _written_clause(text):
        return written
    elif may_be_whole:
        words = _name_words(re.sub(r"[^\w' -]", " ", text))
        if not 1 <= len(words) <= 3:
            return None
    else:
        return None
    return _written_name(words) or None


def _written_clause(text: str) -> str | None:
    written = _WRITTEN.search(text)
    return None if written is None or _OF_PLACES.search(written["name"]) else written["name"]


def _read_spelled(match: re.Match[str]) -> str:
    """Returns the name as the caller spelled it, after the word before the letters if that is a different name."""
    word = re.sub(r"[^A-Za-z]", "", match["letters"]).capitalize()
    before = match["before"] or ""
    return word if not before or before.lower()[:2] == word.lower()[:2] else f"{before} {word}"


def _first_and_last(text: str) -> str | None:
    first, last = _FIRST_NAME.search(text), _LAST_NAME.search(text)
    if first and last:
        return _written_name([first["name"], last["name"]])
    found = first or last
    if found is None:
        return None
    other = _name_words(re.sub(r"[^\w' -]", " ", text[: found.start()]))[-1:]
    return _written_name([found["name"], *other] if first else [*other, found["name"]])


def _written_name(words: list[str]) -> str:
    return " ".join(word[:1].upper() + word[1:] for word in words)


def _name_words(text: str) -> list[str]:
    kept: list[str] = []
    for word in text.split():
        if not kept and word.lower() in _NO_NAMES:
            return []
        if word.lower() in _NOT_A_NAME:
            if kept:
                break
            continue
        if not word[0].isalpha():
            break
        if word.lower() in _NEVER_NAMES or (word.islower() and len(word) > 5 and word.endswith("ing")):
            # "Maria Lopez, that's my maiden name" begins with a name, "I'd rather not say" has none
            return kept if len(kept) > 1 else []
        kept.append(word)
    return kept
