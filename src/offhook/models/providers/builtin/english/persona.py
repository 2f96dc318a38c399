"""What an author's prompts tell a caller: facts to quote, what to say in a situation, and who the agent is. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Self

from offhook.models.providers.builtin.english.words import word_tokens

_ENDS: Final = re.compile(r"(?<=[.!?])(?<!\b[DM]r\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bSt\.)\s+|\n+")
# "Friendly and short.", "Polite, but brief."
_MANNER: Final = re.compile(
    r"^(?:(?:friendly|short|brief|polite|casual|warm|calm|patient|professional|cheerful|helpful|kind|nice|quick|concise|clear|simple|to the point|"
    r"and|but|very|always|please|tone|style|sentences|answers|voice)\b[ ,:]*)+[.!]?$",
    re.IGNORECASE,
)
_HOURS: Final = re.compile(
    r"^(?:open|closed) (?=\w+days?\b|daily\b|every\b|from\b|on\b|until\b|till\b|\d|weekdays\b|24)", re.IGNORECASE
)
_OPENING_HOURS: Final = re.compile(
    r"^(?=\w+days?(?: (?:to|through|and|-) \w+days?)?,? (?:from )?\d{1,2}(?::\d\d)? ?(?:am|pm)? (?:to|until|-) \d)",
    re.IGNORECASE,
)
_DAY_NAME: Final = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b")
_INSTRUCTION: Final = re.compile(
    r"^(you(?!r (?:appointment|order|stay))\b|your (?:name|role|job|goal|task)|act as|always|never|do not|don't|be |keep |speak|use |if |when |ask|offer|"
    r"greet|welcome|say|tell|find|thank|explain|confirm|repeat|agree|wish|read|mention|apologi[sz]e|let |answer|check|"
    r"collect|get |make |give|remember|please|try|only say|afterwards|then |now it is|look |help |wait|stop|avoid|respond|talk|note|sound |stay |tone\b|the caller|the guest|the customer|they )",
    re.IGNORECASE,
)
_SITUATION: Final = re.compile(
    r"^(?:if|when|whenever|in case)\s+(?:the\s+)?(?:caller|customer|guest|user|patient|client|person|they|somebody|someone|anyone)?\s*"
    r"(?P<situation>[^,]+(?:, (?!(?:then |please )?(?:tell|say|ask|advise|inform|let|explain|answer))[^,]+)*),?\s+(?:then\s+|please\s+|kindly\s+)?"
    r"(?:(?P<to>(?:tell|ask|advise|urge)\s+(?:them|him|her|the \w+)\s+to)|(?:tell|inform)\s+(?:them|him|her|the \w+)(?:\s+that)?|"
    r"say(?:\s+kindly)?(?:\s+that)|explain\s+that|answer\s+that|let\s+(?:them|him|her)\s+know\s+that)\s+(?P<said>[^.!?]+)",
    re.IGNORECASE,
)
_STATED: Final = re.compile(
    r"^(?:(?:then |also )?(?:explain|say|tell (?:them|the \w+)|mention|inform (?:them|the \w+)|let (?:them|the \w+) know))\s+that\s+(?P<fact>[^.!?]+)",
    re.IGNORECASE,
)
# What an author adds to a statement: another instruction.
_AND_ACT: Final = re.compile(
    r"(?:,? and|,? then|,)\s+(?:that\b|(?:then |kindly )?(?:offer|say|ask|thank|wish|tell|explain|give|repeat|apologi[sz]e|promise|come back)\b).*$",
    re.IGNORECASE,
)
_COURTESY: Final = re.compile(
    r"^(?:hello|hi|hey|good (?:morning|afternoon|evening)|thank|thanks|sorry|i'm|i am|i will|i'll|great|good|lovely|sure|"
    r"of course|all right|no problem|please|got it|okay|welcome|let me|you can say)\b",
    re.IGNORECASE,
)
# Authors write dozens; a turn compares all of them with what the caller said.
MAX_FACTS: Final = 500
MAX_RULES: Final = 100
# An answer refers to no more than this of what the agent said.
MAX_SPOKEN_CHARS: Final = 10_000
_NAMED: Final = r"\b[Yy]ou are (?P<name>[A-Z][\w'-]*(?: [A-Z][\w'-]*)?)"
_EMPLOYED: Final = re.compile(
    rf"{_NAMED}(?:,?\s[^.]{{0,200}}?)??\s(?:of|from|at|for|with)\s(?P<house>(?:the )?[A-Z][\w&'-]*(?: [A-Z][\w&'-]*)*)"
)
_IDENTITY: Final = re.compile(rf"{_NAMED}(?P<house>)(?=[.,;]|\s(?:and|who)\b|$)")
_ROBOT: Final = re.compile(
    r"\b(robot|bot|machine|computer|chat ?bot|ai|a i|artificial|automated|automatic|recording|real (?:person|human)|actual (?:person|human)|human being)\b"
)
_ASKS_NATURE: Final = re.compile(
    r"\b(are you|is this|is it|am i (?:talking|speaking|chatting)|you sound|you are not|are not you|i am talking|do i (?:talk|speak)|(?:talking|speaking) to)\b"
)
_ASKS_NAME: Final = re.compile(
    r"\b(who is (?:this|that|calling|speaking)|who did you say (?:this|that|you)|who (?:wants|would like) to know|who are you|what is your name|your name again|who am i (?:speaking|talking)|"
    r"(?:which|what) (?:(?!time|day|hour)\w+ )?(?:is this(?! (?:going|fee|charge|costing|supposed|worth))|are you(?! (?:open|closing|closed|going|doing|asking|charging|selling|looking|offering|supposed|saying|talking|calling about))|am i (?:talking|speaking) to)|(?:where are you|who are you) calling from|which company|what company|who do you work for|who is it)\b"
)


@dataclass(frozen=True, slots=True)
class SituationRule:
    """``situation`` in the author's words ("is in strong pain or bleeding") and the sentence for the caller."""

    situation: str
    sentence: str


@dataclass(frozen=True, slots=True)
class PersonaFacts:
    """``facts`` are sentences that may be quoted."""

    facts: tuple[str, ...]
    rules: tuple[SituationRule, ...]
    name: str = ""
    house: str = ""

    def with_statements(self, spoken: str) -> Self:
        """Returns these facts with the statements of a sentence that the agent says: "It takes one minute."."""
        stated = [
            sentence
            for sentence in _sentences(spoken[:MAX_SPOKEN_CHARS])
            if not sentence.endswith("?") and len(sentence.split()) > 2 and not _COURTESY.match(sentence)
        ]
        return replace(self, facts=tuple(dict.fromkeys((*self.facts, *stated))))

    def introduce(self, heard: str) -> str | None:
        """Returns who the agent is, when that was asked: never that it is a person."""
        said = " ".join(word_tokens(heard))
        of = f" at {self.house}" if self.house else ""
        if _ROBOT.search(said) and _ASKS_NATURE.search(said):
            return (
                f"I am {self.name}, an automated assistant{of}." if self.name else f"I am an automated assistant{of}."
            )
        if _ASKS_NAME.search(said):
            who = " from ".join(part for part in (self.name, self.house) if part)
            return f"This is {who}." if who else "I am an automated assistant."
        return None


@lru_cache(maxsize=256)
def _whole_sentence(fact: str) -> str:
    """Returns "We're open Monday to Friday." for "open monday to friday", as terse authors write it."""
    fact = _HOURS.sub(lambda found: f"We're {found.group().lower()}", fact)
    fact = _OPENING_HOURS.sub(lambda found: f"We're open {found.group()}", fact)
    return _DAY_NAME.sub(lambda found: found.group().capitalize(), fact)


@lru_cache(maxsize=256)
def read_prompts(persona: str, prompt: str) -> PersonaFacts:
    """Reads the rendered global prompt and the node's prompt."""
    facts: dict[str, None] = {}
    rules: list[SituationRule] = []
    for sentence in (*_sentences(persona), *_sentences(prompt)):
        if match := _SITUATION.match(sentence):
            said = _AND_ACT.sub("", match["said"]).strip()
            rules.append(SituationRule(match["situation"], f"Please {said}." if match["to"] else _capital(_ours(said))))
        elif match := _STATED.match(sentence):
            if not re.match(r"you\b|they\b", fact := _AND_ACT.sub("", match["fact"]).strip(), re.IGNORECASE):
                facts[_capital(fact)] = None
        elif not _INSTRUCTION.match(sentence) and not _MANNER.match(sentence) and len(sentence.split()) > 2:
            facts[_capital(_whole_sentence(sentence))] = None
    named = (
        _EMPLOYED.search(persona)
        or _IDENTITY.search(persona)
        or re.search(r"\b[Yy]our name is (?P<name>[A-Z][\w'-]*)(?P<house>)", persona)
    )
    return PersonaFacts(
        tuple(facts)[:MAX_FACTS],
        tuple(rules)[:MAX_RULES],
        named["name"] if named else "",
        (named["house"] or "") if named else "",
    )


def _sentences(text: str) -> Iterator[str]:
    for part in _ENDS.split(text):
        sentence = part.strip().lstrip("-*•# ").strip()
        if sentence:
            yield sentence


def _ours(said: str) -> str:
    return re.sub(r"\byour\b", "our", re.sub(r"\byou are\b", "we are", said, flags=re.IGNORECASE), flags=re.IGNORECASE)


def _capital(sentence: str) -> str:
    sentence = sentence.strip()
    return f"{sentence[:1].upper()}{sentence[1:]}{'' if sentence.endswith(('.', '!', '?')) else '.'}"
