"""Turns an author's instruction to a model into the sentence that a caller hears: "Ask how many people come". Pure."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from offhook.models.providers.builtin.english.question_forms import (
    ask_clause,
    ask_either,
    write_question,
)
from offhook.models.providers.builtin.english.wording.addressing import ROLE, WHO, address_caller, finish_sentence
from offhook.models.providers.builtin.english.wording.asked_items import (
    QUESTION_WORD,
    TELL_ME,
    ask_directly,
    ask_items,
    with_article,
)
from offhook.models.providers.builtin.english.wording.bare_words import ask_bare
from offhook.models.providers.builtin.english.wording.splitting import ASKS, split_instructions
from offhook.models.providers.builtin.english.wording.statements import READS_BACK, is_unsaid, write_statement
from offhook.models.providers.builtin.english.wording.writing import contract_verbs, write_house, write_names

# What an author writes as it is to be said, and the sentences of it that belong to a question.
_CHOICES: Final = re.compile(
    r"^(?:we (?!want|need (?:to|their|your|name|phone|address|e-?mail|number|date)\b|should|must|are |would like)\w+|(?:they|it|you) can\b|(?:for [\w ]{2,20} )?there (?:is|are)|our (?!goal|aim|task)\w+|there (?:is|are)|(?:the|our) (?:options|choices|plans|rooms|prices|slots|times) (?:are|include))\b",
    re.IGNORECASE,
)
_SAID_AS_IT_IS: Final = re.compile(
    rf"{_CHOICES.pattern}|^(?!(?:say|tell|ask|confirm|check|explain|mention|if|when|once|after|before|until|what|which|how|where|who) )(?:(?:the|their|your|an?) )?\w+(?: \w+)? (?:is|are) (?:now |all )?(?:booked|reserved|made|ordered|(?:cancelled|canceled)|done|noted|confirmed|sent|scheduled|saved|moved)\b|^(?:hello|hi|hey|thanks|thank you(?! message)|sorry|goodbye|bye|good (?:morning|afternoon|evening|day))\b|^[^,.!?]{{2,40}}, (?:hi|hello|good (?:morning|afternoon|evening|day))\b",
    re.IGNORECASE,
)
_MAYBE_WHO: Final = rf"(?: {WHO})?"
_ASKED_VALUE: Final = r"(?:name|phone|telephone|number|address|e-?mail|zip|birthday|date of birth|date|day|time)"
_OFFERS: Final = "I can offer you"
_REQUEST: Final = "Could you please "
_PARTING: Final = re.compile(r"Goodbye|Bye|Thank|See you|Have an? |All the best|Enjoy|Take care")
MAX_STATEMENTS: Final = 3
MAX_QUESTIONS: Final = 3


# Each turn needs the same result several times.
@lru_cache(maxsize=256)
def speak_instructions(prompt: str) -> str:
    """Returns what a prompt asks to be said, up to its first questions; "" when it asks for nothing.

    What is there to choose from is said before the question, wherever it stands: "Ask which drink. There is cola."
    """
    made: list[str] = []
    question, also_asked = "", list[str]()
    reads_back = False
    for instruction in split_instructions(prompt):
        said = _state_words(instruction) if _SAID_AS_IT_IS.match(instruction) else _speak_instruction(instruction)
        reads_back = reads_back or (said == "" and READS_BACK.search(instruction) is not None)
        if not said or said in made:
            continue
        if not said.endswith("?"):
            if question.startswith(_REQUEST) and not question.startswith(TELL_ME) and _PARTING.match(said):
                made.append(f"Please {question.removeprefix(_REQUEST)[:-1]}.")
                question = ""
            if not question or _CHOICES.match(instruction):
                made.append(said)
        elif not question:
            question = said
        elif question.startswith(TELL_ME) and said.startswith(TELL_ME):
            question = (
                f"{question[:-1]}{',' if ' and ' in question else ''} and {said.removeprefix(TELL_ME)[:-1].strip()}?"
            )
        elif said not in (question, *also_asked):
            also_asked.append(said)
    if not question and made and made[-1].startswith(_OFFERS):
        question = "Would you like that?"
    if reads_back and not question and not made:
        question = "Is that right?"
    if also_asked:
        question = _join_questions([question, *also_asked][:MAX_QUESTIONS])
    return write_names(" ".join([*made[:MAX_STATEMENTS], *([question] if question else [])]))


def _join_questions(questions: list[str]) -> str:
    """Returns one sentence, which is repeated as a whole: "What happened, and when did it happen?"."""
    first, *more, last = (question.rstrip("?") for question in questions)
    more = [f", {question[:1].lower()}{question[1:]}" for question in more]
    return f"{first}{''.join(more)}, and {last[:1].lower()}{last[1:]}?"


# "hi, this is greenway, what can we do for them"
_THEN_ASKED: Final = re.compile(
    r"^(?P<first>[^,]+(?:, [^,]+)?)[,.] (?P<then>(?:(?:what|how|which|when|who|where)(?: \w+)? (?:can|may|is|are|do|did|would|should)|(?:is|are|do|can|may|would|should) (?:it|they|you|we|I|that|the)) .+)$",
    re.IGNORECASE,
)


def _state_words(words: str) -> str:
    """Returns what an author wants said; "" for what is only named: "the price"."""
    if priced := re.match(
        r"(?P<what>(?:the|our) [\w ]{2,20}), (?P<value>(?:from )?[$\u20ac\u00a3]?\d.*)$", words, re.IGNORECASE
    ):
        words = f"{priced['what']} is {priced['value']}"
    if asked := _THEN_ASKED.match(words):
        said = [
            finish_sentence(write_statement(address_caller(part, is_statement=True)))
            for part in (asked["first"], asked["then"])
        ]
        return f"{said[0]} {said[1][:-1]}?"
    return "" if is_unsaid(words) else finish_sentence(write_statement(address_caller(words, is_statement=True)))


# "tell him his car is ready": who is told is the caller
_OF_HIM: Final = re.compile(
    r"\b(?:(?P<his>(?<!tell )(?<!let )(?<!inform )(?<!remind )(?<!ask )(?<!warn )(?<!advise )(?<!thank )(?:his|her))(?= \w)|he|she)\b",
    re.IGNORECASE,
)


def _speak_instruction(instruction: str) -> str | None:
    instruction = re.sub(r"^(say|tell them|ask(?: them)?): ?", r"\1 ", instruction, flags=re.IGNORECASE)
    if instruction.endswith("?") and not re.match(rf"{ASKS}\b", instruction, re.IGNORECASE):
        return write_question(address_caller(instruction).rstrip("?"))
    instruction = instruction.strip().rstrip(".:;,!? ").strip()
    if re.match(r"(?:tell|let|inform|remind|ask|warn|advise|thank) (?:him|her)\b", instruction, re.IGNORECASE):
        instruction = _OF_HIM.sub(lambda found: "their" if found["his"] else "they", instruction)
    for pattern, speak in _INSTRUCTIONS:
        if match := pattern.match(instruction):
            return speak(match)
    return None


def _greet(match: re.Match[str]) -> str:
    return "Hello!" if match["house"] is None else f"Hello, and welcome to {match['house'].rstrip('.!? ')}!"


# What an author adds for the model: "ask name, don't ask the address", "if yes ask when"
_ADDED: Final = re.compile(
    r",? so (?:that )?(?:the|we|you|I|it)\b.*$|,? (?:and |but )?if (?:yes|no|not|so)\b.*$|,? (?:and |but )?if (?:they|you) (?:do|don't|say|are|aren't|have|haven't)\b(?=.*\b(?:ask|say|tell|bye|goodbye)\b).*$|"
    r", if \w+(?: \w+)? (?:get|ask|take|say|tell|offer)\b.*$|,? but (?:don't|do not|not|never|only|be|no)\b.*$|, (?:don't|do not|never|no need|be|keep|stay|nothing|only)\b.*$|,? (?:nicely|politely|please|one by one|one at a time)$",
    re.IGNORECASE,
)


# "ask to reschedule": what a caller may like, or whom we may speak to
_ASKS_TO: Final = re.compile(
    r"ask (?:to (?=(?:re)?schedule|book|cancel|set up|come|make|join|sign up|renew|buy|order|meet|pay)|(?:to (?:speak|talk) (?:to|with) |for (?=(?:the (?:manager|boss|owner|supervisor|homeowner)|m(?:r|s|rs)\.? \w+)$))(?P<speak>.+)$)",
    re.IGNORECASE,
)


def _ask(match: re.Match[str]) -> str:
    rest = _ADDED.sub("", address_caller(match["rest"]).rstrip(".!?: "), count=1)
    rest = re.sub(r"^(?:(?:the|this|your|one|a) )?(?:\w+ )?question: ?", "", rest, flags=re.IGNORECASE)
    if (asked := ask_either(rest) or ask_directly(rest)) is not None:
        return asked
    if not_them := _ASKS_TO.match(match[0]):
        return f"May I speak to {not_them['speak']}, please?" if not_them["speak"] else f"Would you like {rest}?"
    rest = re.sub(r",? or (?:whether|if) .*$", "", rest)
    rest = re.sub(rf"^about (?={QUESTION_WORD}\b)", "", rest, flags=re.IGNORECASE)
    if re.fullmatch(r"(?:ok|okay|all right|right|correct|fine)", rest, re.IGNORECASE):
        return f"Is that {rest}?"
    if re.fullmatch(r"(?:that|this|it)", rest, re.IGNORECASE):
        return ""
    if (asked := ask_items(rest)) is not None:
        return asked
    if re.match(
        rf"(?:(?:on|at|for|in|by|from|since|until|under|to|about|with|on a scale .{{4,20}}) )?{QUESTION_WORD}\b",
        rest,
        re.IGNORECASE,
    ):
        return ask_clause(rest)
    return _ask_for(rest)


_OTHER_TIME: Final = re.compile(
    r"(?:about|for) (?P<what>another (?:day|time|date|week)|(?:next|this) \w+|tomorrow|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day(?: \w+)??)(?P<instead> instead)?",
    re.IGNORECASE,
)

# "ask for pickup or delivery"
_FOR_EITHER: Final = re.compile(r"^for (?=(?!the|your|an?|our)[\w-]+ or [\w-]+$)", re.IGNORECASE)


def _ask_for(rest: str) -> str:
    """Returns a question for what is named or wished: "their name", "to hold", "cash or card"."""
    if another := _OTHER_TIME.fullmatch(rest):
        return f"Would {another['what']} work{another['instead'] or ''}?"
    if allowed := re.match(r"(?:for )?(?:your )?(?:permission|consent) to (?P<do>.+)$", rest, re.IGNORECASE):
        return f"May we {allowed['do']}?"
    rest = _FOR_EITHER.sub("", rest)
    is_named = re.match(r"(?:for|about|to|the|your|an?|our)\b", rest, re.IGNORECASE)
    if (
        not is_named
        and (" or " in rest or rest.startswith("any"))
        and ask_items(f"{rest}, name") is None
        and (bare := ask_bare(rest)) is not None
    ):
        return write_question(bare)
    rest = re.sub(r"^about\s+", "", rest)
    if wish := re.match(r"to (?P<rest>(?!tell|give|say|provide|share)\w.+)$", rest, re.IGNORECASE):
        return f"{_REQUEST}{wish['rest'].removeprefix('please ')}?"
    rest = re.sub(
        r"^(?:for|to (?:tell|give|say|provide|share)(?: (?:you|me|us))?|tell (?:you|me)|give (?:you|me))\s+", "", rest
    )
    if re.match(rf"{QUESTION_WORD}\b", rest, re.IGNORECASE):
        return ask_clause(rest)
    if re.fullmatch(r"(?:an?|the|your) (?:short )?message", rest, re.IGNORECASE):
        return "What message would you like to leave?"
    return f"{TELL_ME} {with_article(re.sub(r', it (?=[a-z]+s )', ', which ', rest))}?"


def _offer(match: re.Match[str]) -> str:
    offered = address_caller(match["rest"]).rstrip(".!? ")
    if re.fullmatch(r"(?:your |our |my )?(?:help|assistance|to help)", offered, re.IGNORECASE):
        return "How can I help you?"
    if to_do := re.match(r"to (?P<do>.+)$", offered, re.IGNORECASE):
        if match.groupdict().get("them"):
            return f"Would you like to {to_do['do']}?"
        whom = " you" if to_do["do"].lower() in ("transfer", "connect", "help") else ""
        return f"Would you like me to {to_do['do']}{whom}?"
    return f"{_OFFERS} {offered}."


def _put_through(match: re.Match[str]) -> str:
    # "with transfer_to_support" names a tool
    to = "" if "_" in (match["to"] or "") else address_caller(match["to"] or "", is_statement=True).rstrip(".!? ")
    return f"One moment, I'll {'put' if match['do'].lower() == 'put' else 'connect'} you{' through' if match['do'].lower() == 'put' else ''}{to}."


def _say_sorry(match: re.Match[str]) -> str:
    about = match["about"]
    return (
        f"I'm sorry about {address_caller(about, is_statement=True).rstrip('.!? ')}."
        if about
        else "I'm sorry about that."
    )


def _answer_phone(match: re.Match[str]) -> str:
    if _SAID_AS_IT_IS.match(match["house"]):
        return _state_words(match["house"])
    return f"Hello, this is {write_house(match['house'])}."


def _let_choose(match: re.Match[str]) -> str:
    if between := re.match(r"(?:between|from) (?P<rest>.+)$", match["rest"], re.IGNORECASE):
        either = " or ".join(between["rest"].rstrip(".!? ").rsplit(" and ", 1))
        return f"Would you like {either}?"
    chosen = re.sub(r"^(?:a|an|the|one of the|one of our|their|between|from)\s+", "", match["rest"].rstrip(".!? "))
    return f"Which {chosen} would you like?"


def _request_action(match: re.Match[str]) -> str:
    action = address_caller(match["rest"]).rstrip(".!? ")
    if re.match(r"(?:tell|let) (?:me|you)\b", action, re.IGNORECASE):
        rest = re.sub(r"^(?:tell (?:me|you)|let (?:me|you) know)\s+", "", action, flags=re.IGNORECASE)
        return ask_clause(rest) if re.match(rf"{QUESTION_WORD}\b", rest) else f"{TELL_ME} {rest}?"
    action = re.sub(r"^not to |^not |^to not ", "do not ", action, flags=re.IGNORECASE)
    return f"{_REQUEST}{action}?" if match["ask"] else finish_sentence(write_statement(f"please {action}"))


def _introduce(match: re.Match[str]) -> str:
    return f"This is {write_house(match['name'])}."


# "make sure they have a card", never "confirm the details with them"
_WHAT_HOLDS: Final = re.compile(
    r"(?:they|it|he|she|you|we|someone|nobody|everybody|everything) (?!and\b|with\b)\w+|(?:the|their|that|this|all)\b.* (?:is|are|was|were|has|have|can|will|works?|fits?)\b",
    re.IGNORECASE,
)


def _confirm(match: re.Match[str]) -> str:
    rest = match["rest"].strip()
    if re.match(rf"(?:with {WHO} )?(?:that|whether|if)\b", rest, re.IGNORECASE):
        clause = address_caller(re.sub(rf"^(?:with {WHO} )?(?:that|whether|if) ", "", rest, flags=re.IGNORECASE))
        return ask_clause(f"if {clause}")
    if re.match(rf"{QUESTION_WORD}\b", rest, re.IGNORECASE):
        return ask_clause(address_caller(rest))
    if known := re.match(
        r"(?:they|he|she|the \w+) (?:knows?|understands?) (?:that )?(?P<fact>(?!how\b|what\b|where\b|when\b|who\b|why\b).+)$",
        rest,
        re.IGNORECASE,
    ):
        return f"Just so you know, {contract_verbs(address_caller(known['fact'], is_statement=True))}."
    if re.match(r"it is (?:them|him|her|the \w+)\b", rest, re.IGNORECASE):
        return ""
    return ask_clause(f"if {address_caller(rest)}") if _WHAT_HOLDS.match(rest) else "Is that all correct?"


# The first match wins; each turns an instruction for a model into a sentence for the caller.
_INSTRUCTIONS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), speak)
    for pattern, speak in (
        (rf"^(?:greet|welcome)\b(?: {WHO})?(?:\W*\b(?:warmly|politely|kindly))?(?: to (?P<house>(?-i:(?:the |our )?[A-Z])[^,;]*|(?:the|our) [^,;]*))?.*$", _greet),
        (rf"^thank(?: {WHO})?(?P<how> (?:again|anyway|very much|so much|a lot))?(?: (?:warmly|kindly|nicely|politely))?(?P<for> for [^,;]+?)?(?:,.*)?$", lambda m: f"Thank you{(m['how'] or '').replace(' a lot', ' very much')}{address_caller(m['for'] or '', is_statement=True)}."),
        (rf"^(?:say|tell {WHO}|wish {WHO}|bid {WHO})(?: a)?(?: \w+)? (?:goodbye|good-bye|bye|farewell)\b.*$", lambda _: "Goodbye!"),
        (rf"^wish {WHO} (?:well|all the best|good luck|luck)\b.*$", lambda _: "All the best!"),
        (rf"^wish {WHO} (?P<rest>.+)$", lambda m: f"Have {address_caller(m['rest']).rstrip('.!? ')}!"),
        (rf"^apologi[sz]e(?: to {WHO})?(?: (?:for|about|that) (?P<about>(?:the|our|any|all|this|that) [\w' -]+))?\b.*$", _say_sorry),
        (r"^introduce yourself as (?P<name>.+)$", _introduce),
        (r"^(?:answer|pick up|open)(?: the (?:phone|call))? (?:with|as|by saying) (?P<house>.+)$", _answer_phone),
        (r"^(?:suggest|propose) (?!that\b|to\b|they\b)(?P<rest>.+)$", lambda m: f"How about {address_caller(m['rest'])}?"),
        (r"^(?:suggest|propose|recommend)(?: that| to)? (?P<rest>.+)$", lambda m: _state_words(f"I suggest {m['rest']}")),
        (rf"^invite {WHO} to (?P<the>the |our |an? )?(?P<rest>.+)$", lambda m: _state_words(f"you're {'invited' if m['the'] else 'welcome'} to {m['the'] or ''}{m['rest']}")),
        (rf"^give {WHO} (?:the|a) (?:choices?|options?) (?:of|between|to choose) (?P<rest>.+)$", lambda m: f"Would you like {m['rest']}?"),
        (rf"^give {WHO} (?:(?:the|two|three|our|these|\d) )?(?:choices|options|times|slots|dates)[,:]? (?P<rest>.+)$", _offer),
        (rf"^give {WHO} (?P<what>(?:the|our) [\w ]+?)[,:]? (?P<value>\d.*)$", lambda m: _state_words(f"{m['what']}, {m['value']}")),
        (r"^list (?P<rest>.+)$", lambda m: _state_words(m["rest"])),
        (r"^(?:confirm|verify|check)\b.*? by asking (?:them )?(?:for )?(?P<rest>.+)$", _ask),
        (rf"^(?P<do>put|transfer|connect|forward|pass)(?: {WHO})?(?: through| over| on)?(?P<to> (?:to|with) .+)?$", _put_through),
        (r"^(?:answer|close|finish|hang up|introduce|repeat|summari[sz]e|sum up|recap|read|spell|write|go (?:through|over))\b.*$", lambda _: ""),
        (rf"^(?:let|help) {WHO} (?:choose|pick|select|decide) (?P<rest>.+)$", _let_choose),
        (rf"^(?:have|get|let|instruct|tell|advise|remind)(?P<ask>) {WHO} (?:to )?(?P<rest>(?:describe|explain|spell|repeat|tell|let)\b.+)$", _request_action),
        (rf"^(?:instruct|tell|advise|remind|warn)(?P<ask>) {WHO} (?:to )?(?P<rest>(?<=to ).+|not to .+|never .+)$", _request_action),
        (r"^say to (?P<rest>(?!them\b|the\b|him\b|her\b).+)$", lambda m: _state_words(f"please {m['rest']}")),
        (rf"^(?=say\b|tell\b)(?:{READS_BACK.pattern}).*$", lambda _: ""),
        (rf"^let {WHO} know (?:that )?(?P<rest>.+)$", lambda m: _state_words(m["rest"])),
        (rf"^(?:remind|inform|tell){_MAYBE_WHO} (?P<rest>(?:of|about) (?:their|the|an?) (?:upcoming )?(?:appointment|payment|visit|booking|reservation|meeting|class|lesson|due date|event|delivery|bill|rent|pickup)\b.*)$", lambda m: _state_words(f"this is a reminder {m['rest']}")),
        (rf"^(?:say|tell(?: {WHO}|(?= (?:the|our) (?!{ROLE}\b)))|explain|inform {WHO}|warn {WHO}|mention|remind {WHO}|express|state)(?: to {WHO})? (?:that (?!is\b|was\b|will\b)|of the fact that |something like )?(?!about\b(?! \d)|of\b|whether\b|how\b|what\b|when\b|where\b|why\b|your\b|who\b)(?P<rest>.+)$", lambda m: _state_words(m["rest"])),
        (rf"^(?:confirm|verify|check|double[ -]check|make sure|ensure)(?: with {WHO})? (?P<rest>.+)$", _confirm),
        (r"^(?:you|we)(?: would like| want|'d like)? (?:to )?(?:know|learn|hear|understand) (?P<rest>.+)$", _ask),
        (rf"^{ASKS}(?: (?:from |with |of )?{WHO})? (?P<rest>.+)$", _ask),
        (rf"^offer (?P<them>{WHO} )?(?P<rest>.+)$", _offer),
        # "name and phone number please"
        (r"^(?P<rest>(?:(?:their|the|full|first|last) )*(?:name|phone|telephone|number|address|e-?mail|zip|birthday|date of birth)\b(?!.*\b(?:is|are|was|has|of the)\b)[^:]{0,50}?)(?:,? please)?$", _ask),
        (rf"^(?:we |I |you )?(?:just )?need (?P<rest>(?:(?:their|the|full|first|last|a|your) )*{_ASKED_VALUE}\b.*)$", _ask),
        # "what day is good", "do they own or rent"
        (r"^(?P<rest>(?:what|which|when|how|where|who)\b(?: [\w']+){0,4}? (?:is|are|do|does|did|can|would|will|should|was|were|has|have)\b[^:]{1,70})$", _ask),
        (r"^(?P<rest>(?:is|are|was|were|does|did|has|can|could|would|should|(?:do|have)(?= (?:they|we|you)\b)) (?:they|it|we|there|he|she|you|the|this|that|any\w*|some\w*)\b[^:]{1,80})$", _ask),
    )
)  # fmt: skip
