"""Refusals that are no answer to what was asked: "not today", "I would rather not say"; and farewells along with an
answer. Pure."""

import re
from functools import lru_cache
from typing import Final

from offhook.models.providers.builtin.english.words import content_stems, essential_tokens, word_tokens

_ANOTHER_TIME: Final = (
    r"(?:(?:at |in |on )?(?:some |an)other|(?:at )?a (?:later|different)|next|some) (?:time|day|week|month)"
)
_COMES_BACK: Final = re.compile(
    rf"\b(?:i|we) (?:will|am going to|are going to|would rather|have to)(?: just| probably| have to)? (?:call|ring|phone|get back|check back)\b(?: (?!me\b)\w+){{0,5}}? (?:back|again|later|to you|before|{_ANOTHER_TIME})\b|"
    rf"\b(?:i|we) (?:will|am going to) (?:just )?(?:try|call|ring|phone) (?:again|back)\b|\b(?:i|we) (?:will|would rather) (?:just )?(?:call|do (?:it|this|that)) {_ANOTHER_TIME}\b|"
    rf"\blet me (?:call|ring|phone|get back to)(?: (?!me\b)\w+){{0,4}}? (?:back|again|later|you|{_ANOTHER_TIME})\b|"
    rf"^(?:(?:oh|well|no|thanks|thank you|sorry|you know what|maybe|perhaps|drop it|forget it|never mind|nevermind) )*(?:some other (?:time|day)|next time|not this time)(?: (?:maybe|perhaps|then|thanks|thank you|please|though))*$|"
    r"\bhold off for (?:now|the time being)\b|\bfor the time being no\b|"
    r"\b(?:forget|drop|scrap|leave|call off) the whole (?:thing|business)\b"
)
_HOLDS_OFF: Final = re.compile(r"\bhold off for (?:now|the time being)\b")
# "Never mind, I'll call back": "forget it, Thursday is fine" goes on.
_FORGETS: Final = re.compile(
    r"^(?:(?:oh|well|no|ah|you know what) )*(?:forget it|never mind|nevermind|scrap that|drop it)\b"
)
_CALLS: Final = re.compile(r"\b(?:i|we) (?:will|can|am going to) (?:\w+ )?(?:call|ring|phone|manage|find|go)\b")
_OPENS: Final = re.compile(
    r"^(?:(?:oh|well|um|uh|sorry|hi|hello|yeah) )*(?:no (?:thanks|thank you|need|\w+ (?:needed|necessary|required))|not (?:today|this time|now|right now|for me|at the moment|just now)|thanks but|thank you but|i am (?:good|fine|okay|all set)\b)"
)
_DECLINES: Final = re.compile(
    r"\b(?:not (?:interested|looking to|planning (?:to|on)|here to|trying to|going to)(?! (?:be able|make|come|lie|cancel|change|move)\b)|"
    r"(?:do|did|would) not (?:need|want|care for) (?:an|a|any) (?!person|human|operator|agent|\w+ (?:later|earlier)\b)|already (?:booked|scheduled|been|paid)(?: (?:it|one|online|myself|that|there))*$|rather not (?:book|make|schedule|order|buy|do)|no need (?:to|for)|no \w+ (?:needed|necessary|required))\b"
)
# "I don't need a person, just book me in".
_ASKS_ELSE: Final = re.compile(
    r"\b(?:just|please|but|instead) (?:book|make|schedule|give|get|put|tell|let|set|move|change|cancel|leave)\b|\b(?:wanted|calling) to (?:know|ask|see|find|tell)\b"
)
_KEEPS: Final = re.compile(
    r"(?<!not )\b(?:rather|will|going to|want to|like to) (?:just )?keep (?:it|them|this|these|mine)\b"
)
# "Don't put it in just yet", "I've got to clear it with my boss first".
_POSTPONES: Final = re.compile(
    r"\bnot (?:\w+ ){0,5}(?:just |quite )?yet\b|\bhold off\b|"
    r"\b(?:have|has|need|got|want|like|going|better) (?:got )?(?:to )?(?:clear|check|run|discuss|talk|ask|confirm|go over|sleep|think|mull)\b(?: \w+){0,4}? (?:with|by|past|to|over|about|on|first|before)\b|"
    r"\blet me (?:check|ask|talk|sleep|think|clear|run|mull|discuss|see what|see if)\b"
)
_WITHHOLDS: Final = re.compile(
    r"\b(?:(?:do not (?:want|like|care|have) to|will not|am not (?:going to|comfortable)) (?:say|tell|answer|talk about|go into|give|giving|share|sharing|saying)\b(?! up)|(?:rather|prefer) not (?:to )?(?:say|tell|answer|talk about|give|share)|none of your (?:business|concern)|"
    r"why do you (?:ask|need|want)|(?:is|that is) (?:private|personal))\b"
)
_RATHER_NOT: Final = re.compile(r"\b(?:rather|prefer) not(?: to)?$")
# Picks among what was offered without naming it.
_ANY: Final = re.compile(
    r"\b(?:any(?:time|thing|day| time| day| of| one)?|what(?:ever|'?s)|which(?:ever)?|every(?:thing)?|all|either|both|earliest|soonest|latest|nearest|first|last|second|third|next|"
    r"early|late|earlier|later|middle|same|you (?:choose|pick|decide|tell)|not matter|do not (?:care|mind)|flexible|open|surprise|best|better|one|asap|as soon|soon|now|today|tomorrow|lunch\w*|noon|mornings?|afternoons?|evenings?)\b"
)
_NO_TIME: Final = re.compile(
    r"\b(?:take (?:your|all the) time|ran out of time|out of time|more time|(?:bad|good|long|hard|rough|busy|great|nice|wasted) (?:time|day)|last (?:time|day)|(?:of|for) the (?:time|day)|"
    r"one of these days|any ?more|any other \w+|day by day|no time|time (?:being|to think)|what time|waste of|some time|(?:this|next|all the|every|each|of) time|too long|all day)\b"
)
# "It's not that I don't want to come, I just can't", "I didn't say I'm not coming, I said I come late"
_NOT_THAT: Final = re.compile(
    r"\b(?:no,? )*(?:it['\u2019]?s not|it is not|it isn['\u2019]?t|not) that (?:i|we|it|he|she)\b[^.,;!?]*[.,;]\s*|"
    r"\b(?:i|we)(?:(?:['\u2019]?m| am|['\u2019]?re| are) not saying| (?:didn['\u2019]?t|did not|never) sa(?:y|id)) (?:that )?"
    r"(?:i|we)(?:['\u2019]?m| am|['\u2019]?re| are)? ?(?:not|can['\u2019]?t|cannot|won['\u2019]?t|don['\u2019]?t) \w+,? (?:but )?",
    re.IGNORECASE,
)
_PARTS_BEFORE_FAREWELL: Final = re.compile(r"(?<=[,.;!?])\s+")
_DENIED_ANSWER: Final = re.compile(
    r"\bi(?:(?:['\u2019]?m| am) not saying| (?:didn['\u2019]?t|did not|never) (?:say|said)) (?:no|yes|bye|goodbye|stop)\b[ ,.;]*",
    re.IGNORECASE,
)
_FAREWELL: Final = re.compile(
    r"^(?:(?:and|so|okay|ok|right|alright|then|well|now|anyway|(?:many )?thanks|thank you|cheers|ta|(?:good ?)?bye|bye bye|cheerio|take care|see you|"
    r"(?:you )?have (?:yourself )?an? (?:good|nice|great|lovely|wonderful|pleasant) (?:day|one|evening|weekend|night|morning|afternoon|time)|"
    r"(?:so much|very much|a lot|again|for (?:now|calling|everything|your (?:help|time))|soon|then|now|love|dear|mate))(?: |$))+$"
)

_SENTENCES: Final = re.compile(r"(?<=[,.;!?\u2026])\s*")
_WHOLE_SENTENCES: Final = re.compile(r"(?<=[.!?\u2026])\s*")
_ONLY_WAITS: Final = re.compile(
    r"^(?:(?:oh|ah|um|uh|hmm|mm|sorry|okay|please|well|now|and|no|just) )*(?:wait|hang on|hold on|hold the line|bear with me|"
    r"let me (?:think|see|look|check)|(?:give me |just |wait )*(?:a|an|one|half a) (?:sec|second|minute|moment|tick|mo))"
    r"(?: (?:wait|now|please|there|a (?:sec|second|minute|moment|tick|mo)|one (?:sec|second|minute|moment)|for me|sorry|hang on|hold on))*$"
)


def puts_off(text: str) -> bool:
    """Returns True for a caller who gives up for now: "forget it, I'll call some other time"."""
    said = " ".join(word_tokens(text))
    return _COMES_BACK.search(said) is not None or (
        _FORGETS.search(said) is not None and _CALLS.search(said) is not None
    )


def holds_off(text: str) -> bool:
    """Returns True for "I'll hold off for now"."""
    return _HOLDS_OFF.search(" ".join(word_tokens(text))) is not None


def postpones(text: str) -> bool:
    """Returns True for who decides later: "not just yet", "I have to ask my boss first"."""
    return _POSTPONES.search(" ".join(word_tokens(text))) is not None


def declines(text: str) -> bool:
    """Returns True for what begins with a refusal, or is one: "not today, thanks", "I'm not looking to book"."""
    said = " ".join(word_tokens(text))
    if _ASKS_ELSE.search(said):
        return False
    return _OPENS.search(said) is not None or _DECLINES.search(said) is not None


def keeps_it(text: str) -> bool:
    """Returns True for who keeps what could go back: "I'd rather keep it"."""
    return _KEEPS.search(" ".join(word_tokens(text))) is not None


def withholds_value(text: str) -> bool:
    """Returns True for who would rather not give a name or a number: "I'd rather not", too."""
    return withholds_answer(text) or _RATHER_NOT.search(" ".join(word_tokens(text))) is not None


def withholds_answer(text: str) -> bool:
    """Returns True for "I'd rather not say"."""
    return _WITHHOLDS.search(" ".join(word_tokens(text))) is not None


def picks_any(text: str) -> bool:
    """Returns True for "any day" and "the first one"; "take your time" and "one of these days" pick nothing."""
    return _ANY.search(_NO_TIME.sub(" ", " ".join(word_tokens(text)))) is not None


def without_denied_answer(text: str) -> str:
    """Returns what is said beside "I didn't say no", which is not what it sounds like."""
    return _DENIED_ANSWER.sub("", text).strip() or text


def without_disclaimer(text: str) -> str:
    """Returns what is said beside "it's not that I don't want to come", which is not what the caller wants."""
    rest = _NOT_THAT.sub("", text).strip()
    return rest if content_stems(rest) else text


def after_waiting(text: str, *, is_sentence: bool = False) -> str | None:
    """Returns what is said after "hang on, let me think"; None where nothing is, or the caller waits for nothing.

    ``is_sentence``: only what is a sentence of its own. "Hold on, I have to sign for a package" is still the wait.
    """
    split = _WHOLE_SENTENCES if is_sentence else _SENTENCES
    parts = [part.strip() for part in split.split(text) if part.strip()]
    waits = [at for at, part in enumerate(parts) if _ONLY_WAITS.match(" ".join(word_tokens(part)))]
    rest = " ".join(parts[waits[-1] + 1 :]) if waits else ""
    return rest if content_stems(rest) else None


@lru_cache(maxsize=512)
def without_farewell(text: str) -> str:
    """Returns what is said before the caller takes leave; all of it where nothing else is said."""
    parts = _PARTS_BEFORE_FAREWELL.split(text.strip())
    while len(parts) > 1 and _FAREWELL.match(" ".join(word_tokens(parts[-1]))):
        parts.pop()
    left = " ".join(parts).rstrip(",; ")
    return left if content_stems(left) or essential_tokens(left) else text
