"""Splits an author's prompt into single instructions: "greet, ask their name and say goodbye" is three. Pure."""

import re
from collections.abc import Iterator
from typing import Final

from offhook.models.providers.builtin.english.wording.addressing import WHO
from offhook.models.providers.builtin.english.wording.statements import part_farewell
from offhook.models.providers.builtin.english.wording.writing import mend_writing

_SENTENCE: Final = re.compile(r"(?:[^.!?\n]|[.](?=\d|[a-z]))+[.!?]*")
_PERSONA: Final = re.compile(
    r"^(you are|you're|your (name|role|job) is|act as|always|never|do not|don't|be |keep |speak|use |if |when (?!(?:do|does|did|is|are|can|would|will|should) )|once |unless |wait |listen )",
    re.IGNORECASE,
)
# "if it's an emergency tell them to call 911, otherwise ask for their name"
_OTHERWISE: Final = re.compile(
    r"^(?:if|when|unless) .*?[,;] (?:otherwise|else|if not),? (?:just )?(?=ask|say|tell|get|take|find|thank|confirm)",
    re.IGNORECASE,
)
# "be nice, ask their name"
_MANNER_FIRST: Final = re.compile(
    r"(?:be|don't|do not|keep|speak|never) [^,]{2,40}, (?:ask|say|tell|find out|get|take|thank|confirm|check)\b",
    re.IGNORECASE,
)
ASKS: Final = r"(?:ask|enquire|inquire|find out|figure out|learn|determine|establish|collect|gather|get(?! (?:well|back|in|here|there|home|going|to)\b)|obtain|take(?! care\b)(?: down)?|note(?: down)?|(?:write|jot) down|request|see(?= (?:if|whether|what|when|which|how|who|where)\b))"
_TELLS: Final = r"(?:warn|say|tell|explain|inform|mention|remind|express|state|let|advise)"
_VERB: Final = (
    rf"(?:{ASKS}|{_TELLS}|thank|greet|welcome|confirm|check|verify|make sure|ensure|offer|introduce|wish|bid|apologi[sz]e|repeat|"
    rf"summari[sz]e|sum up|go (?:through|over)|read|recap|invite|instruct|have(?= {WHO}\b)|(?:put|transfer|connect)(?= {WHO}\b)|spell|write|end|hang up|close|finish|answer|pick up|suggest|propose|recommend|list(?= (?:the|our|all)\b)|give(?= {WHO}\b)|(?:ask|say|tell|thank|explain|confirm|offer|greet|introduc|gather)ing)"
)
# After a bare "and" these are rather what a caller does: "ask if they drive and have a car".
_OFTEN_DONE: Final = (
    r"(?:get|take|read|close|end|answer|finish|learn|request)(?! (?:(?:down|it|them|that|everything|all|the|their|a|an|if|whether|with|best|another|what|how|where|when|who|which)\b ?){0,3}"
    r"(?:full |last |first )?(?:name|number|phone|e-?mail|address|details?|message|back|call|conversation|correct|right|order|booking|date|day|time)\b)"
)
_BULLET: Final = re.compile(r"^(?:[-*\u2022\u2013]|\d+[.)]|[a-z][.)])\s+")
_LEAD_IN: Final = re.compile(
    r"^(?:(?:please|then|now|next|first(?:ly)?|second(?:ly)?|finally|also|after (?:that|this)|afterwards|lastly|politely|kindly|warmly|briefly|just|simply|and|so|here|again|"
    r"(?:at|in|on|for) (?:this|the) (?:step|stage|point|node|part)|in this call|as a next step|"
    r"(?:in order to|to|for) [^,.]{3,70},|"
    r"(?:your|the) (?:goal|task|job|aim): ?|"
    r"(?:your|the) (?:goal|task|job|aim|purpose)(?: here| now| in this step| of this step)? is (?:to|that you)|"
    r"(?:(?:i|we) (?:want|need|would like) you|(?:can|could|would) you(?: please)?) (?:to )?(?=\w+)|(?:you|we) (?:should|must|need to|have to|will|are to)|(?:try|make sure|be sure|remember|your turn|it is time|time) to|(?:start|begin|open|finish|end|close) by)\b,?\s*)+",
    re.IGNORECASE,
)
_JOINED: Final = re.compile(
    rf"(?:\s*[,;]\s*(?:(?:and|then|and then|before|after which)\s+)?(?:to\s+)?|\s+(?:and|then|and then)\s+(?:to\s+|(?!{_OFTEN_DONE})))(?=(?:(?:politely|kindly|then|also|please)\s+)?{_VERB}\b(?! (?:back|up|in) ))",
    re.IGNORECASE,
)
# "ask which day they can come, we're open thu to sun"
_STATED_BESIDE: Final = re.compile(
    r"^(?P<asked>ask\b[^,]{5,}), (?P<stated>(?:we|there) (?:is|are|have|offer|do|only|open|close|take|accept)\b.+)$",
    re.IGNORECASE,
)
# "say jen is free at 2 and 4, which one"
_ASKED_BEHIND: Final = re.compile(
    r"^(?P<stated>(?:say|tell|offer|explain)\b.+), (?P<asked>which(?: one)?|(?:what|which) (?:day|time)|how many|(?:is )?(?:that|it) (?:is )?(?:ok|okay|all right|fine)|(?P<ok>ok|okay))\??$",
    re.IGNORECASE,
)
_PARENTHESIS: Final = re.compile(r"\s*\([^)]*\)")
# "Ask, with some tact, what happened", "find out politely whether"
_ASIDE: Final = re.compile(
    rf"^({_VERB}(?: {WHO})?)(?:,[^,]{{3,40}},| (?:politely|kindly|nicely|directly|quickly|warmly|briefly|casually|carefully|gently|also|again|once more|in a friendly way))\s+",
    re.IGNORECASE,
)
_GERUNDS: Final = (
    (re.compile(r"^(greet|ask|thank|confirm|check|collect|explain|tell|say|repeat|find|offer|gather|learn)ing\b", re.IGNORECASE), r"\1"),
    (re.compile(r"^(welcom|introduc|apologiz|apologis|tak|not|summariz|invit)ing\b", re.IGNORECASE), r"\1e"),
    (re.compile(r"^determining\b", re.IGNORECASE), "determine"),
    (re.compile(r"^getting\b", re.IGNORECASE), "get"),
)  # fmt: skip


def split_instructions(prompt: str) -> Iterator[str]:
    """Yields the single instructions of a prompt, without what is meant for the model alone."""
    for found in _SENTENCE.findall(_PARENTHESIS.sub("", mend_writing(prompt))):
        sentence = _BULLET.sub("", found.strip())
        sentence = _OTHERWISE.sub("", _LEAD_IN.sub("", sentence))
        if not sentence or (_PERSONA.match(sentence) and not _MANNER_FIRST.match(sentence)):
            continue
        for part in _JOINED.split(sentence):
            if _PERSONA.match(part.strip()):
                continue
            instruction = _LEAD_IN.sub("", part.strip())
            for pattern, verb in _GERUNDS:
                instruction = pattern.sub(verb, instruction)
            instruction = _ASIDE.sub(r"\1 ", instruction)
            if beside := _STATED_BESIDE.match(instruction):
                yield f"say {beside['stated']}"
                instruction = beside["asked"]
            if behind := _ASKED_BEHIND.match(instruction):
                yield behind["stated"]
                instruction = f"ask {'if ' if behind['ok'] else ''}{behind['asked']}"
            yield from filter(None, part_farewell(instruction))
