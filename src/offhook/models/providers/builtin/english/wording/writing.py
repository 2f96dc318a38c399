"""Mends how authors type ("theyre closed sat, tomorow ok?") and how a sentence to a caller is written. Pure."""

import re
from typing import Final

_TYPED: Final = """
    dont=don't; doesnt=doesn't; didnt=didn't; cant=can't; wont=won't; isnt=isn't; arent=aren't; wasnt=wasn't; werent=weren't; hasnt=hasn't;
    havent=haven't; couldnt=couldn't; wouldnt=wouldn't; shouldnt=shouldn't; youre=you're; theyre=they're; theyll=they'll; theyd=they'd;
    theyve=they've; weve=we've; im=I'm; ive=I've; youll=you'll; itll=it'll; wheres=where's; hows=how's; heres=here's; whens=when's;
    tomorow=tomorrow; tommorow=tomorrow; tommorrow=tomorrow; tmrw=tomorrow; adress=address; apointment=appointment; appoinment=appointment;
    appointmnet=appointment; appt=appointment; recieve=receive; recieved=received; wich=which; thier=their; teh=the; adn=and; pls=please;
    plz=please; thx=thanks; wensday=wednesday; wednsday=wednesday; febuary=february; avaliable=available; availible=available;
    custumer=customer; costumer=customer; calender=calendar; resevation=reservation; reservaton=reservation; u=you; ur=your; dob=date of birth;
    bday=birthday; msg=message; nubmer=number; numer=number; phonenumber=phone number; emergancy=emergency; somthing=something; anyting=anything; untill=until;
    unfortunatly=unfortunately; definately=definitely; wether=whether; becuase=because; payed=paid; someones=someone's; anyones=anyone's; anybodys=anybody's; nobodys=nobody's; everythings=everything's; reciept=receipt; somebodys=somebody's; happend=happened; occured=occurred; recomend=recommend; cancle=cancel; kinda=kind of; wanna=want to; gonna=going to; til=until; till=until; alright=all right
"""
_AS_MEANT: Final = dict(pair.strip().split("=") for pair in _TYPED.split(";"))
_TYPED_WORD: Final = re.compile(rf"(?<![\w'])(?:{'|'.join(_AS_MEANT)})(?![\w'])", re.IGNORECASE)
_OF_SOMEBODY: Final = r"(?:(?:full|first|last|phone|email|best|cell) )?(?:names?|number|phone|address|e-?mail|age|birthday|date of birth|order|dog|car|size|budget)\b"
_BEFORE_A_CLAUSE: Final = r"(?:say|tell them|tell \w+|explain|mention|ask|if|whether|when|that|because|and|or|where|how long|how|what|which|who|whose|sorry|think|since|until|once|as|but|hi|hello|unfortunately|all right|okay|ok|yes|no|confirm|check|sure|why)"
_WRITING: Final = (
    (re.compile(r"\u2019"), "'"),
    (re.compile(r"\b(?:no|nr)\.(?=\s|$)(?!\s*\d?[A-Z])"), "number"),
    (re.compile(r"\b(that|what|there|who)s\b(?! (?:and|or)\b)", re.IGNORECASE), r"\1's"),
    (re.compile(rf"(?:(?<=^)|(?<=[\n.,;] )|(?<=\n)|(?P<before>\b{_BEFORE_A_CLAUSE} ))its (?!own\b|{_OF_SOMEBODY})", re.IGNORECASE), r"\g<before>it's "),
    (re.compile(r"\bits (?=(?:right|correct|okay|ok|fine|true|urgent|an?|too|not|about|for|free|booked|noted|done|ready|in|on|at|under|with|\d)\b)", re.IGNORECASE), "it's "),
    (re.compile(r"\b(say|that|if|sorry|and|tell \w+|hi|when) were (?=(?:open|closed|full|booked|here|happy|sorry|not|on|out|busy|glad|in|at|always|fully|only)\b)", re.IGNORECASE), r"\1 we're "),
    (re.compile(r"\b(say|them|and|that|ok|okay) ill (?=(?:send|call|be|have|get|put|let|check|look|see|take|bring|text|email|ask|pass)\b)", re.IGNORECASE), r"\1 I'll "),
    (re.compile(rf"\bthere (?={_OF_SOMEBODY})", re.IGNORECASE), "their "),
    (re.compile(r"\b(child|kid|dog|cat|pet|caller|customer|patient|guest|baby|student|tenant|owner|parent|mom|dad|mother|father|wife|husband|company|manager|landlord|teacher|doctor|animal|horse|son|daughter)s (?=(?:(?:full|first|last) )?(?:name|age|birthday|grade|class|weight|breed|date|owner)\b)", re.IGNORECASE), r"\1's "),
    (re.compile(r"(?<=[A-Za-z]) ?[+&] ?(?=[a-z])"), " and "),
    (re.compile(r"\b(name|phone|number|e-?mail|address|date|day|time)/(?=[a-z])", re.IGNORECASE), r"\1 and "),
    (re.compile(r"(?<=[a-z]{2})/(?=[a-z]{2})(?<!and/)"), " or "),
)  # fmt: skip
_NUMBERED: Final = re.compile(r"(?<=\S)\s+(?=\d{1,2}[.)]\s+[a-z])", re.IGNORECASE)
_SHORT_FORMS: Final = (
    (re.compile(r"\b(it|he|she|that|there|what|who|everything)'s (?=(?:been|had|got|gone|happened)\b)", re.IGNORECASE), r"\1 has "),
    (re.compile(r"\b(they|you|we)'ve\b", re.IGNORECASE), r"\1 have"),
    (re.compile(r"\b(they|you|we)'re\b", re.IGNORECASE), r"\1 are"),
    (re.compile(r"\b(they|you|we|he|she)'d\b", re.IGNORECASE), r"\1 would"),
    (re.compile(r"\b(they|you|we|he|she)'ll\b", re.IGNORECASE), r"\1 will"),
    (re.compile(r"\b(it|he|she|that|there|what|who|where|how|everything|everybody|everyone|nobody|somebody|someone|anybody|anyone)'s\b(?! (?:name|number|address|e-?mail|phone|birthday)\b)", re.IGNORECASE), r"\1 is"),
)  # fmt: skip


def mend_writing(prompt: str) -> str:
    """Returns a prompt as its author means it: "say its ready tomorow" has an apostrophe and two letters r."""
    prompt = _TYPED_WORD.sub(lambda found: _AS_MEANT[found.group().lower()], prompt)
    for pattern, meant in _WRITING:
        prompt = pattern.sub(meant, prompt)
    if re.match(r"\s*1[.)] ", prompt):
        prompt = _NUMBERED.sub("\n", prompt)
    for pattern, whole in _SHORT_FORMS:
        prompt = pattern.sub(whole, prompt)
    return prompt


_DAY_NAMES: Final = {
    "mon": "Monday", "tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday", "weds": "Wednesday", "thu": "Thursday", "thur": "Thursday",
    "thurs": "Thursday", "fri": "Friday", "sat": "Saturday", "sun": "Sunday",
}  # fmt: skip
_SHORT_DAY: Final = rf"(?:{'|'.join(_DAY_NAMES)})"
_DAY_RANGE: Final = re.compile(rf"\b({_SHORT_DAY})\.? ?(to|through|and|or|-|\u2013) ?({_SHORT_DAY})\b", re.IGNORECASE)
_ON_A_DAY: Final = re.compile(
    rf"\b((?:on|next|this|until|till|by|from|every|closed|for) )({_SHORT_DAY})\b(?! \w+ing\b)", re.IGNORECASE
)
_PROPER: Final = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|april|june|july|august|september|october|november|december|christmas|easter|"
    r"(?:(?<=\bin )|(?<=\bof )|(?<=\buntil )|(?<=\bsince )|(?<=\bby )|(?<=\bfor )|(?<=\bthis )|(?<=\bnext )|(?<=\bon )|(?<=\bfrom )|(?<=\bor ))(?:may|march)(?= (?:or|and|to|\d)|[.,?!]|$)|(?:may|march)(?= \d))\b",
    re.IGNORECASE,
)  # fmt: skip
_HOUR_RANGE: Final = re.compile(
    r"(?<![\d-])((?:1[0-2]|[1-9])(?::\d\d)?(?: ?[ap]m)?) ?[-\u2013] ?((?:1[0-2]|[1-9])(?::\d\d)?(?: ?[ap]m)?)(?![\d-])"
)
_CONTRACTED: Final = {"is": "'s", "are": "'re", "am": "'m", "will": "'ll"}
_TO_CONTRACT: Final = re.compile(
    r"\b(?:(?P<who>it|that|there|we|you|they|I|he|she|what|who) (?P<is>is|will)|(?P<we>we|you|they) (?P<are>are)|(?P<I>I) (?P<am>am))(?= [\w$])(?! (?:or|and|but|if|when)\b)",
    re.IGNORECASE,
)


def contract_verbs(statement: str) -> str:
    """Returns "It's booked." for "It is booked.", as people speak."""

    def shorten_verb(found: re.Match[str]) -> str:
        subject = found["who"] or found["we"] or found["I"]
        verb = (found["is"] or found["are"] or found["am"]).lower()
        has_form = verb == "will" or subject.lower() not in ("we", "you", "they")
        return f"{subject}{_CONTRACTED[verb]}" if has_form or verb == "are" else found.group()

    statement = re.sub(r"\b(it|that|there|we|you|they|I|he|she) will not\b", r"\1 won't", statement)
    return _TO_CONTRACT.sub(shorten_verb, statement)


def write_names(sentence: str) -> str:
    """Returns a sentence with the capitals of days, months, "I" and "ID"."""
    sentence = _DAY_RANGE.sub(
        lambda found: (
            f"{_DAY_NAMES[found[1].lower()]} {found[2].replace('-', 'to').replace(chr(0x2013), 'to')} {_DAY_NAMES[found[3].lower()]}"
        ),
        sentence,
    )
    sentence = _ON_A_DAY.sub(lambda found: f"{found[1]}{_DAY_NAMES[found[2].lower()]}", sentence)
    sentence = _PROPER.sub(lambda found: f"{found.group()[:1].upper()}{found.group()[1:]}", sentence)
    sentence = re.sub(
        r"\b(dr|mr|mrs|ms)\b\.? ([a-z])", lambda found: f"{found[1].capitalize()} {found[2].upper()}", sentence
    )
    sentence = _HOUR_RANGE.sub(r"\1 to \2", sentence)
    sentence = re.sub(r"(?<=day) (?=\d{1,2}(?:[:.]\d\d)? ?[ap]m\b)", " at ", sentence)
    sentence = re.sub(r"\bi(?=\b(?!\.))", "I", sentence)
    return re.sub(r"\bid(?=[ ,.?!]|$)", "ID", sentence)


_SMALL_WORDS: Final = frozenset({"of", "and", "the", "on", "in", "at", "for", "from", "to", "a", "an"})


def write_house(name: str) -> str:
    """Returns the name of a house with its capitals: "pine lake" is "Pine Lake", "the shop on elm" is as it is."""
    name = name.strip().rstrip(".!? ")
    words = name.split()
    if (
        not words
        or len(words) > 6
        or words[0].lower() in ("the", "a", "an", "your", "our", "my")
        or name != name.lower()
    ):
        return name
    return " ".join(word if word in _SMALL_WORDS else f"{word[:1].upper()}{word[1:]}" for word in words)
