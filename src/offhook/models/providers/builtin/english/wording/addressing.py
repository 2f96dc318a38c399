"""Puts what an author writes about a caller into words to them: "their name" is "your name". Pure."""

import re
from typing import Final

_CALLING: Final = "caller|customer|user|guest|patient|client|person|member|tenant|candidate|applicant|resident|parent|donor|visitor|buyer|passenger"
# The house has them too: "the owner rings them back" is somebody else.
_OF_HOUSE: Final = "owner|driver|employee|seller"
ROLE: Final = rf"(?:{_CALLING}|{_OF_HOUSE})"
WHO: Final = rf"(?:(?:the |a )?{ROLE}(?! (?:number|id|card|code|account)\b)|them|him|her|people|everyone)"
_THING: Final = r"(?! (?:number|id|card|code|account|service|portal|area|name|wifi|parking|entrance|list|desk|line|form|support|center|bathroom|lot)\b)"
_ACTS: Final = (
    "hasn't|isn't|doesn't|wasn't|has|is|wants|needs|was|does|prefers|likes|lives|arrives|comes|calls|goes|pays|works|thinks|feels|uses|drives|plans|hopes|expects|owns|accepts|agrees|"
    "chooses|knows|says|gives|takes|means|remembers|requires|stays|brings|leaves|looks|orders|speaks|sounds|suffers|takes|travels"
)
_PRONOUNS: Final = (
    (re.compile(rf"\bthey (?P<verb>{_ACTS})\b", re.IGNORECASE), None),
    (re.compile(r"\b(?:they|them)\b", re.IGNORECASE), "you"),
    (re.compile(r"\btheir\b", re.IGNORECASE), "your"),
    (re.compile(r"\btheirs\b", re.IGNORECASE), "yours"),
    (re.compile(r"\b(?:themselves|themself)\b", re.IGNORECASE), "yourself"),
)


def _role_patterns(role: str) -> tuple[tuple[re.Pattern[str], str | None], ...]:
    return (
        (re.compile(rf"\b(the )?(?:{role})'s\b", re.IGNORECASE), "your"),
        (re.compile(rf"\bthe (?:{role}) (?P<verb>{_ACTS})\b", re.IGNORECASE), None),
        (re.compile(rf"(?<!\bwho is )\bthe (?:{role})\b{_THING}", re.IGNORECASE), "you"),
    )


_CALLERS: Final = _role_patterns(_CALLING)
# Only where they do or have something: "a number for the driver" is for somebody else.
_PEOPLE: Final = _role_patterns(_OF_HOUSE)[:2]
# In a question; in a statement "he" is often somebody else: "The plumber rings before he arrives".
_SINGULAR_PRONOUNS: Final = (
    (re.compile(rf"\b(?:he|she) (?P<verb>{_ACTS})\b", re.IGNORECASE), None),
    (re.compile(r"\b(?:he|she) (?P<verb>(?!always\b|this\b)[a-z]{2,}(?<!s)s)\b", re.IGNORECASE), None),
    (re.compile(r"\b(?:he|she|him)\b", re.IGNORECASE), "you"),
    (re.compile(r"\b(?:his|her)\b", re.IGNORECASE), "your"),
    (re.compile(r"\b(?:himself|herself)\b", re.IGNORECASE), "yourself"),
)
# What a caller is to do is done to things: "the tickets are reserved, pick them up at the door"
_TO_THINGS: Final = r"(?:please )?(?:pick|bring|drop|collect|take|leave|return|wash|keep|put|pack|send|hold|mail|store) )them\b(?! (?:a|an|the|that|if|know)\b)"
_THINGS_FIRST: Final = re.compile(rf"(^{_TO_THINGS}", re.IGNORECASE)
_THINGS: Final = re.compile(rf"((?:^|, |\band |\bplease ){_TO_THINGS}", re.IGNORECASE)
_KEPT: Final = "\ue000"
_SECOND_PERSON: Final = {
    "has": "have",
    "is": "are",
    "was": "were",
    "does": "do",
    "goes": "go",
    "doesn't": "don't",
    "isn't": "aren't",
    "hasn't": "haven't",
    "wasn't": "weren't",
}
# To the model "you" is the agent.
_AGENT: Final = (
    (
        re.compile(
            r"\byou (can't|cannot|won't|couldn't|don't|can|could|will|may|should|would|must|need|have|want|do)\b",
            re.IGNORECASE,
        ),
        r"I \1",
    ),
    (re.compile(r"\byou look forward\b", re.IGNORECASE), "we look forward"),
    (re.compile(r"\bwhile you\b", re.IGNORECASE), "while I"),
    (
        re.compile(
            r"\byou are\b(?! (?:welcome|all set|booked|set|in\b|good|on the list|confirmed|registered|signed|done))",
            re.IGNORECASE,
        ),
        "I am",
    ),
    (re.compile(r"\b(to|for|with|tell|give|help|call|reach) you\b", re.IGNORECASE), r"\1 me"),
    (re.compile(r"\byour (clinic|company|office|shop|store|team|business|colleagues?|hotel|restaurant)\b"), r"our \1"),
)
# To a caller who is not named beside: "say we have a table for you"
_AGENT_ALONE: Final = (
    (
        re.compile(
            r"\byou (can (?:help|check|look|transfer|connect|put|offer|send)|(?:can't|cannot|couldn't) (?:help|say|tell|give|check|find|answer|do)|(?:don't|do not) (?:know|have)|could|will|would)\b",
            re.IGNORECASE,
        ),
        r"I \1",
    ),
    (
        re.compile(
            r"\byou are (?=(?:the|an?|sorry|happy|glad|afraid|calling|connecting|looking|going to|only)\b)",
            re.IGNORECASE,
        ),
        "I am ",
    ),
)
_OTHER: Final = re.compile(rf"\b(?:they|them|their|the (?:{_CALLING}))\b", re.IGNORECASE)


def address_caller(text: str, *, is_statement: bool = False) -> str:
    """Returns words about the caller as words to them: "their name" is "your name", "you can help" is "I can help"."""
    for pattern, agent in _AGENT if not is_statement or _OTHER.search(text) else _AGENT_ALONE:
        text = pattern.sub(agent, text)
    things = _THINGS if is_statement else _THINGS_FIRST
    text = things.sub(rf"\1{_KEPT}", text)
    people = () if is_statement or _OTHER.search(text) else _PEOPLE
    for pattern, replacement in (*_CALLERS, *people, *_PRONOUNS, *(() if is_statement else _SINGULAR_PRONOUNS)):
        if replacement is None:
            text = pattern.sub(lambda found: f"you {_second_person(found['verb'].lower())}", text)
        else:
            text = pattern.sub(replacement, text)
    return text.replace(_KEPT, "them")


def _second_person(verb: str) -> str:
    return _SECOND_PERSON.get(verb) or re.sub(r"(?<=sh|ch|ss)es$|(?<=[xzo])es$|s$", "", verb)


def state_sentence(text: str) -> str:
    """Returns words about a caller as a sentence to them."""
    return finish_sentence(address_caller(text, is_statement=True))


def finish_sentence(text: str) -> str:
    """Returns words with a capital and a full stop."""
    said = re.sub(
        r"(\band|\bbut|,) that (?=(?:the|an?|we|you|there|it|I|someone|somebody|our)\b)",
        lambda found: f"{found[1]}{' and' if found[1] == ',' else ''} ",
        text.strip().rstrip("."),
    )
    return f"{said[:1].upper()}{said[1:]}{'' if said.endswith(('!', '?')) else '.'}"
