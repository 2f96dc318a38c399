"""Puts an indirect question into the order of a direct one: "what your name is" is "What is your name?". Pure."""

import re
from typing import Final

_IRREGULAR: Final = {
    "heard": "hear", "found": "find", "went": "go", "got": "get", "lost": "lose", "saw": "see", "bought": "buy",
    "made": "make", "came": "come", "left": "leave", "paid": "pay", "took": "take", "had": "have", "said": "say",
    "thought": "think", "felt": "feel", "met": "meet", "spoke": "speak", "chose": "choose", "gave": "give", "knew": "know",
}  # fmt: skip
# Base forms that look like a past.
_BASE_FORMS: Final = frozenset({"need", "feed", "speed", "succeed", "proceed", "exceed", "bleed", "breed"})

_AUXILIARY: Final = r"(?:(?:ca|wo|do|does|did|is|are|was|were|could|would|should|has|have)n't|can't|won't|cannot|is|are|am|was|were|has|have|had|can|could|will|would|should|may|might|must|do|does|did)"
_PARTICIPLE: Final = r"(?:already |ever |just |yet |never |previously |also |recently )?(?:\w+ed|been|had|got|gotten|made|seen|taken|given|eaten|tried|come|gone|done|heard|met|spoken|bought|lost|left|paid|stayed|brought|chosen|found|sent|read|used|worked)\b"
_SUBJECT: Final = r"(?:now|today|tomorrow|I|you|we|it|they|this|that|there|these|those|(?:the|your|our|my|any|anyone|someone|somebody|everything|everyone|anything|all)(?: (?!is\b|are\b|was\b|were\b|has\b|have\b|can\b|will\b|would\b)[\w'-]+){0,6}?)"
_CLAUSE: Final = re.compile(rf"^(?P<subject>{_SUBJECT}) (?P<verb>{_AUXILIARY})(?P<rest>\b.*)$", re.IGNORECASE)
_PLAIN_CLAUSE: Final = re.compile(
    r"^(?P<subject>you|we|I|they) (?P<adverb>(?:already|also|still|currently|usually|really|ever|only|just) )?(?P<verb>[a-z]+)(?P<rest>\b.*)$",
    re.IGNORECASE,
)
_THIRD_PERSON_CLAUSE: Final = re.compile(
    r"^(?P<subject>it|this|that|(?:the|your|our|anyone|someone|somebody|everything)(?: [\w'-]+){0,2}?) (?P<verb>[a-z]+(?<!s)s)(?P<rest>\b.*)$",
    re.IGNORECASE,
)
_PAST_CLAUSE: Final = re.compile(
    r"^(?P<subject>it|this|that|(?:the|your|our) [\w'-]+(?: [\w'-]+)?) (?P<verb>[a-z]+ed)\b(?P<rest>.*)$", re.IGNORECASE
)
# "you are new or already take lessons"
_ALREADY: Final = re.compile(
    r",? or ((?:already|still|currently|also) (?!\w+(?:ed|ing)\b|a\b|an\b|the\b|in\b|with\b|at\b))"
)
# "who it is for and how old they are" asks about somebody else.
_OTHERS: Final = re.compile(r"(\bwho (?:it|this|that) is for\b.*\b)you(?= are\b)", re.IGNORECASE)
_CLAUSES: Final = re.compile(r",? and (?=(?:how|what|which|when|where|whether|if|why)\b)", re.IGNORECASE)


def ask_clause(clause: str) -> str:
    """Returns an indirect question as a direct one: "whether it is urgent" is "Is it urgent?"."""
    clause = clause.strip().rstrip(".!? ")
    clause = _OTHERS.sub(r"\1they", clause)
    if len(parts := _CLAUSES.split(clause)) > 1:
        if not re.search(r"\b(?:you|I|we|they|it|is|are)\b", parts[-1]):
            # "what day and if morning or afternoon"
            return f"{ask_clause(parts[0])[:-1]}, {re.sub('^(?:whether|if) ', '', parts[-1])}?"
        first, *others = (ask_clause(part)[:-1] for part in parts)
        return f"{' and '.join([first, *(other[:1].lower() + other[1:] for other in others)])}?"
    if re.fullmatch(r"which [\w-]+(?: [\w-]+)?", clause, re.IGNORECASE) and not clause.endswith("s"):
        return write_question(f"{clause} would you like")
    if re.fullmatch(r"which(?: one)?", clause, re.IGNORECASE):
        return "Which one would you like?"
    if to_do := re.fullmatch(r"(?P<what>what|which(?: [\w-]+){1,2}) to (?P<verb>[a-z]+)", clause, re.IGNORECASE):
        return write_question(f"{to_do['what']} would you like to {to_do['verb']}")
    if re.fullmatch(r"(?:whether|if) (?:right|correct|okay|ok|fine|done|true)", clause, re.IGNORECASE):
        return f"Is that {clause.split()[1]}?"
    if whether := re.match(r"(?:whether|if)(?: or not)? (?P<rest>.+)$", clause, re.IGNORECASE):
        rest = re.sub(r",? or not$", "", whether["rest"])
        asked = invert_clause(rest)
        return write_question(asked) if asked is not None else f"May I ask whether {rest}?"
    return write_question(_direct_question(clause) or clause)


def ask_either(clause: str) -> str | None:
    """Returns "whether it is new or if it is used" as "Is it new, or is it used?"; None for other clauses."""
    either = re.match(r"(?:whether|if) (?P<first>.+?),? or (?:whether|if) (?P<second>.+)$", clause, re.IGNORECASE)
    if either is None:
        return None
    first, second = invert_clause(either["first"]), invert_clause(either["second"].rstrip(".!? "))
    return None if first is None or second is None else write_question(f"{first}, or {second}")


def _direct_question(clause: str) -> str | None:
    """Returns "what is your name" for "what your name is"; None where the question word is the subject."""
    words = clause.split()
    for size in range(1, min(10, len(words) - 1)):
        asked, rest = " ".join(words[:size]), " ".join(words[size:])
        if re.match(rf"(?:{_AUXILIARY})\b", rest, re.IGNORECASE):
            return None
        if not re.match(rf"{_SUBJECT}\b", rest, re.IGNORECASE):
            continue
        if re.search(r"\b(?:of|for|and|or|the)$", asked, re.IGNORECASE):
            continue
        inverted = invert_clause(rest)
        return None if inverted is None else f"{asked} {inverted}"
    return None


def invert_clause(clause: str) -> str | None:
    """Returns a statement in the order of a question: "you have a booking" is "do you have a booking"."""
    if match := _CLAUSE.match(clause):
        verb, rest = match["verb"].lower(), match["rest"].strip()
        is_whole = verb in ("have", "has", "had", "do", "does", "did") and not re.match(
            _PARTICIPLE, rest, re.IGNORECASE
        )
        if not is_whole:
            rest = re.sub(rf"(?<=\bor )({_AUXILIARY})\b(?= \w)", rf"\1 {match['subject']}", rest)
            rest = _ALREADY.sub(rf", or do {match['subject']} \1", rest)
            return f"{verb} {match['subject']}{' ' if rest else ''}{rest}"
        rest = _base_after_or(rest)
        helper, plain = {
            "has": ("does", "have"),
            "had": ("did", "have"),
            "does": ("does", "do"),
            "did": ("did", "do"),
        }.get(verb, ("do", verb))
        return f"{helper} {match['subject']} {plain}{' ' if rest else ''}{rest}"
    if match := _PLAIN_CLAUSE.match(clause):
        past = _base_of_past(match["verb"].lower())
        helper, verb = ("do", match["verb"]) if past is None else ("did", past)
        return f"{helper} {match['subject']} {match['adverb'] or ''}{verb}{match['rest']}"
    if match := _PAST_CLAUSE.match(clause):
        return f"did {match['subject']} {_present(match['verb'])}{match['rest']}"
    if match := _THIRD_PERSON_CLAUSE.match(clause):
        rest = _base_after_or(match["rest"])
        return f"does {match['subject']} {_present(match['verb'])}{rest}"
    return None


def _base_after_or(rest: str) -> str:
    """Returns "a claim or have a question" for "a claim or has a question"."""
    return re.sub(r"(?<=\bor )has\b", "have", re.sub(r"(?<=\bor )(need|want|require)s\b", r"\1", rest))


def _base_of_past(verb: str) -> str | None:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    return _present(verb) if verb.endswith("ed") and verb not in _BASE_FORMS else None


def _present(verb: str) -> str:
    """Returns the base form of a regular verb: "needs", "wanted"."""
    if verb.endswith(("ied", "ies")):
        return f"{verb[:-3]}y"
    if verb.endswith("ed"):
        stem = verb[:-2]
        return (
            stem
            if re.search(
                r"(?:nt|st|ct|ll|ss|sh|ch|ck|lp|rt|rk|rn|in|er|ed|en|it|pt|ow|ay|oy|ey|nd|ad|ain|eal|oin)$", stem
            )
            else f"{stem}e"
        )
    return re.sub(r"(?<=(?:ss|sh|ch))es$|(?<=[xz])es$|(?<=o)es$|s$", "", verb)


def write_question(words: str) -> str:
    said = re.sub(r"\s+(?=[,:;])", "", re.sub(r"^do you call\b", "are you calling", words.strip(), flags=re.IGNORECASE))
    return f"{said[:1].upper()}{said[1:]}?"
