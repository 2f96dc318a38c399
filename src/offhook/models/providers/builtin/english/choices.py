"""Tells days and times that a caller chooses from those that are only mentioned: "nine is when I have yoga". Pure."""

import re
from functools import lru_cache
from typing import Final

from offhook.models.providers.builtin.english import assent, spoken_values
from offhook.models.providers.builtin.english.words import stem_word, word_set, word_tokens

# What a choice is made of, beside the words of a yes and the value.
_CHOOSING: Final = word_set("""on at the next this in for by around about like maybe probably perhaps possibly how what which do does is are be
    can could may might come coming get getting go take see seen make book booking schedule set put move push change reschedule switch
    want wanted need would prefer rather better best good suit suits work works free open available possible earliest latest soonest
    first thing sometime anytime any early late morning mornings afternoon afternoons evening evenings noon midday midnight night
    lunchtime oclock am pm half past quarter sharp day days week weeks month date time slot spot appointment checkup check cleaning
    visit or and then instead actually say said i mean meant thinking try also either you your me my our us him her them from of
    with one ones second third hour hours minutes okay that it would will be am have has got find a an as well later earlier
    here there mine ours else more after clock o he she they off free says said day prefers likes something anything whatever whenever most nearest closest other
    grand lovely brilliant perfect great fine ideal wonderful super only just chance itself kindly let all both convenient""")
_VALUES: Final = frozenset(
    {
        *spoken_values.WEEKDAYS,
        *(f"{day}s" for day in spoken_values.WEEKDAYS),
        *spoken_values.MONTHS,
        *spoken_values.DIGITS,
        *word_set(
            "today tomorrow tonight weekend ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen "
            "twenty thirty forty fifty first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
            "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth end middle beginning"
        ),
    }
)
# With one of these, a longer sentence is about the visit itself: "my son chipped a tooth and needs to come in on Friday".
_ABOUT_VISIT: Final = re.compile(
    r"\b(?:book|booking|schedule|reserve|come(?! home| back)|coming (?:in|by|over)|get (?:in|me|us|an?|seen|it)|squeeze|fit|appointments?|visit|"
    r"check ?up|cleaning|opening|slots?|available|free|put (?:me|us)|set (?:up|something)|move|reschedule|push|seen|see (?:the|a|you|someone|somebody|dr)|"
    r"day off|do you have|have you got|got anything|deliver\w*|pay|paying|meet)\b"
)
_REJECTS: Final = re.compile(
    r"\b(?:not|never|no|nothing|nobody|moved (?:here|in|house|to)|born|until|till|before|(?<!quarter )(?<!half )(?<!ten )(?<!five )(?<!twenty )(?<!day )(?<!week )after(?= \w)|than|except|without|"
    r"(?:he|she|they|husband|wife|son|daughter) (?:also |usually |always )?works?(?! (?:for|with|around))|(?:get|gets|wake|wakes|stay) up|was|were|had|last|busy|away|skip|already (?:have|got|booked|full|something)|(?<!you )have (?:something|plans|an?|another|my)(?! (?:slot|time|day|look|preference))|avoid|hate|too (?:early|late|soon|far)|nightmare|impossible|unless|if|besides|excepted|excluding)\b"
)
_CLAUSES: Final = re.compile(r"[,;.!?…]+(?!\d)|\b(?:because|since|but|so|cause|cuz)\b", re.IGNORECASE)
# An hour in digits, a date in digits.
_FIGURE: Final = re.compile(r"\d+(?:[:.]\d+)?$")


_SUITS: Final = re.compile(
    r"\b(?:that|it|which) (?:would |will |could |should )?(?:works?|suits?|be (?:good|fine|best|great|grand|lovely|perfect|ideal|the (?:one|day|time)))\b"
)


_FOR_WHOM: Final = re.compile(
    r"\b(?P<fits>good|best|better|fine|okay|works?|suits?|free)(?: for)? (?:my|our|the) \w+\b", re.IGNORECASE
)


@lru_cache(maxsize=512)
def drop_mentions(text: str, known: str = "") -> str:
    """Returns a text without the clauses whose day or time is only mentioned.

    ``known`` is what the agent said and what an author expects: its words belong to an answer.
    """
    clauses = [clause.strip() for clause in _CLAUSES.split(text)]
    if not any(map(_has_value, clauses)) or (_SUITS.search(text) and not _REJECTS.search(text)):
        return text
    kept = [clause for clause in clauses if clause and (not _has_value(clause) or _is_choice(clause, known))]
    return text if len(kept) == len([clause for clause in clauses if clause]) else ", ".join(kept)


def _has_value(clause: str) -> bool:
    return spoken_values.day_phrase(clause) is not None or spoken_values.time_of_day(clause) is not None


def _is_choice(clause: str, known: str) -> bool:
    words = word_tokens(_FOR_WHOM.sub(r"\g<fits>", clause))
    said = " ".join(words)
    if _REJECTS.search(said):
        return False
    explained = set(word_tokens(known))
    stems = set(map(stem_word, explained))
    left = [
        word
        for word in words
        if not (
            word in _CHOOSING or word in _VALUES or word in explained or _FIGURE.match(word) or stem_word(word) in stems
        )
        and assent.unexplained_words(word)
    ]
    return not left or _ABOUT_VISIT.search(said) is not None
