"""What a caller's sentence says in the end: without what it takes back, refuses or only asks about. Pure."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from offhook.models.providers.builtin.english import spoken_values
from offhook.models.providers.builtin.english.everyday import everyday_words
from offhook.models.providers.builtin.english.paraphrases import plain_words
from offhook.models.providers.builtin.english.polarity import polarity_of
from offhook.models.providers.builtin.english.questions import FILLERS, TAG, VALUE_PATTERN, asks_question
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
# What comes after one of these replaces what came before.
_TAKES_BACK: Final = re.compile(
    r"\b(no wait|wait|hang on|hold on|scratch that|i mean|i meant(?! to (?:call|dial|reach|phone))|i ment|make (?:that|it)|or rather|rather|actually|instead|"
    r"change (?:that|it) to|correction|my mistake|on second thoughts?|better|let us say|sorry|oops|never mind)\b"
)
# Said by itself between two statements, or before the second, it takes back the first.
_NO_BETWEEN: Final = re.compile(
    r"^(?:(?:oh|well|um|uh|so|and|wait|sorry|actually|hang on|hold on) )*(?:no|nope|i mean(?:t(?! to (?:call|dial|reach|phone)))?|scratch that|correction|or rather|i said|make that|no wait|wait no)"
    r"(?: (?:no|wait|sorry|actually|hang on|hold on|well|i mean(?:t(?! to (?:call|dial|reach|phone)))?))*(?= |$)(?! (?:problem|worries|doubt|question|thanks|thank|need|idea|reason|more|one|way|chance|longer))"
)
# What would have been is not what is: "it would have been five".
_COUNTERFACTUAL: Final = re.compile(
    r"\b(?:would|could|might|should) (?:not )?have (?:been|given|said)\b(?! (?:here|there|delivered|shipped|done|home))"
)
_CLOSING: Final = re.compile(
    r"\b(?:good ?bye|bye(?: bye| now)?|nothing more(?: thanks| thank you)?|(?:^|(?:okay|ok|alright|right|thanks|thank you|great|perfect|lovely|good|fine|cool|cheers|no|nope) )nothing else(?: (?:thanks|thank you|then|now|today|for (?:now|today)))*|(?:have|got|need) to (?:go|run)(?: now)?|(?:that (?:covers|does|will do) it|(?:that is|that was|that will be) (?:all|it|everything))(?: i (?:need|needed|want|wanted|was after)(?: to (?:know|hear|ask|check|find out))?)?(?: for (?:today|now|me))?(?: thanks| thank you| so much| very much| a lot| a bunch| cheers| then| for (?:today|now|everything|your help))*|take care|have a (?:nice|good|great|lovely)(?: (?:day|one|evening|weekend|night))?)$"
)
_STOPS: Final = re.compile(
    rf"\b(?:i|we) (?:really )?(?:have to|need to|must|got to|am going to) (?:go|run|hang up|stop)\b|\b(?:stop|end) (?:this|it|here|the (?:call|survey)|now)\b|\bno more (?:questions|calls)\b|\b(?:take|get|remove|scratch|cross) (?:me|us|my (?:name|number)|this number) (?:off|from|out)\b(?! (?:of |for )?{VALUE_PATTERN})|\btold you (?:\w+ )?(?:to stop|not to (?:call|phone|ring))\b|\b(?:stop|quit) (?:calling|phoning|ringing|bothering|texting)\b|\bdo not (?:you )?(?:ever |dare )?(?:call|phone|ring|bother|contact|text) (?:me|us|here|this)\b(?! (?:at|on|before|after|later|by|for|miss|sir|ma))|\bnot want any (?:more )?calls\b|\blose my number\b|\b(?:not (?:really |actually )?have|have no)(?: the| any| much)? time for (?:this|that|these|it|any|your)\b|^(?:(?:oh|actually|no|ah|well|um) )*(?:never mind|forget it)$|\b(?:not|stop) (?:\w+ ){{0,4}}any (?:more )?(?:more )?questions\b"
)
_MODIFIES: Final = re.compile(
    r"\b(instead|rather|change|changed|different|another (?:day|time|date|slot)|other (?:day|time)|earlier|later|move it|switch|"
    r"make (?:it|that) (?!quick|short|fast|snappy))\b|\bbut (?:\w+ ){0,6}(?:at|on|for|not|can|could|is|what|if|monday|tuesday|wednesday|thursday|friday)\b"
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
    rf"\b(?:(?:what|how) about )?(?P<value>{VALUE_PATTERN})\s*(?:\?|\.\.\.|…)\s*(?=(?:no|nah|nope|not|i'm|i am|that's|that is)\b)(?!.*\b{VALUE_PATTERN})",
    re.IGNORECASE,
)
_DENIED_WISH: Final = re.compile(
    r"\b(?:i )?(?:do|did|would|will|am)? ?not (?:really |actually )?(?:want|wish|need|like|mean|ask|trying|going|asking|looking|calling|have (?:one|an?|any|anything) )"
    r"(?: to| for)?\b|^(?:please )?(?:do|did) not (?!know|think|mind|have|remember|understand)|^(?:it is|this is|that is)? ?not about\b|^(?:no )?not an? (?:new )?(?:appointment|order|return|question|complaint)\b"
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
_LEAD_WORDS: Final = re.compile(
    r"^(?:(?:well|oh|um|uh|hmm|actually|honestly|wait|sorry|i mean|and|so|hang on|hold on)\b ?)+(?=\w)"
)
# Around what is said, these say nothing.
_HEDGE: Final = re.compile(
    r"(?<=\w) (?:i (?:guess|think|suppose|believe|reckon)|or (?:something|whatever|so)(?: like that)?|you know)$"
)
_PERPLEXED: Final = re.compile(
    r"^(?:(?:so|and|well|um|uh|honestly) )*i (?:really )?(?:do not|have no) (?:know|idea) (?:what (?:else )?to do|where to (?:start|begin|go)|"
    r"how (?:this|it) works|who (?:else )?to (?:call|ask)|what to (?:say|ask))$"
)
# What explains a mistake is no answer: "two, sorry, I thought one was best, four".
_THOUGHT: Final = re.compile(
    r"^(?:(?:sorry|oh|no|well|because) )*i (?:thought|figured|assumed|misheard|misread|mixed)\b"
)
# "It is not green, it is red", "my name is right but the number is not".
_IS_NOT: Final = re.compile(r"^(?P<what>it|that|this|they|mine) (?:is|are|was|were) not \w+(?: \w+)?$")
_IS: Final = re.compile(r"^(?P<what>it|that|this|they|mine) (?:is|are|was|were) (?!not\b)\w")
_AFFIRMED: Final = re.compile(r"\b(?:is|are|was) (?:right|correct|fine|good|okay|ok)$")
_NOT_RIGHT: Final = re.compile(r"\b(?:is|are|was) (?:not(?: (?:right|correct))?|wrong|incorrect|off)$")
# To "is there anything else?".
_WISH: Final = re.compile(
    r"^(?:(?:so|and|but|then|now|actually|please) )*(?:i|we|he|she|they) (?:(?:just|really|only|actually|still) )*"
    r"(?:wants?|needs?|would (?:like|love|rather|prefer)|have to|am (?:looking|trying|hoping|calling) )\b"
)
_WAITS: Final = re.compile(
    r"^(?:(?:oh|um|sorry|okay|wait|damn|damn it|please|yeah) )*(?:(?:wait|hang on|hold on|give me|just|bear with me|hold the line) ?)*(?:a |an |one )?"
    r"(?:sec|second|minute|moment|bit)\b|\b(?:let me (?:grab|get|find|look|check|think|see)|other phone|at the door|be right back|bear with me|brb|(?:need|have) to find (?:it|my))\b|"
    r"^(?:please )?(?:wait|hold on|hang on)(?: please)?$|\bone sec\b"
)
_CHANGES: Final = re.compile(
    r"\b(change|changed|different|another|other (?:day|time)|move|reschedule|switch|push|swap|instead|earlier|later|wrong(?! (?:number|person|house|party))|"
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
        """Returns True for "one second, please"."""
        return any(_WAITS.search(" ".join(word_tokens(clause))) for clause in _CLAUSES.split(self.heard))

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
    text = _NOTHING_DID.sub(
        "not",
        _PRONOUN_ONE.sub(
            "",
            plain_words(
                mend_spelling(everyday_words(_SOMEONE_TO.sub("you to ", _TITLE.sub(r"\1", shorten_utterance(heard)))))
            ),
        ),
    )
    text = _LATE_BETTER.sub("as late as possible", _SOON_BETTER.sub("as early as possible", _DISCOURSE.sub("", text)))
    text = _TAG_NO.sub("?", text)
    text = _ECHOED.sub(r"not \g<value>, ", text)
    tokens = " ".join(word_tokens(text))
    clauses = [clause for part in _CLAUSES.split(text) if (clause := part.strip())][-MAX_CLAUSES:]
    questioned = {" ".join(word_tokens(clause)) for clause in clauses if clause.endswith("?")}
    kept, refused = _drop_refused(clauses)
    kept, is_denied = _drop_denied(_drop_reversed(_drop_contrasted(_drop_hedges(kept))))
    kept, takes_back = _drop_taken_back(kept)
    takes_back = takes_back or is_denied
    kept = [shorter for clause in kept if (shorter := _LEAD.sub("", clause).strip())] if takes_back else kept
    if any(_WAITS.search(clause) for clause in kept):
        kept = [clause for clause in kept if not _WAITS.search(clause)]
        standing = ", ".join(kept)
    else:
        standing = ", ".join(kept) if kept or refused else text
    asked = [
        clause
        for clause in kept
        if not (TAG.match(clause) and len(kept) > 1) and asks_question(f"{clause}?" if clause in questioned else clause)
    ]
    statement = ", ".join(
        clause
        for clause in kept
        if clause not in asked and not (TAG.match(clause) and len(kept) > 1 and clause in questioned)
    )
    said = polarity_of(standing) if standing and (takes_back or len(kept) < len(clauses)) else polarity_of(text)
    has_values = bool(_values_in(standing))
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


def _denied_wish(clauses: list[str]) -> str:
    said = " ".join(word_tokens(" ".join(clauses)))
    spoken = [clause for clause in clauses if content_stems(clause) and polarity_of(clause) != "yes"]
    match = _DENIED_WISH.match(_LEAD.sub("", said)) if len(spoken) == 1 and len(clauses) < 3 else None
    return _DENIED_WISH.sub("", _LEAD.sub("", said)).strip() if match else ""


def _values_in(text: str) -> set[str]:
    """Returns the kinds of value in a text."""
    kinds = set()
    if spoken_values.day_phrase(text):
        kinds.add("day")
    if spoken_values.time_of_day(text, may_be_lone=False):
        kinds.add("time")
    if spoken_values.all_numbers(text):
        kinds.add("number")
    return kinds


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
    meant = [clause for clause in kept if not _DENIED_WISH.search(clause)]
    if len(kept) > 1 and any(content_stems(clause) for clause in meant):
        kept = meant
    return kept, tuple(refused)


def _drop_hedges(clauses: list[str]) -> list[str]:
    """Drops "I guess" at an end and "I don't know what to do" beside something else."""
    shorter = [_HEDGE.sub("", clause) if len(content_stems(clause)) > 1 else clause for clause in clauses]
    told = [clause for clause in shorter if not _PERPLEXED.match(" ".join(word_tokens(clause)))]
    told = told if any(content_stems(clause) for clause in told) else shorter
    return [
        clause
        for at, clause in enumerate(told)
        if not (_THOUGHT.match(clause) and any(map(_values_in, told[at + 1 :])))
    ]


def _drop_contrasted(clauses: list[str]) -> list[str]:
    """Drops what only leads to its opposite: "it is not green" before "it is red", "the name is right" before "but"."""
    kept, is_other_right = [], False
    for at, clause in enumerate(clauses):
        after = clauses[at + 1] if at + 1 < len(clauses) else ""
        denied, named = _IS_NOT.match(clause), _IS.match(after)
        if denied and named and denied["what"] == named["what"]:
            continue
        if denied and any(content_stems(other) and not _IS_NOT.match(other) for other in clauses[at + 1 :]):
            continue
        if _AFFIRMED.search(clause) and _NOT_RIGHT.search(after):
            is_other_right = True
            continue
        kept.append(f"{clause} right" if is_other_right and clause.endswith(" not") else clause)
    return kept


def _drop_reversed(clauses: list[str]) -> list[str]:
    """Drops a yes or a no that a later clause reverses: "no… well, actually yes, send it"."""
    kinds = [polarity_of(_LEAD_WORDS.sub("", clause)) for clause in clauses]
    bearing = [at for at, kind in enumerate(kinds) if kind is not None]
    if len(bearing) < 2 or kinds[bearing[-1]] == kinds[bearing[0]] or bearing[0] > 1:
        return clauses
    return clauses[bearing[-1] :]


def _drop_denied(clauses: list[str]) -> tuple[list[str], bool]:
    """Drops what comes before "no, …" in the middle, unless it has values that what follows does not replace."""
    clauses = _drop_counterfactual(clauses)
    at = max((index for index, clause in enumerate(clauses) if index and _NO_BETWEEN.match(clause)), default=0)
    after = [*filter(None, [_NO_BETWEEN.sub("", clauses[at]).strip()]), *clauses[at + 1 :]] if at else []
    if not any(content_stems(clause) for clause in after) or not any(content_stems(clause) for clause in clauses[:at]):
        return clauses, False
    new = set().union(*map(_values_in, after))
    before = [clause for clause in clauses[:at] if _values_in(clause) - new or (new and not _values_in(clause))]
    return [*before, *after], len(before) < at


def _drop_counterfactual(clauses: list[str]) -> list[str]:
    real = [clause for clause in clauses if not _COUNTERFACTUAL.search(clause)]
    return real if any(content_stems(clause) for clause in real) else clauses


def _drop_taken_back(clauses: list[str]) -> tuple[list[str], bool]:
    """Drops clauses whose value a later clause replaces; True when a later one takes something back."""
    takes_back = any(_TAKES_BACK.search(clause) and _values_in(clause) for clause in clauses)
    takes_back = takes_back or (
        any(map(_TAKES_BACK.search, clauses)) and len([clause for clause in clauses if _values_in(clause)]) > 0
    )
    kept: list[str] = []
    for index, whole in enumerate(clauses):
        halves = _split_at_marker(whole)
        is_half = halves is not None and _values_in(halves[0]) & _values_in(halves[1])
        clause = halves[1] if halves is not None and is_half else whole
        later = clauses[index + 1 :]
        own = _values_in(clause)
        is_replaced = own and any(
            own & _values_in(other)
            and (_TAKES_BACK.search(" , ".join(later)) or re.search(r"\b(?:no|so|well)\b", " , ".join(later)))
            for other in later
        )
        if not is_replaced:
            kept.append(clause)
    return kept, takes_back


def _split_at_marker(clause: str) -> tuple[str, str] | None:
    match = None
    for match in _TAKES_BACK.finditer(clause):  # noqa: B007 - the last one
        pass
    return None if match is None or match.start() == 0 else (clause[: match.start()], clause[match.end() :])
