"""English for the rules: words, stems, yes and no. Pure and deterministic."""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, Literal, TypeVar

from offhook.kit.unicode_forms import normalize_text

Polarity = Literal["yes", "no"]

_CONTRACTIONS: Final = (
    (re.compile(r"\bcan't\b|\bcannot\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bain't\b"), "is not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\blet's\b"), "let us"),
    (re.compile(r"\bo'clock\b"), "oclock"),
    (re.compile(r"'m\b"), " am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'d\b"), " would"),
    (re.compile(r"\b(it|that|what|where|there|here|he|she|who|how|long|far)'s\b"), r"\1 is"),
    (
        re.compile(
            r"'s (?=(?:not|no good|too|out|fine|good|great|bad|perfect|better|best|okay|ok|wrong|right|broken|down|off|"
            r"on|red|green|fixed|impossible|tricky|busy|taken|gone|late|missing)\b)"
        ),
        " is ",
    ),
    (re.compile(r"'s (?=been\b)"), " has "),
    (re.compile(r"'s\b|'"), ""),
    (re.compile(r"(\d)(?:st|nd|rd|th)\b"), r"\1"),
    (re.compile(r"\bso[ -]so\b"), "soso"),
    (re.compile(r"\b(?:mm+[ -]?hm+|mhm+|uh[ -]huh)\b"), "yes"),
    (re.compile(r"\b(?:n?uh[ -]uh|mm[ -]mm)\b"), "no"),
    (re.compile(r"\bright (now|away)\b"), "now"),
    (re.compile(r"\bnot (?:really )?not\b"), ""),
    (re.compile(r"\bcheck[ -]up\b"), "checkup"),
    (re.compile(r"\bgonna\b"), "going to"),
    (re.compile(r"\b(?:(?:am|are|is) )?not going to (?:be able to )?make it\b"), "can not make it"),
    (re.compile(r"\byou (?:people|guys|folks)\b|\by'?all\b"), "you"),
    (re.compile(r"\bwanna\b"), "want to"),
    (re.compile(r"'?\bbout\b"), "about"),
    (re.compile(r"'\btil\b"), "till"),
    (re.compile(r"'\bem\b"), "them"),
    (re.compile(r"\b(?:later (?:in the day|that day)|toward the end of the day)\b"), "in the afternoon"),
    (
        re.compile(r"\b(?:earlier in the day|(?<!the )first thing(?! (?:is|was|in|on|i|you)\b))"),
        "earliest in the morning",
    ),
    (re.compile(r"\b([ap])\.\s?m\b\.?"), r"\1m"),
    (re.compile(r"\be-?mail"), "email"),
    (re.compile(r"\bwi[ -]fi\b"), "wifi"),
    (re.compile(r"(\d),(?=\d{3}\b)"), r"\1"),
)
_TOKEN: Final = re.compile(r"\d+(?:[:.]\d+)?|[a-z]+")


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


POLITE: Final = word_set("please thanks thank um uh er erm hmm well oh like just actually hi hello hey")
STOP: Final = word_set("""a an the i you he she it we they me my your his her its our their this that these those is am are was were be been
    being do does did have has had will would can could shall should may might must to of in on at for with from by as
    and or but if then than about into up some any there here what which who when where how want wants wanted like need
    needs get got let know think say says said tell ask asks them us also too very really now""")
# Words in conditions that say nothing about the edge: "The caller wants to …".
CONDITION_STOP: Final = word_set("""caller callers user users customer customers guest guests lead client contact agent wish wishes
    already named name names mention mentions indicate indicates request requests express expresses agreed given
    provided provides answer answers respond responds something anything named hears heard whether else""")
_SYNONYMS: Final = {
    "reschedule": "move",
    "postpone": "move",
    "shift": "move",
    "parcel": "package",
    "delivery": "package",
    "shipment": "package",
    "human": "person",
    "someone": "person",
    "somebody": "person",
    "representative": "person",
    "operator": "person",
    "colleague": "person",
    "staff": "person",
    "people": "person",
    "speak": "talk",
    "meeting": "appointment",
    "booking": "appointment",
    "visit": "appointment",
    "schedule": "book",
    "reserve": "book",
    "arrange": "book",
    "attorney": "lawyer",
    "purchase": "buy",
    "bye": "goodbye",
    "cost": "price",
    "fee": "price",
    "track": "order",
    "refund": "return",
    "calling": "call",
    "occupied": "busy",
    "photo": "picture",
    "kid": "child",
    "children": "child",
    "toddler": "child",
    "assistance": "help",
    "aid": "help",
    "support": "help",
}

_YES: Final = word_set(
    "yes yeah yep yup ya yea aye sure ok okay correct absolutely definitely certainly exactly indeed affirmative"
)
_NO: Final = word_set("no nope nah never negative")
# Whole answers, after removing please, thanks and articles.
_YES_ANSWERS: Final = frozenset(
    (
        "right",
        "that is right",
        "that is correct",
        "is right",
        "go ahead",
        "of course",
        "sounds good",
        "sound good",
        "that sounds good",
        "sounds great",
        "fine",
        "that is fine",
        "perfect",
        "great",
        "good",
        "alright",
        "all right",
        "i do",
        "i did",
        "i have",
        "i am",
        "i would",
        "i will",
        "why not",
        "do it",
        "do that",
        "i agree",
        "agree",
        "i confirm",
        "confirm",
        "with pleasure",
        "true",
        "by all means",
        "i think so",
        "i guess so",
        "that works",
        "works for me",
        "that works for me",
    )
)
_NO_ANSWERS: Final = frozenset(
    (
        "not really",
        "not now",
        "not yet",
        "not today",
        "not at all",
        "i do not",
        "i did not",
        "i have not",
        "i am not",
        "i would not",
        "i will not",
        "do not",
        "i do not think so",
        "i am good",
        "i disagree",
        "wrong",
        "that is wrong",
        "false",
        "not interested",
        "i am not interested",
        "i would rather not",
        "rather not",
        "probably not",
        "maybe not",
        "better not",
        "of course not",
        "i think not",
        "i guess not",
        "i hope not",
        "i would say no",
        "no way",
        "not a chance",
        "not particularly",
    )
)


# After "I do not": who does not know has not said no.
_NO_DENIALS: Final = (["know"], ["mind"], ["remember"], ["understand"], ["care"], ["see"], ["hear"])
_DIGIT_WORDS: Final = dict(
    zip("0123456789", "zero one two three four five six seven eight nine".split(), strict=True)  # noqa: SIM905
)


_MAX_KEPT_CHARS: Final = 300
Read = TypeVar("Read")


def keep_short(read: Callable[[str], Read]) -> Callable[[str], Read]:
    """Keeps what was read of short texts: a turn reads each phrase of an author dozens of times."""
    kept = lru_cache(maxsize=4096)(read)

    @wraps(read)
    def look_up(text: str) -> Read:
        return kept(text) if len(text) <= _MAX_KEPT_CHARS else read(text)

    return look_up


def word_tokens(text: str) -> list[str]:
    """Returns lower-case words and numbers with contractions written out: ``I can't`` → ``i can not``."""
    return list(_read_tokens(text))


@keep_short
def _read_tokens(text: str) -> tuple[str, ...]:
    plain = normalize_text("NFKD", text.lower().replace("\u2019", "'"))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    for pattern, replacement in _CONTRACTIONS:
        plain = pattern.sub(replacement, plain)
    return tuple(_TOKEN.findall(plain))


@lru_cache(maxsize=8192)
def stem_word(word: str) -> str:
    """Stems lightly: plural, -ing, -ed, -ly and a final e go; ``moving``, ``moved`` and ``move`` become one."""
    word = _SYNONYMS.get(word, word)
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    if word.endswith("ll") and len(word) > 5:  # cancelled, canceling
        word = word[:-1]
    return stem_word(_SYNONYMS[word]) if word in _SYNONYMS else word


def essential_tokens(text: str) -> list[str]:
    """Returns tokens without politeness and fillers, single digits as words; "thank you" is dropped as a whole."""
    return list(_read_essentials(text))


@keep_short
def _read_essentials(text: str) -> tuple[str, ...]:
    words = word_tokens(text)
    kept = []
    for index, word in enumerate(words):
        if word in POLITE or (word in ("you", "much") and index and words[index - 1] in ("thank", "you", "very")):
            continue
        if word == "so" and not index:
            continue
        kept.append(_DIGIT_WORDS.get(word, word))
    return tuple(kept)


def content_stems(text: str, *, extra_stop: frozenset[str] = frozenset()) -> list[str]:
    """Returns the stems of the words that carry meaning, in order. "not" and "no" carry meaning."""
    return [stem_word(word) for word in essential_tokens(text) if word not in STOP and word not in extra_stop]


@keep_short
def answer_polarity(text: str) -> Polarity | None:
    """Returns the yes or no that an answer begins with or is as a whole; else None."""
    words = essential_tokens(text)
    if words[1:] and words[-1] == "then":
        words = words[:-1]
    if not words:
        return None
    whole = " ".join(words)
    if whole in _NO_ANSWERS:
        return "no"
    if whole in _YES_ANSWERS:
        return "yes"
    if words[0] in _NO:
        return "no"
    if words[0] in _YES:
        return "no" if len(words) == 2 and words[1] == "not" else "yes"
    if words[0] == "i" and words[1:3] == ["do", "not"] and words[3:4] not in _NO_DENIALS:
        return "no"
    return None


@keep_short
def is_plain_polarity(text: str) -> bool:
    """Returns True for a bare yes or no: "yes please", "no thank you", "sure, go ahead"."""
    kind = answer_polarity(text)
    if kind is None:
        return False
    words = essential_tokens(text)
    if kind == "no" and words[1:] == ["not"]:
        return True
    answers, single = (_YES_ANSWERS, _YES) if kind == "yes" else (_NO_ANSWERS, _NO)
    while words and words[0] in single:
        words = words[1:]
    return not words or " ".join(words) in answers or words in (["it", "is"], ["not"])
