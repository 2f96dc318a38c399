"""How a statement, a greeting and a farewell to a caller are worded: "sorry were full, bye" is three sentences. Pure."""

import re
from collections.abc import Iterator
from typing import Final

from offhook.models.providers.builtin.english.wording.writing import contract_verbs, write_house

# "say the day, time and name back", "say the order again"; never "say the office calls them back"
_NO_VALUE: Final = r"(?:will|we|they|them|him|her|you|I|is|are|calls?|rings?|phones|texts?|gets?|comes?|writes?|see|try|to|sorry|thanks?|hi|hello|bye|money|can|should|must|please|that|how|once)"
READS_BACK: Final = re.compile(
    r"\bread\b[^.!?\n]{0,40}\bback\b|"
    rf"\bsay (?:(?:it|that|this) (?:all )?(?:back|again)|back(?= (?:the|their|what|all|it)\b)|(?:(?!{_NO_VALUE}\b)[\w',-]+ ){{1,9}}(?:back|again))(?!\w)|"
    r"\btell (?:them|him|her|the \w+) what (?:you|we) (?:got|have|heard|wrote|understood)\b|\bgo (?:over|through) (?:it|everything|all|the (?:details|booking|order|appointment))\b|"
    r"\b(?:double[ -]?check|confirm|verify) (?:with (?:them|him|her|the \w+) )?(?:all |everything\b|(?:(?:the|their|all|his|her) )+\w|(?:name|phone|number|day|date|time|address|email|details|order|booking|appointment)s?\b)(?![^.!?\n]* (?:is|are|fits|works)\b)|"
    r"(?:^|[.,;:!?\n-]\s*|\b(?:and|then|to|please|briefly) )(?:repeat|recap|summari[sz]e|sum (?:it |that |this |everything )?(?:all )?up)\b(?! (?:the|this|your) question)",
    re.IGNORECASE,
)

_BYE: Final = re.compile(
    r"^(?P<body>.*?\S)(?:,? and |, ?|[.!]? )(?:say )?(?:good[ -]?)?bye(?:[ -]?bye)?(?: now| then)?[.!]*$", re.IGNORECASE
)
_THANKS: Final = re.compile(
    r"^(?P<body>(?:say|tell|explain|ask|offer|let|inform|mention|remind)\b.*?\S)(?:,? and |, ?| (?=thanks))(?:many )?(?P<thanks>thanks|thank you)(?P<how> (?:so|very) much| again| a lot)?[.!]*$",
    re.IGNORECASE,
)
_BEGINS: Final = re.compile(
    r"(?:say|tell|wish|bid|ask)(?: (?:them|him|her|the \w+|\w+er))?(?: a| the)?$", re.IGNORECASE
)
_FAREWELL: Final = re.compile(
    r"(?:,? and|,|\.) (?=(?:see you|have (?:an?|fun)\b|enjoy|take care|good luck|get well|looking forward|(?:we )?look forward|talk (?:to you )?(?:soon|then|later)|sorry again|all the best)\b)",
    re.IGNORECASE,
)
_THANKS_FIRST: Final = re.compile(
    r"^(?:say|tell (?:them|him|her|the \w+)) (?P<thanks>(?:many )?(?:thank you|thanks)(?: (?:so|very) much| a lot| again| anyway)?(?: (?:for|to) [^,]+?)?)(?:,? and(?: that)?|,|(?= (?:that is|we|see|it is|the|you|your)\b)) (?P<rest>.+)$",
    re.IGNORECASE,
)


def part_farewell(instruction: str, most_parts: int = 4) -> Iterator[str]:
    """Yields "say it's booked" and "say goodbye" for "say it's booked, bye"."""
    most_parts -= 1
    if most_parts == 0:
        yield instruction
    elif (bye := _BYE.match(instruction)) and not _BEGINS.match(bye["body"]):
        yield from part_farewell(bye["body"], most_parts)
        yield "say goodbye"
    elif (thanks := _THANKS.match(instruction)) and not _BEGINS.match(thanks["body"]):
        yield from part_farewell(thanks["body"], most_parts)
        yield f"say thank you{thanks['how'] or ''}"
    elif first := _THANKS_FIRST.match(instruction):
        yield f"say {first['thanks']}"
        yield from part_farewell(f"say {first['rest']}", most_parts)
    elif re.match(r"(?:say|tell|explain|let|mention|inform)\b", instruction, re.IGNORECASE):
        first_part, *others = _FAREWELL.split(instruction)
        yield first_part
        yield from (f"say {other}" for other in others)
    else:
        yield instruction


_VALUE_LESS: Final = re.compile(
    r"^(?:(?:the|our|their|your|all) )+(?:(?!is\b|are\b)\w+ )?(?:prices?|costs?|fees?|rates?|hours|address|total|date|time|options|details|rules|offers?|plans?|terms|policy|directions|way|greeting|services)\b"
    r"(?!.*\b(?:is|are|was|were|starts?|costs?|has|have|will|can|could|must|should|comes?|does|do|did|goes|opens?|closes?|ends?|depends?|includes?|varies|\w+ed)\b)(?!.*[\d:])",
    re.IGNORECASE,
)


def is_unsaid(rest: str) -> bool:
    """Returns whether words only name what is to be told, which they do not say: "the price"."""
    return _VALUE_LESS.match(rest) is not None


_HOUSE: Final = re.compile(
    r"^(?P<hello>hi|hello|hey|good (?:morning|afternoon|evening|day)),? (?:(?:from|at)|(?:this is|here is|it is)(?= (?!the\b|an?\b|your\b|our\b|about\b)\S+(?: \S+){0,3}$)) (?P<house>.+)$",
    re.IGNORECASE,
)


def write_greeting(text: str) -> str:
    """Returns "Hi, this is Pine Lake" for "hi from pine lake"."""
    if match := _HOUSE.match(text):
        return f"{match['hello']}, this is {write_house(match['house'])}"
    return text


_FUTURE: Final = (
    r"\b(?:back|today|tonight|tomorrow|soon|shortly|later|within|in (?:an?|the next|\d+|two|three|five|ten|a few)(?: \w+)? ?(?:minutes?|mins?|hours?|days?|weeks?)|by \w+|before|next|"
    r"as soon as|when (?:it|they|we)|this (?:morning|afternoon|evening|week)|(?:on|by|until) (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
)
_DOING: Final = r"(?:call|ring|text|phone|email|send|let|look|write|come|bring|deliver|visit|meet|refund|pick|drop|sort|contact|mail|check|fix|take|give|be)"
_WILL: Final = re.compile(
    rf"(?P<before>^|, | and )(?:(?P<who>(?:someone|somebody)(?: from [\w ]+?)?|it|she|he|(?:the|our|a|an) [\w'-]+(?: (?!is\b|are\b|will\b)[\w'-]+)?|(?-i:[A-Z][a-z]+)) (?P<does>{_DOING}|get)s|(?P<we>we|I) (?P<do>{_DOING}|get)|"
    rf"(?P<you>you) (?P<get>get|hear|receive))\b(?P<rest>[^,]*?{_FUTURE}[^,]*)",
    re.IGNORECASE,
)


def will_do(statement: str) -> str:
    """Returns "The office will call you back" for "the office calls you back"."""

    def put_off(found: re.Match[str]) -> str:
        subject, verb = (found["who"] or found["we"] or found["you"]), (found["does"] or found["do"] or found["get"])
        rest = re.sub(rf"\band ({_DOING}|get)s\b", r"and \1", found["rest"])
        return f"{found['before']}{subject} will {verb}{rest}"

    return _WILL.sub(put_off, statement)


_INTERJECTIONS: Final = re.compile(
    r"^(?P<word>(?:(?:I am |I'm )?(?:so |very )?sorry|unfortunately|all right|okay|ok|great|perfect|yes|no|hi|hello|hey|good (?:morning|afternoon|evening)))"
    r"(?= (?:we|it|that is|that was|this|the|they|you|there is|there are|I|your|our|an?|someone|somebody|nobody|thanks for|thank you for|no \w+ \w+)\b)",
    re.IGNORECASE,
)
_PLEASE: Final = r"(?:bring|try|call|put|come|take|wait|pick|keep|use|go|check|leave|park|wear|send|look|ring)"
_BARE_SUBJECT: Final = re.compile(
    r"^(?:(?!(?:the|an?|our|your|my|this|that|no|every|each|any|some|one|what|which|sorry|unfortunately|if)\b)[a-z]+ )?(?:table|order|appointment|booking|reservation|deposit|car|room|class|office|manager|doctor|fee|price|payment|package|parcel|flat|apartment|item|viewing|visit|lesson|delivery|unit|ticket|request|spot|session|key|store|shop|"
    r"door) (?=(?:is|was|has|will|costs|can|comes|starts)\b)",
    re.IGNORECASE,
)
_WORDING: Final = (
    (_BARE_SUBJECT, lambda found: f"the {found.group()[:1].lower()}{found.group()[1:]}"),
    (_INTERJECTIONS, r"\g<word>,"),
    (
        re.compile(
            r"^(sorry|unfortunately) (?=[\w']+(?: \w+)? (?:is|are|isn't|aren't|has|was|can't|don't|doesn't)\b)", re.IGNORECASE
        ),
        r"\1, ",
    ),
    (re.compile(r"^sorry (?=to (?:hear|keep|have|disappoint)|about|that)", re.IGNORECASE), "I'm sorry "),
    (re.compile(r"(?<=[a-z])(?<!\bam)(?<!'m)(?<!so)(?<!be)(?<!are)(?<!very) sorry$", re.IGNORECASE), ", sorry"),
    (re.compile(r"^no (?:problem|worries) (?=(?:we|you|it|that|see|I)\b)", re.IGNORECASE), lambda found: f"{found.group().strip()}, "),
    (re.compile(rf"(?<=\w), (?:and )?(?={_PLEASE}\b(?! \w+ing\b))", re.IGNORECASE), lambda found: f"{found.group()}please "),
    (re.compile(rf"^(see you [\w ]+?),? and (?={_PLEASE}\b)", re.IGNORECASE), r"\1, and please "),
    (re.compile(r"^(please \w.*?) and to ", re.IGNORECASE), r"\1 and "),
    (re.compile(r" and no (?=\w+$)", re.IGNORECASE), ", and there is no "),
    (re.compile(r"\bi (?=(?:put|connect|transfer|call|check|look|send)\b)"), "I will "),
    (re.compile(r"^(?:we (?:are )?)?looking forward$", re.IGNORECASE), "we look forward to it"),
)  # fmt: skip


def write_statement(text: str) -> str:
    """Returns a statement in the words and with the commas of a speaker."""
    text = will_do(write_greeting(text.strip()))
    for pattern, worded in _WORDING:
        text = pattern.sub(worded, text)
    return contract_verbs(text)
