"""Answers callers' questions with what the author wrote, and says what a situation demands."""

import re
from collections.abc import Sequence
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin.english.overlap import count_shared_words
from offhook.models.providers.builtin.english.persona import PersonaFacts, SituationRule
from offhook.models.providers.builtin.english.utterance import CallerUtterance
from offhook.models.providers.builtin.english.words import content_stems, word_tokens
from offhook.models.providers.builtin.meaning import SentenceMeaning

UNKNOWN: Final = "I'm afraid I don't have that information."
_MIN_ANSWER: Final = 0.42
_CUE_WEIGHT: Final = 0.4
_WORD_WEIGHT: Final = 0.16
_MIN_SITUATION: Final = 0.33
# "A new appointment" is no "new pain".
_OF_ANYTHING: Final = frozenset({"bad", "new", "not", "severe", "strong"})
# Below this a situation is not sure, where an edge is as near as this.
_SURE_SITUATION: Final = 0.45
_NEAR_EDGE: Final = 0.65
# "My knee is fine now" tells of no pain, near as its words are.
_IS_WELL: Final = re.compile(
    r"\b(?:is|are|am|feels?|feeling|felt|got) (?:(?:all|much|so|quite|really|totally|perfectly|a lot|just|completely) )*"
    r"(?:fine|better|great|okay|ok|good|well|healed|gone(?! (?:numb|bad|wrong|dead|out|down))|cured|recovered)\b|\b(?:a (?:whole )?lot|much|way|lots) better\b"
)
# Of a wish: who asks for something says so in words that are near to many a situation.
_MIN_SITUATION_OF_WISH: Final = 0.42
# Danger to life, whatever words the author has for it.
_DANGER: Final = re.compile(
    r"\b(?:(?:not|stopped|barely|hardly|trouble|hard|hard to|difficulty|difficult|struggling to|struggling) (?:to )?breath\w*|stops? breathing|chok(?:ing|ed|es)|"
    r"unconscious|unresponsive|collapse[ds]?|collapsing|(?:passed|passing|passes) out|faint(?:ed|ing)|knocked out|not (?:moving|responding|responsive|waking|wake|answering me)|seizures?|convuls\w+|"
    r"drown\w*|electrocuted|chest pains?|chest (?:\w+ )?hurts|pain in (?:my|his|her|the) chest|heart attack|stroke|overdos\w*|too many (?:pills|tablets)|"
    r"poison\w*(?! (?:in|at|from|last|when|after|there)\b)|bleed\w*|blood(?! (?:test|work|pressure|type|sugar))|swollen|swelling|allergic reaction|anaphyla\w+|throat (?:is )?(?:closing|closed)|hit (?:my|his|her|their) head|"
    r"fell (?:down|off|from) (?:the|a|my) (?:stairs|steps|ladder|roof|window|balcony)|(?:someone|somebody|he|she|they|people) (?:is|got|are|was|were|been) (?:hurt|injured|shot)|"
    r"been shot|got shot|car (?:crash|accident|wreck)|(?:going|gone) into labor|in labor|water (?:just )?broke|"
    r"guns?|knife|(?:with|has|have|had|holding|swinging) (?:a|an) (?:\w+ )?(?:bat|axe|machete|hammer|crowbar|weapon)|(?:banging|pounding|kicking) (?:on|at|in|down) (?:my|our|the) (?:door|window)|(?:someone|somebody|he|she|they|man|men|guys?|people|stranger|burglar|person) (?:is |are |was |were |keeps? )?(?:\w+ )?trying to get in(?:to)?(?! (?:touch|contact|for|on|with|to see)\b)|weapon|stabb\w*|threaten(?:s|ed|ing)?|attack(?:ed|ing)|stalk(?:ed|ing|er)|assault\w*|break(?:ing)? in(?:to)?|broke into|intruder|kidnap\w*|robbed|robbing|"
    r"(?:hurt|hit|beat)(?:s|ing|ting)? (?:me(?! with (?:it|them|those|your)|$)|us|her|him)|(?<=\w )(?:hurt|hit|beat)(?:s|ing|ting)? me$|(?:to|will|would|gonna|could|might) (?:hurt|kill) (?:me|us|her|him|you)|(?:follow|chas)(?:s|ing) (?:me|us|her|him)|not safe|in danger|"
    r"on fire|(?:caught|catching) fire|(?:house|kitchen|building|car|room|oven|roof) is burning|(?:there is|have|got|see) (?:a )?fire|fire in (?:my|the|our)|smoke (?:\w+ )?(?:coming|in|everywhere|out)|gas leak|smell(?:s|ing|ed)? (?:of |like |the )?gas|carbon monoxide|explo(?:ded|sion)|"
    r"suicid\w*|kill (?:my|him|her) ?self|end my life|not want to (?:live|be alive|be here) ?(?:any|more)?|want to die|hurt (?:my|him|her) ?self|"
    r"(?:need|call|send) (?:\w+ ){0,2}(?:ambulance|911|police|paramedics?)|agony|excruciating|unbearable)\b"
)
_DENIED_DANGER: Final = re.compile(r"\b(?:not|no|nobody|never|without|stopped)\b(?! stop\b)(?: \w+){0,2} ?$")
_SAYS_EMERGENCY: Final = re.compile(r"\bemergency\b")
_ABOUT_DANGER: Final = re.compile(
    r"\b(?:danger\w*|emergency|pain|bleed\w*|hurt|injur\w*|medical|unsafe|threat\w*)\b", re.IGNORECASE
)
# Where the author has thought of no danger.
CALL_FOR_HELP: Final = "If anyone is in danger, please hang up now and call 911 or your local emergency number."
_CALLS_HELP: Final = re.compile(r"\b(?:emergency|911|999|112|ambulance|police)\b", re.IGNORECASE)
_WISHES: Final = re.compile(r"\b(?:need|want|like|have) to (?:see|come|book|make|get|talk|speak|change|move|cancel)\b")
# What a question asks for and what its answer looks like.
_CUES: Final = tuple(
    (re.compile(asked), re.compile(answer, re.IGNORECASE))
    for asked, answer in (
        (
            r"\b(where (?:are|is|do(?! (?:i|we) (?:park|leave|put))|can(?! (?:i|we) (?:park|leave|put))|about|abouts|you|it|that|the)|address|located|location|directions|how (?:do|can) (?:i|we) (?:get|find)|which (?:street|road|part)|what (?:street|road|part)|find you|get to you|(?<!parking )near)\b",
            r"\b(address|street|road|avenue|square|lane|located|floor|opposite|near)\b",
        ),
        (
            r"\b(how much|price\w*|cost\w*|fee\w*|charge\w*|expensive|pay|what do you (?:charge|take)|rates?|cheap|quote|what is the damage)\b|\b(?:run|set) (?:me|us)(?: back\b|$)",
            r"\b(costs?|dollars?|euros?|pounds?|cents?|price\w*|fees?|(?<!cancel )(?:is|are) free|charge[ds]?(?<!of charge)|payable|\d+(?:\.\d\d)? (?:an? (?:hour|night|day|week|month|year|visit|person|head|session|lesson)|per \w+|each))\b|[$€£]",
        ),
        (
            r"\b(for free|is it free|free of charge)\b",
            r"\b(free|charge\w*)\b",
        ),
        (
            r"\b(how long (?:does|will|is|do|would|can|have|till|until|before)|duration|take long|how many (?:minutes|hours|days)|time limit|deadline)\b",
            r"\b(takes?|lasts?|within|half an hour)\b",
        ),
        (
            r"\b(open|close|closed|closing|opening|hours|saturdays?|sundays?|weekends?|holidays?|how late|how early|what days|which days|lunch ?time|evenings?)\b",
            r"\b(open|closed|hours|from \w+ (?:am|o'clock|to)|monday to friday)\b",
        ),
        (
            r"\b(what (?:times|slots|do you have|have you got|is available|is free)|which times|available|availability|free (?:times|slots)|earliest|soonest|latest|any (?:slots|times|openings))\b",
            r"\b(free times|available|slots?)\b",
        ),
        (
            r"\b(park(?:ing)?|(?:leave|put) (?:the|my|our|a) (?:car|van|truck|bike)|somewhere for (?:the|my|our) (?:car|van))\b",
            r"\b(park(?:ing)?|garage|car park)\b",
        ),
        (
            r"\b((?:how early|how soon|what time|what hour|by when|when|latest) (?:\w+ )?(?:it|that|they|we|i|you|the \w+|things?|stuff)? ?(?:is |are |be )?(?:have to|need to|must|should|can|could|supposed|meant|due|expect\w*|allowed)\b)",
            r"\b(?:by|before|after) (?:\d|noon|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)",
        ),
        (
            r"\b((?:turn|show) up|check ?in|arriv\w+|get (?:there|in))\b",
            r"\b(check ?-?in|arriv\w+)\b",
        ),
        (r"\b(bring|prepare|form|early|fill (?:in|out)|paperwork)\b", r"\b(bring|form|early|prepare)\b"),
        (
            r"\b(return\w*|send (?:it|them) back|refund\w*|money back|(?:see|get) my money)\b",
            r"\b(returns?|refund\w*|money back)\b",
        ),
        (
            r"\b(?:by tomorrow|overnight|next[ -]day|same[ -]day|faster|quicker|rush(?:ed)?|expedite[ds]?|speed (?:it|that|things) up|(?:get|have|need) (?:it|them|this|something) (?:sooner|today|tomorrow))\b",
            r"\b(?:express|overnight|next (?:business )?day|same[ -]day|rush|expedited)\b",
        ),
        (
            r"\b(?:in it for (?:me|us)|rewards?|points|incentives?|compensat\w+|(?:get|win|earn) (?:paid|a (?:gift|coupon|discount|prize|voucher|reward)|anything|something|money)|gift cards? for)\b",
            r"\b(?:rewards?|gifts? for|vouchers?|prizes?|compensat\w+|points)\b",
        ),
        (
            r"\bwho (?:all |else |will |can |gets to |is going to |would )*(?:see|sees|read|reads|hear|hears|look|looks|know)\b|\b(?:confidential|anonymous|stay(?:s)? (?:private|between us)|is this private|sell (?:my|our|it))\b",
            r"\b(?:read|seen|shared?|confidential|anonymous|private) (?:only )?(?:by|with|them)?\b",
        ),
        (r"\b(deliver\w*|shipping|postage|ship)\b", r"\b(deliver\w*|ship|shipping|postage)\b"),
    )
)


def answer_question(heard: str, facts: PersonaFacts, meaning: SentenceMeaning) -> str | None:
    """Returns the author's sentence that answers a question; None when no sentence does."""
    best = max(facts.facts, key=lambda fact: score_answer(heard, fact, meaning), default=None)
    return best if best is not None and score_answer(heard, best, meaning) >= _MIN_ANSWER else None


def score_answer(heard: str, sentence: str, meaning: SentenceMeaning) -> float:
    """Scores how well a sentence answers a question: by meaning, words in common, and whether it has what is asked for."""
    near = meaning.similarity(heard, sentence) + _WORD_WEIGHT * count_shared_words(heard, sentence)
    return near + name_cue(heard, sentence)


def name_cue(heard: str, sentence: str) -> float:
    """Returns more than 0 for a sentence with what a question asks for: an amount to "what does it cost?"."""
    said = " ".join(word_tokens(heard))
    return _CUE_WEIGHT * any(answer.search(sentence) for asked, answer in _CUES if asked.search(said))


def situation_sentence(
    said: CallerUtterance, facts: PersonaFacts, edges: Sequence[EdgeHint], meaning: SentenceMeaning
) -> str | None:
    """Returns what an author wants said in the caller's situation ("is in strong pain or bleeding"); else None.

    Danger to life has an answer with every agent. A situation that shares no word with what was said is none where an
    edge is near: "it's an emergency, a pipe burst" suspects no gas.
    """
    is_danger = names_danger(said.heard)
    is_emergency = is_danger or (said.polarity != "no" and _SAYS_EMERGENCY.search(" ".join(word_tokens(said.heard))))
    helping = [rule for rule in facts.rules if _CALLS_HELP.search(rule.sentence)]
    for rule in helping if is_danger else facts.rules:
        shared = set(content_stems(said.heard)) & set(content_stems(rule.situation)) - _OF_ANYTHING
        is_asked_about = rule.situation.startswith(("asks", "ask ", "wants", "want "))
        is_well = _ABOUT_DANGER.search(rule.situation) and _IS_WELL.search(" ".join(word_tokens(said.standing)))
        if is_asked_about or ((said.polarity == "no" or is_well) and not is_danger):
            continue
        if is_emergency and rule in helping and _ABOUT_DANGER.search(rule.situation):
            return rule.sentence
        near = meaning.similarity(said.standing, rule.situation)
        is_near = near >= (_MIN_SITUATION_OF_WISH if _WISHES.search(said.standing) else _MIN_SITUATION)
        if shared or (is_near and not _is_elsewhere(said.standing, rule, near, edges, meaning)):
            return rule.sentence
    return CALL_FOR_HELP if is_danger else None


def _is_elsewhere(
    standing: str, rule: SituationRule, near: float, edges: Sequence[EdgeHint], meaning: SentenceMeaning
) -> bool:
    """Returns whether a caller is rather at an edge than in a situation, or is well."""
    if _ABOUT_DANGER.search(rule.situation) and _IS_WELL.search(" ".join(word_tokens(standing))):
        return True
    texts = [text for edge in edges for text in (edge.label, edge.condition, *edge.examples) if text]
    return near < _SURE_SITUATION and meaning.nearest(standing, texts) >= _NEAR_EDGE


def names_danger(heard: str) -> bool:
    """Returns True for danger to life, not for "no blood" and "it stopped bleeding"."""
    words = " ".join(word_tokens(heard))
    return any(
        not _DENIED_DANGER.search(words[: match.start()]) or "not stop" in words for match in _DANGER.finditer(words)
    )
