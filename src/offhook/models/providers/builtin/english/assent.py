"""Distinguishes an outright yes from one with a remainder, and a wish from one with a reservation. Pure."""

import re
from typing import Final

from offhook.models.providers.builtin.english.words import content_stems, stem_word, word_set, word_tokens

# Everything that a plain yes is made of. What is not here, and was not said by the agent, may be a condition.
_ASSENT: Final = word_set("""yes yeah yep yup ya yea aye ye ys sure ok okay correct absolutely definitely certainly exactly indeed
    affirmative totally perfect perfectly great good fine lovely wonderful brilliant excellent awesome amazing fantastic super cool nice
    alright right all very so much really thank thanks thankyou you u a an the lot bunch again that this it is was will would be
    should works work working for me us i we do did please ah oh um uh er erm hmm mm mhm well now then just and go ahead of course
    sounds sound seems looks let to agree agreed deal done confirm confirmed cheers appreciate appreciated happy glad pleasure
    sir madam maam man dear mate buddy honey hundred percent bye goodbye see soon have day one evening weekend
    ideal splendid marvelous terrific superb sweet bet got guess suppose think believe true spot on thing
    with by means love like want need my as well too still am hello hi hey there every bit already its
    relief help helpful helps kind wow yay hooray phew finally best better big huge
    at in up down back over sorry put lock smashing champion ace brill cracking super go hurry hurrying quick quickly fast asap def deffo say so no somebody someone them him her us""")
_YES_WORDS: Final = re.compile(
    r"\b(?:yes|yeah|yep|yup|ya|yea|aye|ys|sure|ok|okay|correct|absolutely|definitely|certainly|exactly|indeed|totally|of course)\b"
)
# A yes with a "no" or a "not" in it.
_IDIOMS: Final = re.compile(
    r"\b(?:no (?:problem|worries|objections?|bother|issues?|probs?|big deal|question about it|doubt|complaints?)|not a problem|(?:do|would) not mind|"
    r"(?:do not|can not) see why not|why not|(?:would|could|can) not say no|can not wait|could not be better|without (?:a )?doubt|"
    r"(?:no|not) (?:that is|it is) (?:fine|right|good|great|perfect)|you bet|i might as well|may as well)\b"
)
# What was thought better of before the yes: "no, wait, yes".
_BEFORE_YES: Final = re.compile(
    r"^(?:(?:no wait|no hold on|no hang on|no|nope|nah|hmm|sorry|oh|well|actually|i mean|i meant|um|uh) )+(?=(?:yes|yeah|yep|yup|sure|okay|ok|go ahead|do it)\b)"
)
# Words of a yes that answer nothing.
_NO_ANSWERS: Final = re.compile(
    r"\b(?:(?:have|need|got|want|going) to|will) (?:see(?! you)|think|wait|ask|check|look|decide)\b|\blet (?:me|us) (?:see|think|look)\b|^(?:yeah right|(?:oh )?sure you (?:are|do|will)|oh great|oh sure|i bet|yes (?:and |or )?no|(?:that is a )?(?:good|great|fair|nice) (?:question|one|point|try)|did i .*)$|"
    r"\bbe like that\b|^(?:ok|okay|hey) (?:google|siri|alexa)\b|\byes or no\b|\byou (?:are|were) (?:welcome|kidding|joking)\b"
)

_CONTRASTS: Final = re.compile(
    r"\b(?:but|except|although|though|however|only (?:if|when|for|after|once|on|the|thing)|unless|if|as long as|provided|otherwise|"
    r"until|till|once|in case|apart from|other than|whether)\b"
)
_DEFERS: Final = re.compile(
    r"\b(?:wait|after (?!you\b|all\b)|may (?!i\b|as\b)|hold (?:on|up|the line)|hang on|not (?:so fast|yet|sure|certain|ready)|maybe|perhaps|might|depends?|"
    r"let me|let us (?:see|think|wait)|think (?:about|it over|on it)|"
    r"(?:have|need|needs|got|want|like|going) to (?:ask|check|see|find|talk|speak|look|think|know|hear|discuss|confirm|figure|sleep|decide|wait|run)|"
    r"(?:ask|check|talk|speak|discuss|confirm|clear) (?:it |that |this )?(?:with|to) (?:my|the|our)|ask (?:my|the|our)|(?:un)?decided?|"
    r"later|next year|turn(?:s|ing)? (?:\w+teen|\d+)|half|part of|partly|almost|nearly|kind of|sort of|used to|last (?:time|year)|(?:was|were) \w+ing|worked|yesterday|"
    r"(?:a|one|another|give me|just) (?:second|minute|moment|sec)|first(?= (?:i|we|though|please)\b|$))\b"
)
_ALTERS: Final = re.compile(
    r"\b(?:another|different|instead|rather|earlier|sooner|change|changed|move|wrong|mistake|incorrect|misheard|misunderstood|"
    r"misunderstand|make (?:it|that|sure)|cheaper|other|problems?|trouble|issues?|concerns?)\b"
)
_DENIES: Final = re.compile(r"\b(?:not|never|nobody|none|neither)\b")
_PARTS: Final = re.compile(r"[,;.!?—]| - | but | so ", re.IGNORECASE)
_REPORTS: Final = re.compile(
    r"(?:\b|^)(?:(?<!like )(?<!as )i (?:only |just )?(?:said|meant|thought|heard)|you (?:said|misheard|got (?:it|that|this|me|the) \w*|are (?:not|wrong))|^did i|what if|if i|talking to (?:my|the|her|him|someone))\b"
)
_RELATIVE: Final = (
    r"(?:husband|wife|boss|manager|mom|mum|mother|dad|father|son|daughter|brother|sister|partner|roommate|boyfriend|girlfriend|kids?|child|"
    r"children|friend|neighbou?r|landlord|doctor|insurance|lawyer|employer|supervisor|colleague|company|bank|family|parents)"
)
# Somebody else would have to agree, or wants it.
_OTHERS: Final = re.compile(
    rf"\b(?:my|our|his|her|their) {_RELATIVE}\b(?: \w+)? (?:has|have|needs?|wants?|will|would|can|could|might|must|decides?|thinks?|knows?|disagrees?|does|do|is (?:not|the|going|still))\b|"
    r"\b(?:this|that) is (?:his|her|their) \w+|\b(?:mom|mum|mommy|dad|daddy|honey|sweetie|darling|babe|kids|guys) (?:i am|i will|just|not now|stop|one|in a)\b"
)
_IS_ABSENT: Final = re.compile(
    r"\b(?:he|she|they) (?:is|are) (?:not|out)(?: (?:at|in))?(?: (?:home|here|in|available|around|back|work))\b"
)
_TALKS_TO: Final = re.compile(
    r"\b(?:talk(?:ed|ing)?|spoken?|speaking|speak|ask(?:ed|ing)?|check(?:ed|ing)?)(?: (?:to|with))? (?:my|our|her|his) (?!lawyer|attorney|doctor|dentist|account)\w+"
)
_REFUSAL: Final = word_set("""no nope nah not nothing never none neither else more any anything thanks all everything good fine done set
    interested today now moment later another time some other busy call back try again rather want wanted need needed care bother
    mind forget it wrong number person place house sorry my bad mistake dialed misdialed called meant dial asking asked wondering
    looking checking check curious know knew only that this was is am are have has had do does did could would will can don't does
    bye goodbye night take stop please leave alone list off remove calling calls surveys survey contact accident hit answer answers questions question
    participate part changed change ask anymore really particularly actually maybe perhaps i we you me us a an the to for of in on at
    hang up going go run help helped helpful way ever afraid probably quit here pass life million years guys nothing think so""")
_REFUSES: Final = re.compile(
    r"\b(?:no|nope|nah|not|nothing|never mind|forget|wrong|bye|goodbye|that is (?:all|it|everything)|that was (?:all|it|everything)|that will (?:be all|do(?: it)?)|by (?:accident|mistake)|"
    r"later|another time|busy|mistake|misdialed|quit|pass|never|just (?:asking|checking|curious|wondering)|all (?:set|done|good)|leave me alone|stop|changed my mind|hang up|have to (?:go|run))\b"
)
_NEGATIONS: Final = re.compile(r"\b(?:not|never|nothing|nobody|none)\b")
_MAX_NEGATIONS: Final = 1
_NOT_NOT: Final = re.compile(
    r"\b(?:not|never) (?:\w+ ){0,4}not\b|\bnot (?:\w+ ){0,2}(?:un|dis)interested\b|\bnot that i\b"
)
_DENIED_GOODBYE: Final = re.compile(
    r"\b(?:not|never) (?:\w+ ){0,4}(?:hang up|hanging up|goodbye|bye|cancel\w*|stop|end|finish|go(?: yet| away)?|leave|quit|release|remove|opt|unsubscribe|refuse)\b(?<!not going)"
)
_DENIAL: Final = re.compile(
    r"\b(?:not|never|nobody|without|(?<=\w )no|hate to|instead of|rather than|used to|before you|before i|no need to) (?P<what>(?:\w+ ?){1,5})|"
    # "no landlord here", not "no, that's all"
    r"^no (?P<none>(?!that\b|it\b|i\b|we\b|thank)\w+(?: here| at all)?)$"
)
_PICKS: Final = re.compile(
    r"\b(?:take|do|have|try|prefer|make|want|need|like) (?:(?:it|the|that|a|an|this|any) )*(?:\w+ )?(?:one|instead)\b"
)
_ELSEWHERE: Final = re.compile(
    r"^(?:(?:no|nope|nah|thanks|thank you|sorry|oh|well|then|but|that is okay) )*(?:no|nope|nah|thanks|thank you)(?: then)? "
    r"(?:i|we) (?:will|would rather|are going to|am going to|can) (?:just )?(?:take|drive|walk|use|find|go with|manage|handle|do without|do it)\b(?P<what>.*)$"
)
_HAS_FIGURE: Final = re.compile(
    r"\d|\b\w+day\b|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|morning|afternoon|evening|another|other|different)\b"
)
_PAST: Final = re.compile(r"\b(?:used to|last (?:year|month|week|time))\b")
_NOT_YET: Final = re.compile(
    r"\b(?:turn(?:s|ing)? (?:\w+teen|\d+)|next (?:year|month|week)|not yet|almost|nearly|soon|unless|might|maybe|perhaps|depends?|if)\b"
)
_ACKNOWLEDGES: Final = re.compile(r"^(?:ok|okay|alright|all right|right|so|well)\b(?= \w)")
_AGREES: Final = re.compile(r"\b(?:yes|yeah|yep|yup|sure|absolutely|definitely|certainly|of course)\b")
_WISHES: Final = re.compile(
    r"\b(?:(?:i|we) (?:still |also |really |actually |just |do )*(?:want|need|would (?:still |really |also |actually )*(?:like|love|rather|prefer)|"
    r"have (?:a|one|another|some|two|an) (?:\w+ ){0,2}(?:questions?|things?|requests?|orders?|appointments?|bookings?|problems?|issues?|calls?|more|other)\b|am (?:looking|calling|trying|hoping))|"
    r"(?:can|could|would|will) (?:you|i|we)|one more|another (?:thing|question)|(?<!found )(?<!got )(?<!have )(?<!took )(?<!chose )something else|question|keep|do not (?:hang|end|go|close|cancel|stop)|"
    r"not (?:done|finished|yet|so fast)|help me|come back|let us)\b"
)
# Of a caller who has no time, or is not who was asked for.
_OFFERS: Final = re.compile(
    r"\b(?:can|could|will|would) (?:you|we) (?:\w+ ){0,2}(?:call|ring|phone|try|do (?:this|it|that)|talk|speak)\b|\bcan i (?:take a message|help you)\b"
)
_NEEDS_NOTHING: Final = re.compile(
    r"\b(?:do|did|does|will|would|am|is) not (?:really |actually |even )?(?:\w+ ){0,3}?(?:want|need|like|have|looking|anything|more|any)\b|"
    r"\b(?:would|will) (?:rather|prefer) not\b|\b(?:needed|wanted)\b|\b(?:have|got|need) to (?:go|run|hang up|leave)\b"
)


def unexplained_words(text: str, *known: str) -> list[str]:
    """Returns the words of an answer that are no part of a yes and that ``known`` texts do not have."""
    said = _BEFORE_YES.sub("", _IDIOMS.sub("yes", " ".join(word_tokens(text))))
    explained = {word for other in known for word in word_tokens(other)} - {"not", "no", "never", "if", "but"}
    stems = {stem for other in known for stem in content_stems(other)} - {"not", "no", "never"}
    words = [word for word in said.split() if word not in _ASSENT and word not in explained]
    words = [word for word in words if stem_word(word) not in stems]
    # "No" is among the words only for "no, that's fine" and its like, which are idioms.
    return [*words, *(["no"] if re.search(r"\bno\b", said) else [])]


def is_outright_yes(text: str, *known: str) -> bool:
    """Returns True for a yes with nothing left over but what was known and what belongs to a yes."""
    return not unexplained_words(text, *known) and not answers_nothing(text)


def is_outright_no(text: str, *known: str) -> bool:
    """Returns True for a refusal or a goodbye with nothing left over: "no thanks, that's all I needed"."""
    said = " ".join(word_tokens(text))
    if _DENIED_GOODBYE.search(said) or _PICKS.search(said) or len(_NEGATIONS.findall(said)) > _MAX_NEGATIONS:
        return False
    explained = {word for other in known for word in word_tokens(other)}
    left = [word for word in said.split() if word not in _REFUSAL and word not in _ASSENT and word not in explained]
    return not left and _REFUSES.search(said) is not None


def goes_elsewhere(text: str, told: str) -> bool:
    """Returns True for "no thanks, we'll take the bus": a refusal with what is done instead, and nothing of the offer."""
    match = _ELSEWHERE.match(" ".join(word_tokens(text)))
    if match is None or has_reservation(match["what"]):
        return False
    return not set(content_stems(match["what"])) & set(content_stems(told)) and not _HAS_FIGURE.search(match["what"])


def denies_leaving(text: str) -> bool:
    """Returns True for "I don't want to hang up yet" and "I'm not not interested"."""
    parts = [" ".join(word_tokens(part)) for part in _PARTS.split(text)]
    return any(_DENIED_GOODBYE.search(part) or _NOT_NOT.search(part) for part in parts)


def denied_stems(text: str) -> set[str]:
    """Returns the stems of what a "not" is about: the words that follow it in the same clause."""
    stems: set[str] = set()
    for clause in _PARTS.split(text):
        for match in _DENIAL.finditer(" ".join(word_tokens(clause))):
            stems |= set(content_stems(match["what"] or match["none"]))
    return stems - {"not", "no", "never"}


def answers_nothing(text: str) -> bool:
    """Returns True for words of a yes that are none: "yeah, right", "good question", "yes or no"."""
    return _NO_ANSWERS.search(" ".join(word_tokens(text))) is not None


def has_yes_word(text: str) -> bool:
    """Returns True where a yes is said outright."""
    said = _IDIOMS.sub("yes", " ".join(word_tokens(text)))
    return _YES_WORDS.search(said) is not None


# "If you could send that, I'd be grateful" is no condition.
_POLITE_IF: Final = re.compile(
    r"\bif (?:that is (?:all right|okay|ok)|(?:you|it) (?:could|would(?: be so kind| not mind)?|can|do not mind|please|is no bother|is no trouble)(?= |$)"
    r"(?! (?:first|wait|tell|find|make|do it|explain|check|confirm|promise|guarantee)))"
)


def has_reservation(text: str, described: str = "", *, may_deny: bool = False) -> bool:
    """Returns True for a condition, a delay, a doubt, another wish or another person's will beside what is said.

    ``described`` is what an author writes of the same wish: what belongs to it ("not sure yet") is no reservation.
    """
    said, own = (_IDIOMS.sub("yes", " ".join(word_tokens(written))) for written in (text, described))
    said = _POLITE_IF.sub(" ", said.replace("rather not", "not") if may_deny else said)
    if not may_deny and (_denies_own(text, described) if described else _DENIES.search(said)):
        return True
    patterns = [_CONTRASTS, _DEFERS, _ALTERS, _REPORTS, _OTHERS]
    return any(
        any(found not in own for found in (match.group() for match in pattern.finditer(said))) for pattern in patterns
    )


def _denies_own(text: str, described: str) -> bool:
    """Returns True for a "not" in a single clause, or in one that shares a word with what is described."""
    clauses = [clause for part in _PARTS.split(text) if content_stems(clause := part)]
    own = set(content_stems(described)) - {"not", "no", "never"}
    denied = [clause for clause in clauses if _DENIES.search(_IDIOMS.sub("yes", " ".join(word_tokens(clause))))]
    return any(len(clauses) == 1 or own & set(content_stems(clause)) for clause in denied)


def contrasts(text: str) -> bool:
    """Returns True where a "but", an "only if" or an "until" limits what is said."""
    return _CONTRASTS.search(" ".join(word_tokens(text))) is not None


def wants_to_go_on(text: str) -> bool:
    """Returns True where a goodbye, or a "nothing", comes with a wish: "no, I still have a question"."""
    said = " ".join(word_tokens(text))
    rest = _NEEDS_NOTHING.sub(" ", _OFFERS.sub(" ", said))
    return (
        _WISHES.search(rest) is not None
        or re.search(r"\b(?:(?<!to )(?<!can )(?<!will )wait(?! no)|hold on|hang on)\b", said) is not None
    )


def is_about_others(text: str) -> bool:
    """Returns True for "my boss has to agree" and "I was talking to my son": no wish of the caller."""
    said = " ".join(word_tokens(text))
    return _REPORTS.search(said) is not None or concerns_others(text)


def is_absent(text: str) -> bool:
    """Returns True for "he's not home, this is his mother": somebody else would have to answer."""
    return _IS_ABSENT.search(" ".join(word_tokens(text))) is not None


def concerns_others(text: str) -> bool:
    """Returns True if another person has to agree, to answer or to be asked."""
    said = " ".join(word_tokens(text))
    return _OTHERS.search(said) is not None or _TALKS_TO.search(said) is not None


def is_past(text: str) -> bool:
    """Returns True for what was and may be no more: "I used to rent"."""
    return _PAST.search(" ".join(word_tokens(text))) is not None


def is_not_yet(text: str) -> bool:
    """Returns True for what is not so now, or not for certain: "I turn eighteen in March"."""
    return _NOT_YET.search(" ".join(word_tokens(text))) is not None


def only_acknowledges(text: str) -> bool:
    """Returns True for "okay, done": a word that may only say that something was heard, and something else."""
    said = " ".join(word_tokens(text))
    return _ACKNOWLEDGES.match(said) is not None and _AGREES.search(said) is None
