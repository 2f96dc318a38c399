"""Detects callers who ask for a person instead of the agent. Pure, and by rules, as for those who ask not to be called."""

import re
from typing import Final

from offhook.kit.opt_out_sentences import flatten_words

HUMAN_REQUESTED: Final = "human_requested"  # {text}: the first time that the caller asks for a person

_PERSON: Final = (
    r"(?:(?:real|live|actual|human) )*(?:person|human|human being|operator|representative|rep|somebody real|someone real"
    r"|(?:live|human|real) agent|receptionist)"
)
_SENTENCES: Final = (
    (
        r"\b(?:talk|speak|connect(?: me)?|transfer(?: me)?|put me through|get(?: me)?|give me|want|need|have|reach)"
        rf"(?: (?:to|with))?(?: (?:a|an|the|some|any|your))? {_PERSON}\b"
    ),
    rf"^(?:a |an |the )?{_PERSON}(?: please)?[.!]*$",
    rf"\b{_PERSON},? please\b",
    r"\b(?:do not|dont) want to (?:talk|speak) (?:to|with) (?:a |an |the |this )?(?:robot|bot|machine|computer|ai)\b",
    # German, Spanish, French; accents are stripped first.
    r"\b(?:mit )?(?:einem|einen) (?:echten |richtigen )?(?:menschen|mitarbeiter)(?: bitte)? (?:sprechen|reden|verbinden)\b",
    r"\bhablar con (?:una persona|un humano|un agente|un operador|alguien)(?: real)?\b",
    r"\bparler (?:a|avec) (?:une (?:vraie )?personne|un (?:humain|conseiller|agent|operateur)|quelquun)\b",
)
_ASKED: Final = re.compile("|".join(f"(?:{sentence})" for sentence in _SENTENCES))
# A caller who asks whether this is a person, or says that no person is needed, is not asking for one.
_OTHERWISE: Final = re.compile(
    r"\b(?:are you|is this|am i|were you|do not need|dont need|no need|do not want|dont want|already|did not|didnt)\b[^.!?]*"
    rf"\b{_PERSON}\b"
)


def asks_for_a_person(text: str) -> bool:
    """Returns whether this utterance clearly asks for a person (English, German, Spanish, French)."""
    plain = flatten_words(text)
    return bool(_ASKED.search(plain)) and not _OTHERWISE.search(plain)
