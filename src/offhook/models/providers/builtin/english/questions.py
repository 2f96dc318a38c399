"""Tells questions from wishes in their form: "can I book a visit?". Pure."""

import re
from typing import Final

from offhook.models.providers.builtin.english.polarity import SAYS_YES
from offhook.models.providers.builtin.english.words import word_tokens

# Refused values: "anything but Friday", "not Monday", "Tuesday does not work".
_VALUE: Final = (
    r"(?:(?:on|at|the|next|this|in the|a|an|as|to|any) )*(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|"
    r"weekends?|weeks?|today|tomorrow|tonight|mornings?|afternoons?|evenings?|early|late|noon|\d+(?::\d+)?|"
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b(?: oclock| ?[ap]m\b)?"
)
# Days and times in a row. Atomic: callers' words must not make it try every way to split them.
VALUE_PATTERN: Final = rf"(?>{_VALUE}(?: (?:or |and )?{_VALUE})*)"
FILLERS: Final = frozenset(
    [
        "um",
        "uh",
        "er",
        "erm",
        "hmm",
        "mm",
        "well",
        "so",
        "ok",
        "okay",
        "oh",
        "hi",
        "hello",
        "hey",
        "and",
        "please",
        "sorry",
        "excuse",
        "me",
        "actually",
        "just",
        "right",
        "yeah",
        "yes",
        "no",
        "thanks",
        "thank",
        "you",
        "good",
        "morning",
        "afternoon",
        "evening",
        "quick",
        "question",
        "wait",
        "hang",
        "on",
        "hold",
        "ha",
        "haha",
        "hah",
        "listen",
        "look",
        "great",
        "then",
    ]
)
# What a question begins with.
ASKING_WORDS: Final = frozenset(
    [
        "what",
        "when",
        "where",
        "who",
        "whom",
        "whose",
        "how",
        "which",
        "why",
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "can",
        "could",
        "may",
        "might",
        "will",
        "would",
        "should",
        "must",
        "has",
        "have",
        "am",
    ]
)
_ASKS: Final = re.compile(
    r"\b(tell me (?:what|when|where|who|how|which|why|if|about)|(?:want|like|need|love) to know|wondering|have a question|got a question|"
    r"(?:do you|can you|any) (?:know|idea|tell)|what about|how about|remind me)\b"
)
# Asked as questions and meant as wishes: "can I book …", "could you squeeze me in", "is Thursday all right".
_WISHES: Final = re.compile(
    r"\b(?:(?:(?:can|could|may|might|would|will) (?:i|we|you|some(?:one|body))|if (?:i|we|you) (?:can|could|might|may))(?: guys)?(?: please| maybe| possibly| just| perhaps)*(?: have| mind| get| be able)?"
    r"(?: to| please)? (?:book|booking|make|making|get|getting|have|having|come|do|doing|schedule|reserve|arrange|squeeze|fit|put|see|"
    r"speak|talk|move|moving|change|changing|cancel|canceling|reschedule|switch|push|swap|send|sending|call|ring|phone|transfer|connect|"
    r"check|track|look|find|return|give|try|help|say|take|chat|bring|drop|pop|rebook|set|start|go|use|free|fix|keep|add|"
    r"order|read|stop|remove|delete|leave|pay|skip|finish|email|text|buy|be seen|be transferred)\b|"
    rf"how (?:is|are|does) {VALUE_PATTERN}|"
    rf"(?:is|would|does|will|are) (?:{VALUE_PATTERN} ?|there |it )(?:\w+ ){{0,3}}?(?:okay|ok|free|possible|available|fine|work|works|good|all right|alright|suit)\b|"
    r"(?:be|is|was) (?:at all )?possible (?:for (?:\w+ ){1,2})?to (?:just |please )?(?:book|make|get|have|come|schedule|arrange|squeeze|fit|see|speak|talk|move|change|cancel|reschedule|send|return|check|track|look up|find out|go)\b|"
    r"is (?:it|there) (?:possible|any chance|any way|a way|someone|somebody|anyone|anybody)\b|any chance\b|"
    r"(?:how|what) about\b|how (?:do|can|would|could|should) (?:i|we) (?:return|send|book|make|cancel|change|move|get (?:my money|a refund|a label)|track|order|report|reschedule)\b|would it be (?:ok|okay|possible|all right|alright)\b|do you have (?:anything|something|any|a (?:slot|time|free))\b|"
    r"have you (?:got )?(?:anything|something|any)\b|would you mind\b|why (?:not|would not i|do not (?:we|you))\b|can not you\b)"
)
# A wish too, whatever it begins with: "what is your earliest opening?", "when is the soonest I can come in?".
_WISHES_SLOT: Final = re.compile(
    r"\b(?:earliest|soonest|next|first) (?:available |possible |free )?(?:opening|appointment|slot|spot|time|day|one)\b|"
    r"\b(?:earliest|soonest|how soon)\b.*\b(?:come|see|get|seen|in|available|free)\b|"
    r"\b(?:got|have|is there|are there) (?:anything|something|any (?:slots?|spots?|openings?|times?))\b(?! (?:earlier|later|sooner|before|after|else|besides|other)\b)|"
    r"\b(?:could|can|would) you (?:please )?(?:let|tell|remind|inform) (?!me\b|us\b)\w+"
)
# "How friendly everybody was" asks nothing.
_EXCLAIMS: Final = re.compile(
    r"^(?:just )?how (?!much|many|long|far|late|early|soon|often|old|big)\w+ (?:\w+ ){1,4}(?:was|were|is|are)$"
)
# "I'd like a check-up on Tuesday?" asks nothing, however it is said.
_TELLS_WISH: Final = re.compile(
    r"^(?:(?:um|uh|oh|well|so|hi|hello|hey|yes|and) )*i (?:would like|want|need|am hoping|was hoping) (?!to (?:know|ask|find|hear|check|see)\b)"
)
# A question that is appended to a statement.
TAG: Final = re.compile(
    r"^(?:is|are|was|were|do|does|did|has|have|would|will|can|right|okay|yeah|eh|huh)(?: not)?(?: (?:it|they|you|he|she|that|we|i))?$|"
    r"^(?:(?:do )?you )?hear(?: me)?$"
)
_ASKED: Final = re.compile(r"\b(asks?|wants to know|where (?:an?|the|their)|has a question)\b", re.IGNORECASE)


def is_about_question(condition: str) -> bool:
    """Returns True for an author's condition of an edge that a question takes: "the caller asks when you are open"."""
    return _ASKED.search(condition) is not None


def asks_question(text: str) -> bool:
    """Returns True for a question that wants an answer, not for a wish in the form of one ("can I book a visit?")."""
    for sentence in re.findall(r"[^.!?;]+[.!?;]*", text):
        clause = sentence
        words = word_tokens(clause)
        said = " ".join(words)
        last = said if "," not in clause else " ".join(word_tokens(clause.rpartition(",")[2]))
        if TAG.match(last) and last != said:
            words = word_tokens(clause.rpartition(",")[0])
            said, clause = " ".join(words), ""
        is_request = words[:1] == ["please"]
        # "you have the wrong person" asks nothing
        is_told = words[:1] == ["you"]
        while words and words[0] in FILLERS and words[0] not in ASKING_WORDS:
            is_told = is_told or (words[0] != "thank" and words[1:2] == ["you"])
            words = words[1:]
        is_open = words[:1] in (["what"], ["who"], ["why"]) and words[1:2] not in (["about"], ["not"], ["if"])
        if "?" not in clause and SAYS_YES.search(said):
            continue
        if "?" not in clause and _EXCLAIMS.match(said):
            continue
        if not words or _TELLS_WISH.match(said) or _WISHES_SLOT.search(said) or (_WISHES.search(said) and not is_open):
            continue
        begins = words[0] in ASKING_WORDS and not (
            (is_told and "?" not in clause)
            or
            # "please have her call me"
            (is_request and words[0] in ("have", "do"))
            or (words[0] in ("have", "do", "may", "will") and len(words) < 3)
            or words[1:2] == ["not"]
            or words[:2] in (["do", "it"], ["have", "a"], ["is", "okay"], ["is", "ok"], ["is", "fine"], ["is", "good"])
        )
        later = re.search(
            r"\b(?:but|and|also|so|first|or|,) (?:what|when|where|who|how|which|why|is|are|do|does|can|will) (?:\w+ )+",
            f"{said} ",
        )
        if (
            begins
            or _ASKS.search(said)
            or ("?" in clause and (len(words) > 2 or said.startswith("and ")))
            or (later and "?" in clause)
        ):
            return True
    return False
