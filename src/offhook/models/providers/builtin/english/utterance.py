"""What a caller's sentence finally says, without what it takes back, refuses or only asks about. Pure."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from offhook.models.providers.builtin.english.corrections import (
    drop_contrasted,
    drop_denied,
    drop_emphasis,
    drop_hedges,
    drop_reversed,
    drop_taken_back,
    values_in,
)
from offhook.models.providers.builtin.english.everyday import everyday_words
from offhook.models.providers.builtin.english.offered_options import NONE_OFFERED
from offhook.models.providers.builtin.english.paraphrases import plain_words
from offhook.models.providers.builtin.english.polarity import polarity_of
from offhook.models.providers.builtin.english.questions import ASKING_WORDS, FILLERS, TAG, VALUE_PATTERN, asks_question
from offhook.models.providers.builtin.english.refusals import without_disclaimer
from offhook.models.providers.builtin.english.spelling import mend_spelling
from offhook.models.providers.builtin.english.words import (
    Polarity,
    content_stems,
    word_tokens,
)

# "Somebody to take a look" is no wish to talk to somebody.
_SOMEONE_TO: Final = re.compile(
    r"\b(?:some(?:one|body)|a person|anyone|anybody) to (?!talk|speak|call|ring|phone|answer|chat|transfer|connect)",
    re.IGNORECASE,
)
_TITLE: Final = re.compile(r"\b(mr|mrs|ms|dr)\.(?= )", re.IGNORECASE)
# A minute of speech.
MAX_HEARD_CHARS: Final = 800
MAX_CLAUSES: Final = 20
_CLAUSES: Final = re.compile(
    r"(?<=\?)\s*|\s*(?:\.\.\.|…|[,;!—]|\.(?!\d)|\s-\s|\bbut\b|\bhowever\b|\balthough\b|\bthough\b|"
    r"\b(?=i (?:just|only) (?:want|need|would)\b)|\band (?=(?:i|can|could|also|what|how|where|do|is|are|tell me)\b))\s*",
    re.IGNORECASE,
)
_CLOSING: Final = re.compile(
    r"\b(?:good ?bye|bye(?: bye| now)?|nothing more(?: thanks| thank you)?|(?:^|(?:okay|ok|alright|right|thanks|thank you|so much|very much|a lot|a million|great|perfect|lovely|good|fine|cool|cheers|no|nope) )nothing else(?: (?:thanks|thank you|then|now|today|for (?:now|today)))*|(?:have|got|need) to (?:go|run)(?: now)?|(?:that (?:covers|does|will do) it|(?:that is|that was|that will be) (?:all|it|everything))(?: i (?:need|needed|want|wanted|was after)(?: to (?:know|hear|ask|check|find out))?)?(?: for (?:today|now|me))?(?: thanks| thank you| so much| very much| a lot| a bunch| cheers| then| for (?:today|now|everything|your help))*|take care|(?<!hello )(?<!hi )(?<!hey )(?<!sir )(?<!^)good day(?: to you)?|have a (?:nice|good|great|lovely)(?: (?:day|one|evening|weekend|night))?)$"
)
_STOPS: Final = re.compile(
    rf"\b(?:i|we) (?:really )?(?:have to|need to|must|got to|am going to) (?:go|run|hang up|stop)\b|\b(?:stop|end) (?:this|it|here|the (?:call|survey)|now)\b|\bno more (?:questions|calls)\b|\b(?:take|get|remove|scratch|cross) (?:me|us|my (?:name|number)|this number) (?:off|from|out)\b(?! (?:of |for )?{VALUE_PATTERN})|\btold you (?:\w+ )?(?:to stop|not to (?:call|phone|ring))\b|\b(?:stop|quit) (?:calling|phoning|ringing|bothering|texting)\b|\bdo not (?:you )?(?:ever |dare )?(?:call|phone|ring|bother|contact|text) (?:me|us|here|this)\b(?! (?:at|on|before|after|later|by|for|miss|sir|ma))|\bnot want any (?:more )?calls\b|\blose my number\b|\b(?:not (?:really |actually )?have|have no)(?: the| any| much)? time for (?:this|that|these|it|any|your)\b|^(?:(?:oh|actually|no|ah|well|um) )*(?:never mind|forget it)$|\b(?:not|stop) (?:\w+ ){{0,4}}any (?:more )?(?:more )?questions\b"
)
_MODIFIES: Final = re.compile(
    r"\b(instead|rather|change|changed|different|another (?:day|time|date|slot)|other (?:day|time)|(?<!the )earlier|(?<!the )later|move it|switch|"
    r"make (?:it|that) (?!quick|short|fast|snappy))\b|\bbut (?!(?:he|she|it|they) (?:is|are) (?:very |quite |really |all )?(?:harmless|friendly|gentle|sweet|nice|fine|okay|ok)\b)(?:\w+ ){0,6}(?:at|on|for|not|can|could|is|what|if|monday|tuesday|wednesday|thursday|friday)\b"
)
_REFUSED: Final = tuple(
    re.compile(pattern)
    for pattern in (
        (
            rf"\b(?:any(?:thing|time|day| day| time)?|every ?day|all|whenever|everything) (?:but|except|apart from|other than|besides|not)"
            rf"(?: for)? (?P<value>{VALUE_PATTERN})"
        ),
        (
            rf"\b(?:except|apart from|other than|but not|just not|not|never|no|can not do|can not make|can not \w+|can not \w+ (?:it|that|anything)|do not like|do not want|avoid|"
            rf"rather than|instead of|is not|not on|not at) (?:for |good |possible |it )*(?P<value>{VALUE_PATTERN})"
        ),
        (
            rf"\b(?P<value>{VALUE_PATTERN}) (?:is|are|does|do|will|would|can|am)(?: really| just)? not"
            rf"(?: (?:work|good|suit|possible|great|an option|happen|ok|okay|convenient|going to work))?(?: for)?(?: me)?"
        ),
        rf"\b(?P<value>{VALUE_PATTERN}) (?:is (?:no good|bad|out|taken|busy|tricky|too \w+)|(?:would be |is )?impossible)\b",
        rf"\b(?P<value>{VALUE_PATTERN})(?: is)? the (?:only|one) (?:day|time)(?: that| when)? (?:i|we) (?:really )?(?:can|could|will|would) not\b",
        rf"\bi (?:work|am (?:busy|away|out|working|not (?:free|here|around|available))) (?P<value>{VALUE_PATTERN})",
    )
)
_CORRECTED: Final = re.compile(
    rf"(?P<first>{VALUE_PATTERN}) (?:, )?no (?P<second>{VALUE_PATTERN})(?<!days)(?<!ings)(?<!noons)$"
)
# "Uh, yeah, so my internet is down" says no yes.
_DISCOURSE: Final = re.compile(
    r"^(?:(?:uh|um|oh|well|ok|okay|hi|hello|hey)[ ,]+)*(?:yeah|yes|yep),? (?:so|hi|hello|hey|um|uh)\b[ ,]*(?=(?:\S+ ){4})",
    re.IGNORECASE,
)
_SOON_BETTER: Final = re.compile(r"\bthe (?:earlier|sooner|quicker) the better\b", re.IGNORECASE)
_LATE_BETTER: Final = re.compile(r"\bthe later the better\b", re.IGNORECASE)
# "Monday? No way.", "what about two... no, that's when school ends"
_ECHOED: Final = re.compile(
    rf"\b(?:(?:what|how) about )?(?P<value>{VALUE_PATTERN})\s*(?:\?|\.\.\.|…)\s*(?=(?:no|nah|nope|not|i(?:'m| am)(?! (?:already|with|an?|new|free|your|calling|looking|happy)\b)|that's|that is)\b)(?!.*\b{VALUE_PATTERN})",
    re.IGNORECASE,
)
_DENIED_WISH: Final = re.compile(
    r"\b(?:i|we) (?:am|are) not \w+ing (?:it|that|this|them)\b|"
    r"\b(?:i )?(?:do|did|would|will|am)? ?not (?:really |actually )?(?:want|wish|need|like|mean|ask|trying|going|asking|looking|calling|have (?:one|an?|any|anything) )"
    r"(?: to| for)?\b|^(?:please )?(?:do|did) not (?!know|think|mind|have|remember|understand)|^(?:it is|this is|that is)? ?not about\b|^(?:no )?not (?:to )?(?!sure|like|for|on|at|with|about)[a-z]+ (?:it|them|that)$|^(?:no )?not an? (?:new )?(?:appointment|order|return|question|complaint)\b"
)
# "It will not be more than sixty dollars, no?"
_TAG_NO: Final = re.compile(
    r"(?<=\w{2} \w{2}), (?:no|isn't it|innit|is it not)\s*\?$|(?<=\w{4}), (?:no|innit)\s*\?$", re.IGNORECASE
)
# "The old one" has no number in it.
_PRONOUN_ONE: Final = re.compile(
    r"(?<=\b)(?<!\d )(?:(?<=the)|(?<=this)|(?<=that)|(?<=other)|(?<=another)|(?<=old)|(?<=new)|(?<=right)|(?<=wrong)|(?<=best)|(?<=worst)|(?<=later)|"
    r"(?<=latter)|(?<=earlier)|(?<=first)|(?<=last)|(?<=second)|(?<=next)|(?<=same)|(?<=good)|(?<=bad)|(?<=great)|(?<=big)|(?<=small)|(?<=latest)|"
    r"(?<=earliest)|(?<=which)|(?<=highest)|(?<=lowest)) ones?\b(?! (?:two|three|four|five|six|seven|eight|nine|zero|oh|one)\b)"
    r"|\bno one\b|\bone (?=(?:more|thing|last|other|question|second|sec|minute|moment)\b)|\b(?:just )?moved (?:here|to|into|in|from|house|recently|away)\b",
    re.IGNORECASE,
)
# A complaint, not a "nothing, thanks".
_NOTHING_DID: Final = re.compile(
    r"\bnothing(?= (?:was|is|has|have|had|will|would|can|could|does|came|comes?|arrived|showed|happen(?:s|ed)|works?|worked|got|"
    r"loads?|loaded|opens?|connects?|plays?|helps?|helped|seems?|starts?|turns?|goes|shows?|fits?)\b)",
    re.IGNORECASE,
)
# The marker itself is not part of what stands.
_LEAD: Final = re.compile(
    r"^(?:(?:no|wait|oh|um|uh|sorry|actually|hang on|hold on|scratch that|i mean(?:t(?! to (?:call|dial|reach|phone)))?|i ment|make (?:that|it)|or rather|rather|correction|"
    r"my mistake|on second thoughts?|oops|never mind|let us say|change (?:that|it) to|well)\b ?)+(?=\w)(?!is\b|thank)"
)
# To "is there anything else?".
_WISH: Final = re.compile(
    r"^(?:(?:so|and|but|then|now|actually|please) )*(?:i|we|he|she|they) (?:(?:just|really|only|actually|still) )*"
    r"(?:wants?|needs?|would (?:like|love|rather|prefer)|have to|am (?:looking|trying|hoping|calling) )\b"
)
_WAITS: Final = re.compile(
    r"^(?:(?:oh|um|sorry|okay|wait|damn|damn it|please|yeah) )*(?:(?:wait|hang on|hold on|give me|just|bear with me|hold the line) ?)*(?:a |an |one )?"
    r"(?:sec|second|minute|moment|bit)\b|\b(?:let me (?:grab|get|find|look|check|think|see)|other phone|(?:some(?:one|body)|there is (?:\w+ ){1,3}|(?:is|are)(?: right)?(?: now)?) at the door|be right back|bear with me|brb|(?:need|have) to find (?:it|my))\b|"
    r"^(?:please )?(?:wait|hold on|hang on)(?: please)?$|\bone sec\b"
)
_ONLY_WAIT: Final = re.compile(r"^(?:oh |no |hmm )*(?:wait|hold on|hang on)$")
_CORRECTS: Final = re.compile(
    r"^(?:actually|no|nope|yes|yeah|yep|i mean|make it|sorry|scratch that|let us|rather|it is actually|that is wrong|"
    r"who|what|how|when|where|why|is|are|do|does)\b"
)
# "No thanks, I don't need anything, there's somebody at the door" waits for nothing.
_AT_THE_DOOR: Final = re.compile(r"\b(?:at the door|other phone)\b")
_CALLS_LATER: Final = re.compile(r"\bcall (?:me )?(?:back|again|later)\b|\banother time\b")
_DECLINES: Final = re.compile(r"^(?:oh |sorry )*no (?:thanks|thank you)\b")
_INTERROGATIVES: Final = frozenset({"how", "what", "when", "where", "which", "who", "why"})
_CHANGES: Final = re.compile(
    r"\b(change|(?<!get )(?<!got )(?<!getting )changed|different|another|other (?:day|time)|move|reschedule|switch|push|swap|instead|(?<!the )earlier|(?<!the )later|wrong(?! (?:number|person|house|party))|"
    r"incorrect|mistake|make it|not right)\b"
)


@dataclass(frozen=True, slots=True)
class CallerUtterance:
    """A sentence and what stands of it. ``statement`` is that without questions, ``refused`` are values that the caller
    does not want ("friday").

    ``is_correction``: it takes something back; ``is_modified``: a yes with a "but"; ``denied``: what "do not cancel it"
    is about, when nothing else is said.
    """

    heard: str
    standing: str
    statement: str
    refused: tuple[str, ...]
    polarity: Polarity | None
    is_question: bool
    is_correction: bool
    is_modified: bool
    denied: str = ""

    @property
    def asks_to_wait(self) -> bool:
        """Returns True for "one second, please", and not for "hmm, wait, actually yes"."""
        clauses = [words for clause in _CLAUSES.split(self.heard) if (words := " ".join(word_tokens(clause)))]
        waits = [
            clause
            for clause, after in zip(clauses, [*clauses[1:], ""], strict=False)
            if _WAITS.search(clause) and not (_ONLY_WAIT.match(clause) and _CORRECTS.match(after))
        ]
        if len(waits) == 1 and _AT_THE_DOOR.search(waits[0]) and _DECLINES.match(clauses[0]):
            return False
        return bool(waits) and not (clauses[-1] not in waits and _CALLS_LATER.search(clauses[-1]))

    @property
    def only_waits(self) -> bool:
        """Returns True when nothing else is said."""
        return self.asks_to_wait and not content_stems(self.standing)

    @property
    def wish(self) -> str:
        """Returns the last clause that says outright what the caller wants, beside others; "" when there is none."""
        clauses = self.standing.split(", ")
        return next((clause for clause in reversed(clauses) if _WISH.search(clause)), "") if len(clauses) > 1 else ""

    @property
    def says_little(self) -> bool:
        """Returns True when a question has nothing beside it but an address or a filler."""
        return self.is_question and len([word for word in content_stems(self.statement) if word not in FILLERS]) < 2

    @property
    def is_goodbye(self) -> bool:
        """Returns True when the caller takes leave in the end: "great, thanks, bye"."""
        return _CLOSING.search(" ".join(word_tokens(self.heard))) is not None

    @property
    def wants_to_stop(self) -> bool:
        """Returns True for "I have to go" and "no more questions"."""
        return self.is_goodbye or _STOPS.search(" ".join(word_tokens(self.heard))) is not None

    @property
    def wants_change(self) -> bool:
        """Returns True when the caller wants something to be other than it is now."""
        return _CHANGES.search(" ".join(word_tokens(self.heard))) is not None or bool(self.refused)


def shorten_utterance(heard: str) -> str:
    """Returns the end of what was said, without runs of spaces: longer ones are read by no rule."""
    return " ".join(heard.split())[-MAX_HEARD_CHARS:]


@lru_cache(maxsize=512)
def parse_utterance(heard: str) -> CallerUtterance:
    """Parses a caller's words; never fails."""
    text = _plain_text(heard)
    tokens = " ".join(word_tokens(text))
    clauses = drop_emphasis([clause for part in _CLAUSES.split(text) if (clause := part.strip())][-MAX_CLAUSES:])
    questioned = {" ".join(word_tokens(clause)) for clause in clauses if clause.endswith("?")}
    kept, refused = _drop_refused(_after_refusal(clauses))
    kept, is_denied = drop_denied(drop_reversed(drop_contrasted(drop_hedges(kept))))
    kept, takes_back = drop_taken_back(kept)
    takes_back = takes_back or is_denied
    kept = [shorter for clause in kept if (shorter := _LEAD.sub("", clause).strip())] if takes_back else kept
    if any(_WAITS.search(clause) for clause in kept):
        kept = [clause for clause in kept if not _WAITS.search(clause)]
        standing = ", ".join(kept)
    else:
        standing = ", ".join(kept) if kept or refused else text
    asked = [
        clause
        for before, clause in zip(["", *kept], kept, strict=False)
        if not (TAG.match(clause) and len(kept) > 1)
        and not _continues_wish(before, clause)
        and asks_question(f"{clause}?" if clause in questioned else clause)
    ]
    statement = ", ".join(
        clause
        for clause in kept
        if clause not in asked and not (TAG.match(clause) and len(kept) > 1 and clause in questioned)
    )
    said = polarity_of(standing) if standing and (takes_back or len(kept) < len(clauses)) else polarity_of(text)
    has_values = bool(values_in(standing))
    # "yes, but is there parking?" asks, and changes nothing
    only_asks = bool(asked) and not has_values and not any(map(_CHANGES.search, asked))
    tokens = ", ".join(clause for clause in kept if clause not in asked) if only_asks else tokens
    modified = said == "yes" and (
        (_MODIFIES.search(tokens) is not None and (len(kept) > 1 or has_values)) or bool(refused)
    )
    return CallerUtterance(
        heard=text,
        standing=standing,
        statement=statement if content_stems(statement) or not asked else "",
        refused=refused,
        polarity=said,
        is_question=bool(asked),
        denied=_denied_wish(clauses),
        is_correction=takes_back or bool(refused and has_values),
        is_modified=modified,
    )


def _plain_text(heard: str) -> str:
    """Returns what was heard in the plain words that the rules know."""
    text = _NOTHING_DID.sub(
        "not",
        _PRONOUN_ONE.sub(
            "",
            plain_words(
                mend_spelling(
                    everyday_words(
                        _SOMEONE_TO.sub("you to ", _TITLE.sub(r"\1", without_disclaimer(shorten_utterance(heard))))
                    )
                )
            ),
        ),
    )
    text = _LATE_BETTER.sub("as late as possible", _SOON_BETTER.sub("as early as possible", _DISCOURSE.sub("", text)))
    text = _TAG_NO.sub("?", text)
    return _ECHOED.sub(r"not \g<value>, ", text)


def _continues_wish(before: str, clause: str) -> bool:
    """Returns True for "both on Friday?" behind "could I book us in"."""
    begins = word_tokens(clause)[:1]
    is_wish = word_tokens(before)[:1] != [] and word_tokens(before)[0] in ASKING_WORDS and not asks_question(before)
    return is_wish and bool(begins) and not set(word_tokens(clause)) & _INTERROGATIVES and begins[0] not in ASKING_WORDS


def _denied_wish(clauses: list[str]) -> str:
    said = " ".join(word_tokens(" ".join(clauses)))
    spoken = [clause for clause in clauses if content_stems(clause) and polarity_of(clause) != "yes"]
    match = _DENIED_WISH.match(_LEAD.sub("", said)) if len(spoken) == 1 and len(clauses) < 3 else None
    return _DENIED_WISH.sub("", _LEAD.sub("", said)).strip() if match else ""


_LEFT_OVER: Final = re.compile(r"^(?:i|we|it|that) (?:am|are|is|was)$")


def _after_refusal(clauses: list[str]) -> list[str]:
    """Returns what is said after "ten, one, four, I can't do any of those", where another value follows."""
    for at, clause in enumerate(clauses[:-1]):
        rest = clauses[at + 1 :]
        if NONE_OFFERED.search(" ".join(word_tokens(clause))) and any(map(values_in, rest)):
            return rest
    return clauses


def _drop_refused(clauses: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Drops refused values and denied wishes from clauses."""
    refused: list[str] = []
    joined = " , ".join(" ".join(word_tokens(clause)) for clause in clauses)
    # "anything but Friday" was split at its "but"
    joined = re.sub(
        r"\b(any(?:thing|time)?|any ?day|any ?time|every(?:thing)?|every ?day|all|no(?:t|thing)?) , (?="
        + VALUE_PATTERN
        + ")",
        r"\1 but ",
        joined,
    )
    # "Tuesday, no Thursday" corrects, "no Thursdays" refuses
    joined = _CORRECTED.sub(r"\g<first> , no , \g<second>", joined)
    for pattern in _REFUSED:
        while match := pattern.search(joined):
            refused.append(match["value"].strip())
            # "not Monday either"
            joined = f"{joined[: match.start()]} {joined[match.end() :].removeprefix(' either')}"
    kept = [clause.strip() for clause in joined.split(",") if clause.strip()]
    if refused:
        # "I'm no good in the mornings" leaves nothing that answers
        kept = [clause for clause in kept if not _LEFT_OVER.match(clause)] or kept
    meant = [clause for clause in kept if not _DENIED_WISH.search(clause)]
    # "cancel it, oh no, don't cancel, move it"
    denied = {stem for clause in kept if _DENIED_WISH.search(clause) for stem in content_stems(clause)}
    meant = [clause for clause in meant if not (stems := set(content_stems(clause))) or not stems <= denied]
    if len(kept) > 1 and any(content_stems(clause) for clause in meant):
        kept = meant
    return kept, tuple(refused)
