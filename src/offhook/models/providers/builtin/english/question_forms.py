"""Puts an indirect question into the order of a direct one: "what your name is" is "What is your name?". Pure."""

import re
from typing import Final

from offhook.models.providers.builtin.english.wording.bare_words import TO_DO, ask_bare

_IRREGULAR: Final = {
    "heard": "hear", "found": "find", "went": "go", "got": "get", "lost": "lose", "saw": "see", "bought": "buy",
    "made": "make", "came": "come", "left": "leave", "paid": "pay", "took": "take", "had": "have", "said": "say",
    "broke": "break", "stole": "steal", "rang": "ring", "ran": "run", "fell": "fall", "ate": "eat", "drove": "drive", "wrote": "write", "sent": "send",
    "brought": "bring", "forgot": "forget", "kept": "keep", "told": "tell", "did": "do",
    "thought": "think", "felt": "feel", "met": "meet", "spoke": "speak", "chose": "choose", "gave": "give", "knew": "know", "began": "begin", "won": "win", "wore": "wear", "slept": "sleep", "hurt": "hurt", "hit": "hit", "bit": "bite",
}  # fmt: skip
# Base forms that look like a past.
_BASE_FORMS: Final = frozenset({"need", "feed", "speed", "succeed", "proceed", "exceed", "bleed", "breed"})

_NO_PAST: Final = re.compile(r"(?:.?red|bed|.*bread|.*breed|.*seed|weed|hundred|left|wed|shed|had)$", re.IGNORECASE)

_AUXILIARY: Final = r"(?:(?:ca|wo|do|does|did|is|are|was|were|could|would|should|has|have)n't|can't|won't|cannot|is|are|am|was|were|has|have|had|can|could|will|would|should|may|might|must|do|does|did)"
_MODALS: Final = frozenset({"can", "could", "will", "would", "should", "may", "might", "must"})
_PARTICIPLE: Final = r"(?:already |ever |just |yet |never |previously |also |recently )?(?:\w+ed|been|had|got|gotten|made|seen|taken|given|eaten|tried|come|gone|done|heard|met|spoken|bought|lost|left|paid|stayed|brought|chosen|found|sent|read|used|worked|sung|driven|ridden|written|known|grown|flown|sold|told|thought|caught|taught|built|slept|broken|forgotten|fallen|felt|kept|won|begun|run)\b"
_SUBJECT: Final = r"(?:now|today|tomorrow|I|you|we|it|they|this|that|there|these|those|(?:the|your|our|my|any|anyone|someone|somebody|everything|everyone|anything|all)(?: (?!is\b|are\b|was\b|were\b|has\b|have\b|can\b|will\b|would\b)[\w'-]+){0,6}?)"
_CLAUSE: Final = re.compile(rf"^(?P<subject>{_SUBJECT}) (?P<verb>{_AUXILIARY})(?P<rest>\b.*)$", re.IGNORECASE)
_PLAIN_CLAUSE: Final = re.compile(
    r"^(?P<subject>you|we|I|they) (?P<adverb>(?:already|also|still|currently|usually|normally|really|actually|originally|often|last|first|ever|only|just) )?(?P<verb>[a-z]+)(?P<rest>\b.*)$",
    re.IGNORECASE,
)
_THIRD_PERSON_CLAUSE: Final = re.compile(
    r"^(?P<subject>it|this|that|(?:the|your|our|anyone|someone|somebody|everything)(?: [\w'-]+){0,2}?) (?P<verb>[a-z]+(?<!s)s)(?P<rest>\b.*)$",
    re.IGNORECASE,
)
_PAST_CLAUSE: Final = re.compile(
    rf"^(?P<subject>it|this|that|he|she|someone|somebody|anyone|anybody|anything|something|everything|everyone|everybody|(?:the|your|our) [\w'-]+(?: [\w'-]+)?) (?P<verb>[a-z]+ed|{'|'.join(_IRREGULAR)})\b(?P<rest>.*)$",
    re.IGNORECASE,
)
# "a tent is ok", "wednesday or friday suits them"
_ANY_CLAUSE: Final = re.compile(
    rf"^(?P<subject>(?!(?:{_AUXILIARY}|what|which|how|who|when|where|if|not|to|you|I|we|they|it|he|she)\b)[\w'-]+(?: (?!(?:when|if|who|what|you|we|they|it)\b)[\w'-]+){{0,6}}?) (?P<verb>is|are|was|were|can|will|would|should|has|have|isn't|aren't|won't)(?P<rest>\b.*)$",
    re.IGNORECASE,
)
_ANY_THIRD_PERSON: Final = re.compile(
    r"^(?P<subject>(?!(?:what|which|how|who|when|where|if|not|to|you|I|we|they)\b)[\w'-]+(?: [\w'-]+){0,5}?) (?P<verb>works|suits|fits|helps|needs|wants|goes|hurts|sounds|looks|comes|lives|leaks|feels|makes|seems)\b(?P<rest>.*)$",
    re.IGNORECASE,
)
# "you are new or already take lessons"
_ALREADY: Final = re.compile(
    r",? or ((?:already|still|currently|also) (?!\w+(?:ed|ing)\b|a\b|an\b|the\b|in\b|with\b|at\b))"
)
# "who it is for and how old they are" asks about somebody else.
_ASKS_WITH: Final = re.compile(r"(?:how|what|which|when|where|who|why)\b", re.IGNORECASE)
_OTHERS: Final = re.compile(r"(\bwho (?:it|this|that) is for\b.*\b)you(?= are\b)", re.IGNORECASE)
_ASKING: Final = r"(?=(?:how|what|which|when|where|whether|if|why|who|whose|since when|for how|(?:is|are|do|does|can|will|did|was|has|have) (?:it|they|you|we|the|your|there))\b)"
_CLAUSES: Final = re.compile(rf"(?:,? and |, ){_ASKING}", re.IGNORECASE)
# A comma alone parts no questions: "on a scale of one to five, where five is best".
_NEXT_CLAUSE: Final = re.compile(rf",? and {_ASKING}", re.IGNORECASE)
_SECOND_CLAUSE: Final = re.compile(
    r",? or (?=(?:it|they|you|we|this|that|there|I|someone|somebody|anyone|(?:the|your|a|an) [\w'-]+(?: [\w'-]+)?) [a-z']+\b)",
    re.IGNORECASE,
)
_HAS_VERB: Final = re.compile(
    r"\b(?:you|I|we|they|it|is|are|was|were|do|does|can|will|has|have|should|would)\b", re.IGNORECASE
)
# "which child": there is one, and nothing to choose.
_WHICH_IT_IS: Final = re.compile(
    r"which (?:[\w-]+ )?(?:child|kid|student|apartment|flat|unit|building|house|street|bus|train|order|account|car|vehicle|machine|store|school|grade|person|employee|teacher|line|floor|invoice|"
    r"city|town|side|tooth|pet|animal|company|department|bank)",
    re.IGNORECASE,
)
_ASKED_ALREADY: Final = re.compile(
    r"(?:is|are|do|does|can|will|did|was|were|has|have|should|would|could) (?:it|they|you|we|I|the|your|there|that|this|any\w*|some\w*)\b",
    re.IGNORECASE,
)
_DAYTIME: Final = re.compile(
    r"(?:the )?(?:mornings?|afternoons?|evenings?|day|night|am|weekdays?|weekends?)(?:,? (?:or|\w+ or) [\w ]+)",
    re.IGNORECASE,
)
_NEEDS_NO_VERB: Final = re.compile(
    r"(?:what(?! about$)|which|how (?:many|much|long|often)|(?:since|from|until|till) when|for how long|when|where|why|who)\b(?!.* to \w)|where to$",
    re.IGNORECASE,
)
_SAID_IN_FULL: Final = {
    "what": "what would that be", "when": "when would that be", "where": "where would that be", "why": "may I ask why",
    "how many": "how many would you like", "how much": "how much would you like", "what day": "what day would you like",
    "what time": "what time would you like", "what about": "what is it about", "what date": "what date would you like",
    "what suits": "what suits you best", "what works": "what works for you", "which suits": "which suits you best",
    "which works": "which works for you", "what day and time": "what day and time would you like", "what date and time": "what date and time would you like",
}  # fmt: skip
_HOW_IT_IS: Final = re.compile(
    r"(?P<how>how (?:bad|big|far|tall|heavy|urgent|serious|large|severe|deep|wide)|how (?:old|long)(?= (?:it|he|she)$))(?P<rest> from \d.*)?",
    re.IGNORECASE,
)


def ask_clause(clause: str) -> str:
    """Returns an indirect question as a direct one: "whether it is urgent" is "Is it urgent?"."""
    clause = clause.strip().rstrip(".!?, ")
    clause = re.sub(
        r"^how likely (?:it is )?you(?: would| will| are to)? (?=[a-z]+ )(?!are )", "how likely you are to ", clause
    )
    clause = _OTHERS.sub(r"\1they", clause)
    if scaled := re.match(
        r"(?P<scale>(?:on a )?scale (?:of|from) .{1,12}? (?:to|-) \w+),? (?P<rest>(?:how|what)\b.+)$",
        clause,
        re.IGNORECASE,
    ):
        asked = ask_clause(scaled["rest"])
        return write_question(f"{scaled['scale']}, {asked[:1].lower()}{asked[1:-1]}")
    if _NEXT_CLAUSE.search(clause) and len(parts := _CLAUSES.split(clause)) > 1:
        return _ask_clauses(parts)
    if _ASKED_ALREADY.match(clause):
        return write_question(clause)
    if (in_full := _SAID_IN_FULL.get(clause.lower())) is not None:
        return write_question(in_full)
    if how := _HOW_IT_IS.fullmatch(clause):
        return write_question(f"{how['how']} is it{',' if how['rest'] else ''}{how['rest'] or ''}")
    if (named := _ask_named(clause)) is not None:
        return named
    if right := re.fullmatch(
        r"(?:whether|if) (?:it is |this is |that is )?(?P<right>(?:all )?right|correct|okay|ok|fine|done|true|good|alright)",
        clause,
        re.IGNORECASE,
    ):
        return f"Is that {right['right']}?"
    if whether := re.match(r"(?:whether|if)(?: or not)? (?P<rest>.+)$", clause, re.IGNORECASE):
        return _ask_whether(re.sub(r",? or not$", "", whether["rest"]))
    return write_question(_direct_question(clause) or clause)


def _ask_named(clause: str) -> str | None:
    """Returns a question for a question word with no sentence after it: "which day", "what to change"; else None."""
    if _WHICH_IT_IS.fullmatch(clause):
        return write_question(f"{clause} is it")
    if re.fullmatch(r"which (?!(?:you|they|we|it)\b)[\w-]+(?: [\w-]+)?", clause, re.IGNORECASE) and not re.search(
        r"(?<!s)s$", clause
    ):
        return write_question(f"{clause} would you like")
    if re.fullmatch(r"which(?: one)?", clause, re.IGNORECASE):
        return "Which one would you like?"
    if to_do := re.fullmatch(r"(?P<what>what|which(?: [\w-]+){1,2}) to (?P<verb>[a-z]+)", clause, re.IGNORECASE):
        return write_question(f"{to_do['what']} would you like to {to_do['verb']}")
    if re.fullmatch(r"how to help(?: you| them)?", clause, re.IGNORECASE):
        return "How can I help you?"
    if to_do := re.fullmatch(
        r"(?P<what>how|when|where|who|(?:what|which) (?!needs\b|has\b|have\b|is\b|seems\b|else\b|happens\b|went\b)\w+|how \w+) to (?P<verb>[a-z]+\b.*)",
        clause,
        re.IGNORECASE,
    ):
        return write_question(
            f"{to_do['what']} {'do' if to_do['what'].lower() == 'how' else 'should'} we {to_do['verb']}"
        )
    return None


def _ask_whether(clause: str) -> str:
    if (bare := ask_bare(clause)) is not None:
        return write_question(bare)
    if (asked := invert_clause(clause)) is not None:
        return write_question(asked)
    return write_question(f"is it {clause}") if len(clause.split()) < 4 else f"May I ask whether {clause}?"


def _ask_clauses(parts: list[str]) -> str:
    """Returns several questions in one: "what day and if morning or afternoon" is "What day would you like, morning or afternoon?"."""
    asked = [_ask_part(part, parts[0]) for part in parts]
    if (
        (daytime := re.sub("^(?:whether|if) ", "", parts[1], flags=re.IGNORECASE))
        and len(parts) == 2
        and _DAYTIME.fullmatch(daytime)
    ):
        return write_question(f"{ask_clause(parts[0])[:-1]}, {daytime}")
    first, *others = asked
    others = [other if re.match(r"I\b", other) else f"{other[:1].lower()}{other[1:]}" for other in others]
    if len(others) > 1:
        return write_question(f"{first}, {', '.join(others[:-1])}, and {others[-1]}")
    is_short = _HAS_VERB.search(first) is None and _HAS_VERB.search(others[0]) is None
    both_ask = (
        _HAS_VERB.search(first)
        and _ASKS_WITH.match(first)
        and _ASKS_WITH.match(others[0])
        and _HAS_VERB.search(others[0])
    )
    return write_question(f"{first}{' and' if is_short or both_ask else ', and'} {others[0]}")


def _ask_part(part: str, first: str) -> str:
    """Returns one of several questions, which needs no verb: "how many people", "any pets"."""
    bare = re.sub("^(?:whether|if) ", "", part, flags=re.IGNORECASE)
    if bare != part and not _HAS_VERB.search(bare):
        if re.fullmatch(r"[\w-]+s (?:or|and) [\w-]+s", bare):
            return f"any {bare}"
        return bare if " or " in bare else ask_clause(part)[:-1]
    if re.fullmatch(r"how old", part, re.IGNORECASE):
        return f"how old are {'they' if re.match('how many', first, re.IGNORECASE) else 'you'}"
    is_short = _NEEDS_NO_VERB.match(part) and not _HAS_VERB.search(part) and _direct_question(part) is None
    return part if is_short else ask_clause(part)[:-1]


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
        if re.search(
            r"\w (?:suits|fits|helps|bothers|interests|brings|brought|told|sent|gave|hurts)$", asked, re.IGNORECASE
        ):
            return None
        if re.search(r"\b(?:of|for|and|or|the|in|on|at|from|with|about|near|under|by)$", asked, re.IGNORECASE):
            continue
        inverted = invert_clause(rest)
        return None if inverted is None else f"{asked} {inverted}"
    return None


def invert_clause(clause: str) -> str | None:
    """Returns a statement in the order of a question: "you have a booking" is "do you have a booking"."""
    for found in _SECOND_CLAUSE.finditer(clause):
        first, second = _invert_one(clause[: found.start()]), _invert_one(clause[found.end() :])
        if first is not None and second is not None:
            return f"{first}, or {second}"
    return _invert_one(clause)


def _invert_one(clause: str) -> str | None:
    if match := _CLAUSE.match(clause):
        return _invert_auxiliary(match["subject"], match["verb"].lower(), match["rest"].strip())
    if match := _PLAIN_CLAUSE.match(clause):
        past = _base_of_past(match["verb"].lower())
        helper, verb = ("do", match["verb"]) if past is None else ("did", past)
        wishes = past is None and verb in ("want", "need", "prefer", "like", "have")
        rest = match["rest"] if wishes else _base_of_pasts(match["rest"], match["subject"], is_past=past is not None)
        rest = re.sub(r",? or (are|were|can|will) (?=\w)", rf", or \1 {match['subject']} ", rest)
        if wishes:
            # "want a new time or cancel", "want to adopt or found a stray"
            rest = re.sub(rf"^( (?:an?|the|another) [\w' ]{{2,25}}? or )(?={TO_DO.pattern})", r"\1to ", rest)
            subject = match["subject"]
            rest = _OR_DID.sub(lambda found: _or_did(found, subject), rest)
        return f"{helper} {match['subject']} {match['adverb'] or ''}{verb}{rest}"
    if (match := _PAST_CLAUSE.match(clause)) and (verb := _base_of_past(match["verb"].lower())) is not None:
        return f"did {match['subject']} {verb}{_base_of_pasts(match['rest'], match['subject'])}"
    if match := _ANY_CLAUSE.match(clause):
        return _invert_auxiliary(match["subject"], match["verb"].lower(), match["rest"].strip())
    if match := _THIRD_PERSON_CLAUSE.match(clause) or _ANY_THIRD_PERSON.match(clause):
        rest = _base_after_or(match["rest"])
        return f"does {match['subject']} {_present(match['verb'])}{rest}"
    return None


def _invert_auxiliary(subject: str, verb: str, rest: str) -> str:
    is_whole = verb in ("have", "has", "had", "do", "does", "did") and not re.match(_PARTICIPLE, rest, re.IGNORECASE)
    if not is_whole:
        again = rf"(?!do\b|have\b){_AUXILIARY}" if verb in _MODALS else _AUXILIARY
        rest = re.sub(rf"(?<=\bor )({again})\b(?= \w)", rf"\1 {subject}", rest)
        rest = _ALREADY.sub(rf", or do {subject} \1", rest)
        return f"{verb} {subject}{' ' if rest else ''}{rest}"
    rest = _base_after_or(rest)
    helper, plain = {
        "has": ("does", "have"),
        "had": ("did", "have"),
        "does": ("does", "do"),
        "did": ("did", "do"),
    }.get(verb, ("do", verb))
    return f"{helper} {subject} {plain}{' ' if rest else ''}{rest}"


# Not what is also an adjective or a noun: "want it left or sent"
_OR_DID: Final = re.compile(
    rf"^(?P<first> to .+?),? or (?P<verb>{'|'.join(_IRREGULAR)}) (?=(?:an?|the|it|one|some\w*|your|my)\b)"
)


def _or_did(found: re.Match[str], subject: str) -> str:
    return f"{found['first']}, or did {subject} {_IRREGULAR[found['verb']]} "


def _base_of_pasts(rest: str, subject: str, *, is_past: bool = True) -> str:
    """Returns what follows "did you lose" in "you lost or found something", and "or do you want" for "or want"."""
    if is_past:
        rest = re.sub(r",? or (is|are|was|were) (?=\w)", rf", or \1 {subject} ", _base_after_or(rest))
        rest = re.sub(
            r"(?:(?<=\bor )|(?<=\band ))(?P<verb>[a-z]{3,})\b",
            lambda found: (not _NO_PAST.match(found["verb"]) and _base_of_past(found["verb"].lower())) or found["verb"],
            rest,
        )
    return re.sub(r",? or (?=(?:still |rather )?(?:want|need|prefer|have|would like)\b)", f", or do {subject} ", rest)


def _base_after_or(rest: str) -> str:
    """Returns "a claim or have a question" for "a claim or has a question"."""
    rest = re.sub(r"^( (?:or|and) [a-z]{3,}(?<!s))s\b", r"\1", rest)
    return re.sub(
        r"(?<=\bor )has\b",
        "have",
        re.sub(
            r"(?:(?<=\bor )|(?<=\band ))(need|want|require|work|come|live|feel|smell|hear|see|leak|eat|drink|make|get|know|like|look|sound|run|cost|use)s\b",
            r"\1",
            rest,
        ),
    )


def _base_of_past(verb: str) -> str | None:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    return _present(verb) if verb.endswith("ed") and verb not in _BASE_FORMS else None


def _present(verb: str) -> str:
    """Returns the base form of a regular verb: "needs", "wanted"."""
    if verb.endswith(("ied", "ies")):
        return f"{verb[:-3]}y"
    if verb.endswith("ed"):
        stem = re.sub(r"([bgmnprt])\1$", r"\1", verb[:-2])
        if stem != verb[:-2]:
            return stem
        return (
            stem
            if re.search(
                r"(?:nt|st|ct|ll|ss|sh|ch|ck|lp|rt|rk|rn|in|er|ed|en|it|pt|ow|ay|oy|ey|nd|ad|ain|eal|oin)$", stem
            )
            else f"{stem}e"
        )
    return re.sub(r"(?<=(?:ss|sh|ch))es$|(?<=[xz])es$|(?<=o)es$|s$", "", verb)


# "What time do you come?" asks about now or soon, "how often do you come" does not.
_NOW: Final = re.compile(
    r"(?P<before>^|^(?:when|what (?:time|day)|which day|who|why) )do you (?P<still>still )?(?P<verb>call|come)\b(?! (?:from|often|here)\b)",
    re.IGNORECASE,
)


def _as_now(found: re.Match[str]) -> str:
    verb = "calling" if found["verb"].lower() == "call" else "coming"
    return f"{found['before']}are you {found['still'] or ''}{verb}"


def write_question(words: str) -> str:
    said = re.sub(r"\s+(?=[,:;])", "", _NOW.sub(_as_now, words.strip()))
    return f"{said[:1].upper()}{said[1:]}?"
