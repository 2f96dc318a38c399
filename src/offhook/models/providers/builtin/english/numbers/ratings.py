"""Numbers that answer: with which a caller rates something, or replaces what they said before. Pure."""

import re
from collections.abc import Collection
from typing import Final

from offhook.models.providers.builtin.english import spoken_values
from offhook.models.providers.builtin.english.utterance import CallerUtterance, parse_utterance
from offhook.models.providers.builtin.english.words import word_set, word_tokens

# Of a longer sentence, a single number may be anything.
_MAX_WORDS: Final = 9
MAX_OF_TEN: Final = 10
_SAID: Final = re.compile(
    r"\bi (?:had |would )?(?:just |only )?(?:said|meant|say|mean|(?:wanted|tried|was going) to say)\b|\bmis(?:heard|understood)\b|\b(?:it|that) should (?:be|have been)\b|"
    r"\bmake (?:it|that|my (?:score|rating|answer|mark)) an? \w+\b"
)
_OPENS_WITH_NO: Final = re.compile(r"^(?:(?:oh|sorry|wait|ah|well|dear|actually|um|uh) )*(?:no|actually)\b")
# What would have been, was once, or others say: "I'd give it a five if …", "it's a four-star hotel on the website".
_NO_RATING: Final = re.compile(
    r"\b(?:if (?!i (?:had|have) to|you ask|you want)|unless|used to|last (?:time|year)|(?:was|were|is) supposed|should have been|could have been|"
    r"would have (?:been|said|given)|almost|nearly|(?:web ?site|online|brochure|says|advertised|on the (?:sign|wall|door)|calls? itself)|questions?|"
    r"(?:is|means|be|was) (?:(?:one|two|three|four|five|\d) )?(?:the |a )?(?:best|worst|highest|lowest|top|bottom|good|bad))\b",
    re.IGNORECASE,
)
# "I didn't say two, I said five", "I can't give it a five", "nowhere near a four", "less than three".
_DENIED: Final = re.compile(
    r"(?<!nothing )(?<!no )(?<!not )\b(?:not|never|nobody|hardly|barely|scarcely|nowhere|far from|no way|refuse|(?:less|more|better|worse|lower|higher) than|above|below|under|over|short of|"
    r"anything but|neither|nor|instead of|(?<=is )no|(?<=was )no|(?<=am )no)(?! (?:less|more|lower|higher) than) "
    r"(?:(?:say|said|mean|exactly|quite|really|even|an?|the|give|giving|gives|gets?|call|calling|put|rate|rating|deserves?|worth|earn|get|go|went|as|high|low|near|close|from|of|than|to|it|is|be|was|you|them|this|that|me|my|"
    r"stay|anybody|anyone|anywhere|down|think|believe|would|for|up|feel|like) ){0,8}"
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)s?\b(?: (?:or|nor|and) (?:an? )?(?:\d+|one|two|three|four|five)\b)?"
)
# "four it was good", as a recognizer writes it and people type
_RATED_FIRST: Final = re.compile(
    r"^(?:(?:an?|um|uh|well|oh) )*(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)(?= (?:it|they|that|because|cos|i|my) \w+ (?!out\b))",
    re.IGNORECASE,
)
# "Five? No."
_REJECTED: Final = re.compile(
    r"\b(?:an? )?(?:\d+|one|two|three|four|five)(?: stars?)?\s*\?+\W*(?:no|nope|nah|hardly|never|not)\b", re.IGNORECASE
)
# "I was in room three".
_PLACE: Final = re.compile(
    r"\b(?:room|floor|suite|building|table|gate|unit|number \w+ on)(?: number)? (?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)\b(?! stars?)",
    re.IGNORECASE,
)
# "We came on the two o'clock train", "that's seat four C"
_NAMED: Final = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten) ?(?:o'?clock|am|pm|[b-hj-z])\b(?!')", re.IGNORECASE
)
_OUT_OF: Final = re.compile(r"\b(?:out of|of) (?:a possible )?(?:\d+|five|ten|a hundred)\b", re.IGNORECASE)
# "Ten out of ten" of five stars.
_FULL_MARKS: Final = re.compile(
    r"\b(?:(?:a |an |the )?(?:perfect |solid |full )?(?:ten|10)(?: out of (?:ten|10)|/10)|(?:full|top) marks|a hundred percent|100 ?(?:%|percent)|a perfect (?:score|ten))(?!\w)",
    re.IGNORECASE,
)
_GIVES: Final = re.compile(r"\b(?:give (?:it|you|that|this|them)|i would say|rate it|call it|make it)\b", re.IGNORECASE)
_TOLD: Final = re.compile(
    r"\b(?:it (?:was|is)|would (?:give|say|rate)(?: (?:it|you|that|them|the \w+))?|give (?:it|you|them|the \w+)|rate it|call it) (?:(?:like|about|easily|definitely|clearly|a|an|solid|perfect|strong|full|at) ){0,3}"
    r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten)\b(?: stars?)?(?= |$)(?! (?:\w+ )?(?:minutes?|hours?|nights?|days?|people|stars? hotel|oclock|am|pm|in the))|"
    r"\b(?:\d{1,2}|one|two|three|four|five) (?:stars(?: from me| all around)?|out of (?:five|ten|\d+))\b"
)
_AROUND_NUMBER: Final = word_set("""like a an the so then well um uh oh er i would say said mean meant give it that is be guess think suppose no not yes yeah make
    call about maybe probably actually sorry just stars star points point""")
_CLAUSES: Final = re.compile(
    r"[;.!?]+(?!\d)|,\s*(?:so|but|and|then|now)?\b|\b(?:but|because|since|so)\b", re.IGNORECASE
)


def rating_in(text: str, scale: Collection[float]) -> float | None:
    """Returns the one number of a scale that a caller rates with; None when there is none or more than one.

    A number of things ("five of us") and one that would have been ("a five if it weren't for the noise") rate nothing.
    """
    said = parse_utterance(text)
    if has_full_marks(said.heard) and max(scale, default=0) < MAX_OF_TEN and said.polarity != "no":
        return max(scale, default=None)
    standing = said.standing if said.is_correction or said.refused else said.heard
    standing = drop_denied(_REJECTED.sub(" ", _RATED_FIRST.sub(r"\g<0>,", standing)))
    clauses = [clause for clause in _CLAUSES.split(standing) if clause.strip()]
    given = _GIVES.split(" ".join(word_tokens(standing)))
    if clauses and is_only_number(clauses[0]) and not said.is_correction:
        # "four, and the best thing was the breakfast, three mornings running", "five, and I'd give it ten if I could"
        clauses = clauses[:1]
    elif len(given) > 1 and spoken_values.all_numbers(given[-1]):
        # "I was in room two oh four and I'd give it a five"
        clauses = [clause for clause in _CLAUSES.split(given[-1]) if clause.strip()]
    found = {
        number
        for clause in clauses
        if not _NO_RATING.search(clause)
        for number in spoken_values.all_numbers(_NAMED.sub("", _PLACE.sub("", _OUT_OF.sub("", clause))))
        if number in scale
    }
    return found.pop() if len(found) == 1 else None


def has_full_marks(text: str) -> bool:
    """Returns True for "ten out of ten", the highest number of any scale."""
    return _FULL_MARKS.search(text) is not None


def tells_rating(text: str) -> bool:
    """Returns True for a rating that has not been asked for yet: "it was a five", "four stars from me"."""
    return _TOLD.search(" ".join(word_tokens(text))) is not None


def drop_denied(text: str) -> str:
    """Returns a text without the numbers that a caller says it is not."""
    parts = re.split(f"({_CLAUSES.pattern})", text, flags=re.IGNORECASE)
    parts[::2] = [_DENIED.sub(" ", " ".join(word_tokens(clause))) for clause in parts[::2]]
    return " ".join(parts)


def is_only_number(text: str) -> bool:
    """Returns True for an answer that is a number and nothing else: "like a three", "I'd say four"."""
    words = word_tokens(_OUT_OF.sub("", text))
    left = [word for word in words if word not in _AROUND_NUMBER and not spoken_values.all_numbers(word)]
    return not left and bool(spoken_values.all_numbers(" ".join(words)))


def drop_numbers(text: str) -> str:
    """Returns a text without the words of its numbers."""
    return " ".join(word for word in text.split() if not spoken_values.all_numbers(word))


def changes_to_number(said: CallerUtterance, text: str) -> bool:
    """Returns True where the only number in the ``text`` of a change can be nothing but the new value."""
    if not (said.is_correction or said.wants_change or said.is_modified) or len(spoken_values.all_numbers(text)) != 1:
        return False
    return any(spoken_values.all_numbers(part) and len(word_tokens(part)) <= _MAX_WORDS for part in text.split(", "))


def says_it_again(text: str) -> bool:
    """Returns True for "no, I said one, not four"."""
    said = " ".join(word_tokens(text))
    is_corrected = parse_utterance(text).is_correction or _OPENS_WITH_NO.search(said) or "wrong" in said
    return _SAID.search(said) is not None and bool(is_corrected)
