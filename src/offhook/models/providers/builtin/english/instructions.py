"""Turns an author's instruction to a model into the sentence that a caller hears: "Ask how many people come". Pure."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from offhook.models.providers.builtin.english.question_forms import (
    ask_clause,
    ask_either,
    invert_clause,
    write_question,
)

_SENTENCE: Final = re.compile(r"(?:[^.!?\n]|[.](?=\d|[a-z]))+[.!?]*")
_PERSONA: Final = re.compile(
    r"^(you are|you're|your (name|role|job) is|act as|always|never|do not|don't|be |keep |speak|use |if |when |once |unless |wait |listen )",
    re.IGNORECASE,
)
_ROLE: Final = r"(?:caller|customer|user|guest|patient|client|person|member|tenant|candidate|applicant|resident|owner|parent|donor|visitor|buyer|seller|passenger|driver|employee)"
_WHO: Final = rf"(?:(?:the |a )?{_ROLE}|them|him|her|people|everyone)"
_CALLER: Final = rf"{_ROLE}(?! (?:number|id|card|code|account|service|portal|area|name)\b)"
_ACTS: Final = (
    "hasn't|isn't|doesn't|wasn't|has|is|wants|needs|was|does|prefers|likes|lives|arrives|comes|calls|goes|pays|works|thinks|feels|uses|drives|plans|hopes|expects|owns|accepts|agrees|"
    "chooses|knows|says|gives|takes|means|remembers|requires|stays|brings|leaves|looks|orders|speaks|sounds|suffers|takes|travels"
)
_PRONOUNS: Final = (
    (re.compile(rf"\b(the )?{_ROLE}'s\b", re.IGNORECASE), "your"),
    (re.compile(rf"\bthe {_ROLE} (?P<verb>{_ACTS})\b", re.IGNORECASE), None),
    # "Dana, the owner, calls back" is somebody else
    (re.compile(rf"(?<![a-z], )\bthe {_CALLER}\b|\bthe {_CALLER}\b(?!,)", re.IGNORECASE), "you"),
    (re.compile(rf"\bthey (?P<verb>{_ACTS})\b", re.IGNORECASE), None),
    (re.compile(r"\b(?:they|them)\b", re.IGNORECASE), "you"),
    (re.compile(r"\btheir\b", re.IGNORECASE), "your"),
    (re.compile(r"\btheirs\b", re.IGNORECASE), "yours"),
    (re.compile(r"\b(?:themselves|themself)\b", re.IGNORECASE), "yourself"),
)
# In a question; in a statement "he" is often somebody else: "The plumber rings before he arrives".
_SINGULAR_PRONOUNS: Final = (
    (re.compile(rf"\b(?:he|she) (?P<verb>{_ACTS})\b", re.IGNORECASE), None),
    (re.compile(r"\b(?:he|she|him)\b", re.IGNORECASE), "you"),
    (re.compile(r"\b(?:his|her)\b", re.IGNORECASE), "your"),
    (re.compile(r"\b(?:himself|herself)\b", re.IGNORECASE), "yourself"),
)
_SECOND_PERSON: Final = {
    "has": "have",
    "is": "are",
    "was": "were",
    "does": "do",
    "goes": "go",
    "doesn't": "don't",
    "isn't": "aren't",
    "hasn't": "haven't",
    "wasn't": "weren't",
}
# To the model "you" is the agent.
_AGENT: Final = (
    (re.compile(r"\byou (can|could|will|may|should|would|must|need|have|want|do)\b", re.IGNORECASE), r"I \1"),
    (re.compile(r"\bwhile you\b", re.IGNORECASE), "while I"),
    (re.compile(r"\byou are\b", re.IGNORECASE), "I am"),
    (re.compile(r"\b(to|for|with|tell|give|help|call|reach) you\b", re.IGNORECASE), r"\1 me"),
    (re.compile(r"\byour (clinic|company|office|shop|store|team|business|colleagues?|hotel|restaurant)\b"), r"our \1"),
)

_ASKS: Final = r"(?:ask|enquire|inquire|find out|figure out|learn|determine|establish|collect|gather|get|obtain|take|note(?: down)?|request)"
_TELLS: Final = r"(?:warn|say|tell|explain|inform|mention|remind|express|state|let|advise)"
_VERB: Final = (
    rf"(?:{_ASKS}|{_TELLS}|thank|greet|welcome|confirm|check|verify|make sure|ensure|offer|introduce|wish|bid|apologi[sz]e|repeat|"
    r"summari[sz]e|sum up|go through|read|recap|invite|instruct|have|spell|write|end|hang up|close|finish|answer)"
)
_BULLET: Final = re.compile(r"^(?:[-*\u2022\u2013]|\d+[.)]|[a-z][.)])\s+")
_LEAD_IN: Final = re.compile(
    r"^(?:(?:please|then|now|next|first(?:ly)?|second(?:ly)?|finally|also|after (?:that|this)|afterwards|lastly|politely|kindly|warmly|briefly|just|simply|and|so|here|again|"
    r"(?:at|in|on|for) (?:this|the) (?:step|stage|point|node|part)|in this call|as a next step|"
    r"(?:in order to|to|for) [^,.]{3,70},|"
    r"(?:your|the) (?:goal|task|job|aim): ?|"
    r"(?:your|the) (?:goal|task|job|aim|purpose)(?: here| now| in this step| of this step)? is (?:to|that you)|"
    r"(?:you|we) (?:should|must|need to|have to|will|are to)|(?:try|make sure|be sure|remember|your turn|it is time|time) to|(?:start|begin|open|finish|end|close) by)\b,?\s*)+",
    re.IGNORECASE,
)
_JOINED: Final = re.compile(
    rf"(?:\s*[,;]\s*(?:(?:and|then|and then|before|after which)\s+)?(?:to\s+)?|\s+(?:and|then|and then)\s+(?:to\s+)?)(?=(?:(?:politely|kindly|then|also|please)\s+)?{_VERB}\b(?! (?:back|up|in) ))",
    re.IGNORECASE,
)
_PARENTHESIS: Final = re.compile(r"\s*\([^)]*\)")
# "Ask, with some tact, what happened", "find out politely whether"
_ASIDE: Final = re.compile(
    rf"^({_VERB}(?: {_WHO})?)(?:,[^,]{{3,40}},| (?:politely|kindly|briefly|casually|carefully|gently|also|again|once more|in a friendly way))\s+",
    re.IGNORECASE,
)
_GERUNDS: Final = (
    (re.compile(r"^(greet|ask|thank|confirm|check|collect|explain|tell|say|repeat|find|offer|gather|learn)ing\b", re.IGNORECASE), r"\1"),
    (re.compile(r"^(welcom|introduc|apologiz|apologis|tak|not|summariz|invit)ing\b", re.IGNORECASE), r"\1e"),
    (re.compile(r"^determining\b", re.IGNORECASE), "determine"),
    (re.compile(r"^getting\b", re.IGNORECASE), "get"),
)  # fmt: skip
_SHORT_FORMS: Final = (
    (re.compile(r"\u2019"), "'"),
    (re.compile(r"\b(that|what|there|who)s\b(?! (?:and|or)\b)", re.IGNORECASE), r"\1's"),
    (re.compile(r"\bits (?=(?:right|correct|okay|ok|fine|true|urgent|an?|too|not|about|for|free|booked|noted|done)\b)", re.IGNORECASE), "it's "),
    (re.compile(r"\b(it|he|she|that|there|what|who|everything)'s (?=(?:been|had|got|gone|happened)\b)", re.IGNORECASE), r"\1 has "),
    (re.compile(r"\b(they|you|we)[\u2019']ve\b", re.IGNORECASE), r"\1 have"),
    (re.compile(r"\b(they|you|we)[\u2019']re\b", re.IGNORECASE), r"\1 are"),
    (re.compile(r"\b(they|you|we|he|she)[\u2019']d\b", re.IGNORECASE), r"\1 would"),
    (re.compile(r"\b(they|you|we|he|she)[\u2019']ll\b", re.IGNORECASE), r"\1 will"),
    (re.compile(r"\b(it|he|she|that|there|what|who|everything)[\u2019']s\b", re.IGNORECASE), r"\1 is"),
)  # fmt: skip
# What an author writes as it is to be said, and the sentences of it that belong to a question.
_CHOICES: Final = re.compile(
    r"^(?:we (?!want|need to|should|must|are |would like)\w+|(?:they|it|you) can\b|(?:for [\w ]{2,20} )?there (?:is|are)|our (?!goal|aim|task)\w+|there (?:is|are)|(?:the|our) (?:options|choices|plans|rooms|prices|slots|times) (?:are|include))\b",
    re.IGNORECASE,
)
_SAID_AS_IT_IS: Final = re.compile(
    rf"{_CHOICES.pattern}|^(?:hello|hi|hey|good (?:morning|afternoon|evening|day))\b|^[^,.!?]{{2,40}}, (?:hi|hello|good (?:morning|afternoon|evening|day))\b",
    re.IGNORECASE,
)
_TELL_ME: Final = "Could you please tell me"
_OFFERS: Final = "I can offer you"
MAX_STATEMENTS: Final = 3
_QUESTION_WORD: Final = r"(?:what|which|when|how|where|who|whose|whom|whether|if|why)"


def speak_instructions(prompt: str) -> str:
    """Returns what a prompt asks to be said, up to its first question; "" when it asks for nothing.

    What is there to choose from is said before the question, wherever it stands: "Ask which drink. There is cola."
    """
    made: list[str] = []
    question = ""
    for instruction in _split_instructions(prompt):
        said = state_sentence(instruction) if _SAID_AS_IT_IS.match(instruction) else _speak_instruction(instruction)
        if not said or said in made:
            continue
        if not said.endswith("?"):
            if not question or _CHOICES.match(instruction):
                made.append(said)
        elif not question:
            question = said
        elif question.startswith(_TELL_ME) and said.startswith(_TELL_ME):
            question = (
                f"{question[:-1]}{',' if ' and ' in question else ''} and {said.removeprefix(_TELL_ME)[:-1].strip()}?"
            )
    if not question and made and made[-1].startswith(_OFFERS):
        question = "Would you like that?"
    return " ".join([*made[:MAX_STATEMENTS], *([question] if question else [])])


def address_caller(text: str, *, is_statement: bool = False) -> str:
    """Returns words about the caller as words to them: "their name" is "your name", "you can help" is "I can help"."""
    for pattern, agent in _AGENT:
        text = pattern.sub(agent, text)
    for pattern, replacement in (*_PRONOUNS, *(() if is_statement else _SINGULAR_PRONOUNS)):
        if replacement is None:
            text = pattern.sub(lambda found: f"you {_second_person(found['verb'].lower())}", text)
        else:
            text = pattern.sub(replacement, text)
    return text


def _second_person(verb: str) -> str:
    return _SECOND_PERSON.get(verb) or verb.removesuffix("s")


def state_sentence(text: str) -> str:
    """Returns words as a sentence to the caller."""
    said = re.sub(
        r"\b(and|but) that (?=the|a|we|you|there|it)",
        r"\1 ",
        address_caller(text, is_statement=True).strip().rstrip("."),
    )
    return f"{said[:1].upper()}{said[1:]}{'' if said.endswith(('!', '?')) else '.'}"


def _split_instructions(prompt: str) -> Iterator[str]:
    for pattern, whole in _SHORT_FORMS:
        prompt = pattern.sub(whole, prompt)
    for found in _SENTENCE.findall(_PARENTHESIS.sub("", prompt)):
        sentence = _BULLET.sub("", found.strip())
        sentence = _LEAD_IN.sub("", sentence)
        if not sentence or _PERSONA.match(sentence):
            continue
        for part in _JOINED.split(sentence):
            instruction = _LEAD_IN.sub("", part.strip())
            for pattern, verb in _GERUNDS:
                instruction = pattern.sub(verb, instruction)
            if instruction:
                yield _ASIDE.sub(r"\1 ", instruction)


def _speak_instruction(instruction: str) -> str | None:
    if instruction.endswith("?"):
        return write_question(address_caller(instruction).rstrip("?"))
    instruction = instruction.strip().rstrip(".:;, ").strip()
    for pattern, speak in _INSTRUCTIONS:
        if match := pattern.match(instruction):
            return speak(match)
    return None


def _greet(match: re.Match[str]) -> str:
    return "Hello!" if match["house"] is None else f"Hello, and welcome to {match['house'].rstrip('.!? ')}!"


def _ask(match: re.Match[str]) -> str:
    rest = re.sub(
        r",? so (?:that )?(?:the|we|you|I|it)\b.*$", "", address_caller(match["rest"]).rstrip(".!?: "), count=1
    )
    if (either := ask_either(rest)) is not None:
        return either
    rest = re.sub(r",? or (?:whether|if) .*$", "", rest)
    rest = re.sub(r"^about (?=what\b)", "", rest, flags=re.IGNORECASE)
    if re.match(rf"{_QUESTION_WORD}\b", rest, re.IGNORECASE):
        return ask_clause(rest)
    if re.match(rf"(?:on|at|for|in|by|from|since|until|under|to|about|with) {_QUESTION_WORD}\b", rest, re.IGNORECASE):
        return ask_clause(rest)
    if re.fullmatch(r"[\w-]+(?:, [\w-]+)* or [\w-]+", rest):
        return f"Would that be {rest}?"
    if re.fullmatch(r"(?:that|this|it)", rest, re.IGNORECASE):
        return ""
    rest = re.sub(r"^about\s+", "", rest)
    if wish := re.match(r"to (?P<rest>(?!tell|give|say|spell|provide|share|describe)\w.+)$", rest, re.IGNORECASE):
        return f"Could you please {wish['rest']}?"
    described = re.match(r"to (?P<verb>spell|describe) (?P<rest>.+)$", rest, re.IGNORECASE)
    if described:
        return f"Could you please {described['verb']} {described['rest']}?"
    rest = re.sub(
        r"^(?:for|to (?:tell|give|say|provide|share)(?: (?:you|me|us))?|tell (?:you|me)|give (?:you|me))\s+", "", rest
    )
    if re.match(rf"{_QUESTION_WORD}\b", rest, re.IGNORECASE):
        return ask_clause(rest)
    return f"{_TELL_ME} {_with_article(rest)}?"


def _with_article(named: str) -> str:
    """Returns "your name" for "name": a terse author leaves out whose."""
    if re.match(
        r"(?:the|your|our|a|an|any|some|it|this|that|all|both|either|each|one|two|three|how|what|which|more|my)\b",
        named,
        re.IGNORECASE,
    ):
        return named
    return f"your {named}"


def _offer(match: re.Match[str]) -> str:
    return f"{_OFFERS} {address_caller(match['rest']).rstrip('.!? ')}."


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
        return ask_clause(rest) if re.match(rf"{_QUESTION_WORD}\b", rest) else f"{_TELL_ME} {rest}?"
    return f"Could you please {action}?" if match["ask"] else f"Please {action}."


def _introduce(match: re.Match[str]) -> str:
    return f"This is {match['name'].rstrip('.!? ')}."


def _confirm(match: re.Match[str]) -> str:
    rest = match["rest"].strip()
    if re.match(rf"(?:with {_WHO} )?(?:that|whether|if)\b", rest, re.IGNORECASE):
        clause = address_caller(re.sub(rf"^(?:with {_WHO} )?(?:that|whether|if) ", "", rest, flags=re.IGNORECASE))
        inverted = invert_clause(clause)
        return write_question(inverted) if inverted else f"May I ask whether {clause}?"
    if re.match(rf"{_QUESTION_WORD}\b", rest, re.IGNORECASE):
        return ask_clause(address_caller(rest))
    return "Is that all correct?"


# The first match wins; each turns an instruction for a model into a sentence for the caller.
_INSTRUCTIONS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), speak)
    for pattern, speak in (
        (rf"^(?:greet|welcome)\b(?: {_WHO})?(?:\W*\b(?:warmly|politely|kindly))?(?: to (?P<house>(?-i:(?:the |our )?[A-Z])[^,;]*))?.*$", _greet),
        (rf"^thank(?: {_WHO})?(?P<for> for [^,;]+?)?(?:,.*)?$", lambda m: f"Thank you{address_caller(m['for'] or '')}."),
        (r"^say thank you\b.*$", lambda _: "Thank you."),
        (rf"^(?:say|wish {_WHO}|bid {_WHO}) (?:goodbye|good-bye|bye|farewell)\b.*$", lambda _: "Goodbye!"),
        (rf"^wish {_WHO} (?:well|all the best|good luck|luck)\b.*$", lambda _: "All the best!"),
        (rf"^wish {_WHO} (?P<rest>.+)$", lambda m: f"Have {address_caller(m['rest']).rstrip('.!? ')}!"),
        (r"^apologi[sz]e\b.*$", lambda _: "I'm sorry about that."),
        (r"^introduce yourself as (?P<name>.+)$", _introduce),
        (r"^(?:end|close|finish|hang up|introduce|repeat|summari[sz]e|sum up|recap|read|spell|write|go through)\b.*$", lambda _: ""),
        (rf"^(?:let|help) {_WHO} (?:choose|pick|select|decide) (?P<rest>.+)$", _let_choose),
        (rf"^(?:have|get|let|instruct|tell|advise|remind)(?P<ask>) {_WHO} (?:to )?(?P<rest>(?:describe|explain|spell|repeat|tell|let)\b.+)$", _request_action),
        (rf"^(?:instruct|tell|advise|remind)(?P<ask>) {_WHO} to (?P<rest>.+)$", _request_action),
        (r"^say to (?P<rest>(?!them\b|the\b|him\b|her\b).+)$", lambda m: state_sentence(f"please {m['rest']}")),
        (r"^say (?:it|that|this|(?:(?:the|their|all|everything)(?: \w+){0,2})) (?:back|again)$", lambda _: ""),
        (rf"^let {_WHO} know (?:that )?(?P<rest>.+)$", lambda m: state_sentence(m["rest"])),
        (rf"^(?:say|tell {_WHO}|explain|inform {_WHO}|warn {_WHO}|mention|remind {_WHO}|express|state)(?: to {_WHO})? (?:that (?!is\b|was\b|will\b)|of the fact that )?(?!about\b|whether\b|how\b|what\b|when\b|your\b|who\b)(?P<rest>.+)$", lambda m: state_sentence(m["rest"])),
        (rf"^(?:confirm|verify|check|double-check|make sure|ensure)(?: with {_WHO})? (?P<rest>.+)$", _confirm),
        (r"^(?:you|we)(?: would like| want|'d like)? (?:to )?(?:know|learn|hear|understand) (?P<rest>.+)$", _ask),
        (rf"^{_ASKS}(?: (?:from |with |of )?{_WHO})? (?P<rest>.+)$", _ask),
        (rf"^offer (?:{_WHO} )?(?P<rest>.+)$", _offer),
        # "name and phone number please"
        (r"^(?P<rest>(?:(?:their|the|full|first|last) )*(?:name|phone|telephone|number|address|e-?mail|zip|birthday|date of birth)\b(?!.*\b(?:is|are|was|has|of the)\b)[^:]{0,50}?)(?:,? please)?$", _ask),
    )
)  # fmt: skip
