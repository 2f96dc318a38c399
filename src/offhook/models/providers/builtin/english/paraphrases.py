"""Puts roundabout ways to say something into the plain words that the rules know. Pure."""

import re
from typing import Final

from offhook.models.providers.builtin.english.spoken_values import MONTHS

_NOT: Final = r"(?:not\b|n'?t\b)"
_WE: Final = r"\b(?:i|we)(?:'(?:ve|d|m|re)| have| had| am| are| would)?(?: already| just)?"
_PROVIDER: Final = (
    r"(?:dentists?|doctors?|vets?|plumbers?|mechanics?|lawyers?|attorneys?|agents?|brokers?|provider|practice|clinic|"
    r"company|insurance|contractor|realtor|supplier)"
)
_CALLING: Final = r"(?:call|phon|ring|bother|text|contact)ing"
# "My wife says I have to go" is no goodbye: it says why somebody calls.
_SAYS: Final = r"(?:says?|said|tells? \w+|told \w+|telling \w+|thinks?|insists?|keeps? (?:saying|telling \w+)|knows?|(?<=\bi )know|i realize)"
_GO: Final = r"(?:(?:have|has|had|need|needs|got|ought) to|must|should) go"
_PRICE: Final = r"(?:\d|\b(?:ten|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|bucks|dollars|quid|pounds|grand|much)\b)"
_OUTING: Final = (
    r"(?: to)? (?:see|get|have)\b|(?= (?:to|in|back) (?:(?:the|a|an|my|your|see|get|have) )*(?:\w+ )?"
    r"(?:dentist|doctor|hygienist|vet|practice|clinic|check ?-?up|appointment|looked|checked|seen)\b)"
)

_PLAIN: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in (
        # not to be called
        (rf"\b(?:do|should|must) ?{_NOT} be {_CALLING}\b(?: (?:me|us|here))?", "don't call me"),
        (r"\byou(?:'re| are) not to (?:call|phone|ring|contact)\b(?: (?:me|us|here|this \w+))?", "don't call me"),
        (rf"\b(?:if you|wish you(?: people)?|rather you|prefer (?:it if )?you) (?:did|would|could) ?{_NOT} (?:call|phone|ring)\b", "don't call me"),
        (rf"\b(?:would|do) you mind not {_CALLING}(?: (?:me|us|here))?\b", "don't call me"),
        (rf"\b(?:please|thank you|thanks|grateful|appreciate it|ask(?:ing)? you) (?:not to|for not) (?:call|phone|ring|{_CALLING})\b(?: (?:me|us|here))?", "don't call me"),
        (r"\bthank you not to (?:call|phone|ring)\b", "don't call me"),
        (r"\b(?:leave|let) (?:me|us) (?:be|in peace)\b", "leave me alone"),
        (r"\b(?:enough of|sick of|tired of|fed up with|sick and tired of) (?:these|your|all these|the|getting) (?:\w+ )?calls?\b", "not interested, stop calling"),
        (rf"\b(?:never|did ?{_NOT}) (?:gave|give) (?:you|anyone|anybody) (?:my )?(?:permission|consent|number|leave)\b", "don't call me"),
        (r"\b(?:the|a|your)? ?(?:do|don't)[ -](?:not[ -])?call list\b", "the list: don't call me"),
        (r"^\W*no (?:more )?calls?(?: please)?\W*$", "don't call me"),
        # not to take part
        (r"^\W*(?:(?:no|nah|well|thanks?|thank you|sorry|but|oh)\W+)*(?:i(?:'d| would) )?(?:really |much )?(?:prefer not(?: to)?|sooner not|rather not)\b(?! (?:to )?(?:say|tell|answer|share)\b)(?=[,.! ]*(?:\w+)?\W*$)", "no thanks"),
        (rf"^\W*(?:(?:no|nah|well|oh)\W+)*i(?:'d| would) (?:really |much )?(?:rather|sooner) you (?:did|would) ?{_NOT}\W*$", "no thanks"),
        (rf"^\W*i (?:do|would) ?{_NOT} (?:really )?care to\W*$", "no thanks"),
        (r"^\W*(?:(?:no|nah|well|oh)\W+)*(?:let'?s|let us) (?:not|skip (?:it|this|that))\W*$", "no thanks"),
        (r"\b(?:you can |just |please )?(?:skip|leave) (?:me|us) (?:out|off)\b(?: of (?:it|this|that))?|^\W*you can skip (?:me|us)\W*$", "no thanks, not interested"),
        (rf"\bi (?:do ?{_NOT}|never) (?:take part|participate)\b(?: in [\w ]+)?", "not interested"),
        (r"^\W*(?:no )?(?:thanks?|thank you)\W+(?:but )?(?:i'?m|i am|we'?re|we are) (?:fine|good|okay|ok|all right|all set)\W*$", "no thanks"),
        (r"\b(?:ask|find|try) (?:some(?:one|body) else|another person)(?: to ask)?(?=\W*$)", "not interested"),
        (r"\bi (?:already )?(?:said|told you) no\b(?: to (?:this|that|you))?(?: already)?", "no, not interested"),
        (r"\bno time for (?:this|these|that|your|any)\b(?: \w+)?", "not interested"),
        # agreed by denial
        (r"\bi (?:do|can) ?(?:not|n't) see why not\b|\bcan't see why not\b|\bwhy (?:would|should) ?(?:not|n't) (?:i|we)\b(?= *[.!?]*$)|\bwhy (?:would|should) (?:i|we) not\b(?= *[.!?]*$)", "yes"),
        # what was once is no reason to leave now
        (r"\bhad (?:such |some )?(?:an? )?(?:really |very )?bad (?:time|experience)s?\b", "was hurt"),
        # praised by denial
        (r"\b(?:was|were|is)(?:n't| not) (?:half |too |so |that )?bad\b(?: at all| either)?(?! (?:time|moment|day))", "was good"),
        (r"\b(?:not|never)(?: (?:half|too|so|that))? bad\b(?: at all| either)?(?! (?:time|moment|day))", "good"),
        # go on
        (r"^\W*(?:no\W+)?(?:it|this|now)(?:'s| is)(?:n't| not) a bad (?:time|moment)\b\W*(?:no|at all)?\W*$", "go ahead"),
        (r"^\W*(?:(?:well|okay|ok|sure|so|all right|alright)\W+)*what (?:do|would|did) you (?:want|like|need) to (?:know|ask)(?: me)?\W*$", "go ahead"),
        # what was said before was meant for something else
        (r"^\W*(?:(?:no|oh|wait|sorry|hold on|hang on|ah)\W+)+i(?:'ve)? (?:just )?(?:misheard|misunderstood|misread)(?: you| it| that| the question)?\W+(?=(?:yes|yeah|no|nope)\b)", ""),
        (r"(?:'d| would) (?:really )?(?:rather|prefer|sooner) not (?:to )?keep\b", " want to return"),
        # somebody else does it already
        (rf"{_WE}(?: got| get| have)? (?:a|an|my own|our own|my|our|another|other) (?:\w+ )?{_PROVIDER} already\b", "not interested"),
        (rf"\b(?:i|we)(?:'ve)?(?: have| had)?(?: already)?(?: (?:have|got))?(?: already)? (?:my|our) own {_PROVIDER}\b", "not interested"),
        (rf"\b(?:i|we)(?:'ve)? (?:already (?:have|got)|have already got) an? (?:\w+ )?{_PROVIDER}\b", "not interested"),
        (rf"\b(?:happy|satisfied|fine|good|pleased|all set) with (?:my|our|the) (?:\w+ )?(?:{_PROVIDER}|one)\b", "not interested"),
        (rf"\b(?:i|we)(?:'ve| have)? (?:already )?(?:found|chosen|picked|went with|gone with) (?:an?other|a different|some other|some) (?:\w+ )?{_PROVIDER}\b", "not interested"),
        (r"\b(?:i|we)(?:'re| are|'m| am)? (?:already )?(?:go|going|see|seeing|use|using|with) (?:somewhere else|some(?:one|body) (?:else|across|in|closer|nearer)|another place|a different place)\b", "not interested"),
        (r"\b(?:that|it|this)(?:'s| is| was) the only thing(?: (?:i|we) (?:need|needed|want|wanted)(?: to know)?)?(?= ?[,.!;]|$)", "that's all"),
        (r"\b(?:there(?:'s| is|'s still| is still)|(?:still |have |seen )+) ?no sign of (?:it|them|him|her|(?:my|the|our) \w+)\b", "it has not arrived"),
        (r"\bwhere (?P<number>\d(?:[ -]?\d){3,}) (?:is|has got to|got to|went)\b", r"where my order \g<number> is"),
        (r"\bcome(?: in)?(?: on| at)? (?:a |an |some )?(?P<other>different|another|other) (?P<what>day|time|date)\b", r"move it to \g<other> \g<what>"),
        (r"\bneeds? (?P<whose>his|her|their) (?P<what>\w+) (?P<how>looked at|checked|seen to|cleaned|fixed)\b", r"need to get \g<whose> \g<what> \g<how>"),
        (r"^(?:well[ ,]+)?(?:i (?:guess|suppose|reckon)[ ,]+)?(?:that|it)(?:'ll| will) (?:just )?have to do(?= ?[,.!;]|$)", "okay, yes"),
        (r"\b(?:and i (?:do )?|but i do )mean\b[ ,]*", "and "),
        (r"(?P<said>(?:^|(?<=[.!?;,] ))(?!not\b)[^.,!?;]*(?:\bnot|n't|\bnever)\b[^.,!?;]*), no(?=[.!]|$)", r"no, \g<said>"),
        (r"(?<=\w)[ ,]+no (?:question|doubt)(?: about it)?(?=[.!]?$)", ", definitely"),
        (r"^no[ ,]+(?:\w+[ ,]+)?you(?:'ve| have) (?:got|reached|rung|called) the (?!(?:wrong|right|idea|gist|message|point)\b)[\w' ]+(?=[.!]?$)", "no, you have the wrong number"),
        (r"\b(?:ta[- ]ra|toodle[- ]?(?:oo|pip))\b", "goodbye"),
        (r"^(?:(?:no|nah|oh|well|actually)[ ,]+)*(?:just |let's just )(?:scrap|bin|drop|ditch|axe) (?:it|that)\b", "cancel it"),
        (r"\b(?:ping|pop|fire|shoot|bung) (?:it|that|one|them) (?:over|across|through)\b", "send it please"),
        (r"\b(?:i|we)(?:'ve| have)? (?:(?:bought|ordered) nothing|never (?:bought|ordered) (?:anything|a thing)) (?:from|off) you\b", "you have the wrong number"),
        (r"^(?:no[ ,]+)?(?:i|we)(?:'m|'re| am| are) not new(?: here| to you)?(?= ?[,.!;]|$)", "yes, I have been there before"),
        (r"^if (?:you would|you could|you (?:don't|do not) mind|it(?:'s| is) no (?:trouble|bother)|you(?:'d| would) be so kind)[ ,]+(?=(?:that|it)(?:'d| would)\b)", "yes please, "),
        (r"[ ,]+before i (?:chicken out|lose my nerve|change my mind)(?=[.!]?$)", ""),
        # a month that is only mentioned
        (rf"\b(?:moved|came|arrived|joined|started)(?: (?:here|over|down|up|in|back))* (?:in|last|since) (?:{'|'.join(MONTHS)})\b", "moved here"),
        (r"\bthat(?:'ll| will) do me\b", "that's all"),
        (r"\bbefore (?:you|we|i) (?:go ahead and )?(?:do|go|start)(?: (?:that|this|it|so|anything|anything else|on|ahead))?\b[ ,]+(?=(?:if|what|when|where|how|do|does|is|are|can|could|may|might|will|would|who|tell)\b)", ""),
        (r"\bget (?:myself|my teeth|my mouth) (?:seen to|sorted|looked at|seen)\b", "get a check-up"),
        (r"\b(?:i|we) (?:wouldn't|would not) go out of (?:my|our) way\b(?: to)?(?: (?:say|recommend) (?:it|so|that))?", "not really"),
        (r"[ ,]+(?:i'm |i am )?(?:sorry|sad|afraid) to say(?=[.!]?$)", ""),
        (r"\byou (?:lot|guys|folks|people|all)\b(?= (?:open|close|shut|do|have|take|see|still|got|going|charge))", "you"),
        (r"\bi(?:'m| am) not saying (?:no|never)\b[ ,]*(?:(?:but|just|only)[ ,]+)*", ""),
        # manners
        (r"\bi(?:'m| am| was) (?:just )?(?:wondering|hoping) (?:if|whether|that)? ?(?:it (?:might|would|could|may|is|'d) (?:be |at all )*possible to|(?:i|we) (?:might|could|can|may)(?: possibly| perhaps)?)\b", "could I"),
        (r"\bi wonder(?:ed)? (?:if|whether) (?:it (?:might|would|could|may|is) (?:be |at all )*possible to|(?:i|we) (?:might|could|can|may)(?: possibly| perhaps)?)\b", "could I"),
        (r"\b(?:would|might|could|is) it (?:at all |perhaps |be )*possible to (?=(?:take|remove|delete|stop|call|ring|phone|send|e-?mail|check|look|tell|put|let|hold|give|transfer|connect)\b)", "could you "),
        (r"\b(?:would|might|could|is) it (?:at all |perhaps |be )*possible to\b", "could I"),
        (r"\b(?:would|might|will) you (?:possibly |perhaps |kindly )*be able to\b", "could you"),
        (r"\bi(?:'d| had) meant (?:to say )?(?=\w)", "I mean "),
        (r"\b(?:do|sort) (?:something|out)(?: something)? (?:about|with) my (?P<what>appointment|booking|reservation)\b", r"change my \g<what>"),        (r"[ ,]+if (?:it's|it is) all the same(?: to you)?\b", ""),
        (r"[ ,]+if (?:i'm|i am|i may be) (?:quite |being |perfectly )?honest(?=[.!]?$)", ""),
        (r"\b(?:may|might|can|could) (?:i|we) (?:please |possibly |perhaps )?have an? (?P<what>appointment|check-?up|cleaning|visit)\b", r"i would like an \g<what>"),
        (r"\b(?:it|that) (?:was|is) (?:supposed|meant) to be\b", "make it"),
        (r"\bi tell a lie\b", "I mean"),
        (r"\bmoving (?:house|home|away|abroad|out of town|to another \w+)\b", "relocating"),
        (r"\bget (?P<whose>my|our) (?P<who>son|daughter|kids?|boy|girl|wife|husband|mother|mum|mom|father|dad) seen\b(?: to)?", r"get an appointment for \g<whose> \g<who>"),
        (r"\b(?:i|we) (?:won't|will not) (?:be needing|need) anything(?: else| more)?\b", "that's all"),
        (r"\bnothing more from me\b", "nothing more"),
        (r"\b(?:an? |this |my )?(?:terrible|awful|horrible|dreadful|bad) (?P<what>cough|cold|headache|line|connection|signal|echo|reception)\b", r"a \g<what>"),
        # thought better of
        (r"^(?:oh )?(?:no|nope)[.,!]? (?:(?:sorry|wait|oh|hang on)[ ,.]+)+(?:no[ ,]+)?(?:i mean(?:t)?[ ,]+)?(?=(?:yes|yeah)\b)", ""),
        (r"(?<=\w)[ ,.]+i misheard(?: you| that| it| the question)?(?=[.!]?$)", ""),
        (r"\bbefore (?:i|we) (?:say (?:yes|no|anything)|agree|answer|commit|decide)\b[ ,]*", ""),
        # what is not needed, or was booked before
        (r"\b(?:(?:do not|don't) think (?:i|we|he|she)(?:'ll| will) |(?:won't|will not) )(?:be needing|need) (?:that|the|my|this) (?P<what>(?:\w+ )?(?:appointment|booking|reservation|visit))\b", r"cancel my \g<what>"),
        (r"\b(?:i|we)(?:'ve| have)?(?: already)? got (?:one|an appointment|something) booked(?: in)?\b", "I already have an appointment"),
        (r"^(?:no|nah)[ ,]+(?:it|that)(?:'s| is) (?:okay|ok|all right|alright)[ ,.]+(?=(?:i|we)\b)", "no thank you, "),
        # what no longer works
        (r"\b(?:'s|has|have|had|is|just)? ?(?:packed (?:up|in)|conked out|gone kaput|gone on the blink|on the (?:blink|fritz)|given up the ghost)\b", " stopped working"),
        (r"\b(?:the |our |my )?(?:heating|heat|furnace|boiler)(?:'s| is| has| just)* (?:stopped(?: working)?|died|gone(?: off)?|broken(?: down)?|not (?:working|coming on))\b", "there is no heat"),
        # a no or a yes with a reason that has nothing of its own
        (r"^(?P<no>no|nope|nah)[ ,]+(?:because|cos|'cause)\b(?!.*\b(?:want|need|like|prefer|rather|instead|could|can|would|already|have|had|paid|am|is|are|i'm|day|\w+day)\b).*$", r"\g<no>"),
        (r"\bno[ ,]+(?=yes\b)", ""),
        (r"\bno[.,!;]+ not unless (?![^.?!]*(?:\d|day\b|o'clock|morning|afternoon|evening))[^.?!]*", "no"),
        (r"[ ,]+but (?:no|not) (?:later|earlier|sooner|more|less|longer|a minute later|a day later) than that\b(?:[ ,]+mind(?: you)?)?", ""),
        (r"^(?:would|do|did|can|could|will|have) (?:i|we)\?\W*(?=\w)", ""),
        (r"^(?:oh )?(?:good )?(?:god|lord|heavens?|hell|goodness|gosh)[ ,]+(?=no\b)", ""),
        (r"^(?P<why>[^.?!]{3,120}?),? so no(?=[.! ]*$)", r"no, \g<why>"),
        (r"\b(?:will|would|can|could) you (?:guys |lot |people )?(?:take|accept) (?=(?:cash|(?:credit |debit )?cards?|checks?|cheques?|amex|visa|american|apple|(?:my |our )?insurance|medicare|medicaid|walk)\b)", "do you take "),
        (r"^(?:please )?set (?P<who>me|us) up (?:with )?(?=an? )", r"I want to set up "),
        (r"\b(?:okay|ok|all right|alright|fine|so)[ ,]+let(?:'s| us) (?:make|book|set up|schedule) (?:another|one|an appointment)(?: one)?\b", "I want a new appointment after all"),
        (r"\blet(?:'s| us) rebook(?: it| that)?\b", "yes, I want a new appointment"),
        # a price that is said again before it is refused
        (rf"^(?:(?:hm+|oh|wow|what|uh|um|well|wait|eh)[ ,.]+)*(?=[^?]{{0,60}}{_PRICE})[^?.!,]{{1,60}}\?+\s+(?=(?:(?:oh|um|uh|god|hell)[ ,]+)?(?:no|nah|nope)\b)", ""),
        (rf"^(?:(?:hm+|oh|wow|what|uh|um|well|wait|eh)[ ,.]+)*(?=[^?]{{0,60}}{_PRICE})[^?.!,]{{1,60}}\?+\s+(?=[^?]*\b(?:forget|drop|skip) (?:it|that)\W*$)", "no, "),
        (r"^(?!no\b)(?P<why>[^.?!]{3,200}?), (?:so )?(?:(?:just )?(?:forget|drop|skip) (?:it|that)|let(?:'s| us) (?:just )?(?:leave|drop|forget|skip) it)(?=\W*$)", r"no, \g<why>"),
        (r"^(?P<no>no|nah|nope)[ ,]+(?:(?:just )?(?:forget|drop|skip) (?:it|that)|then)[ ,]+(?=i\b)", r"\g<no>, "),
        # a time that may be free
        (r"\b(?:have you(?: got)?|haven't you(?: got)?|do you have|don't you have|is there|isn't there) (?:something|anything|nothing)(?: (?:free|open|available|going|left))? (?:(?:round|about|around|near|nearer|closer to|nearer to|at) )+(?=\w)", "what about "),
        (r"\b(?:would|'d) be (?:such )?a (?:huge |big |great )?(?:weight|load) off(?: my (?:mind|shoulders))?\b", "would help me, yes please"),
        # the answer before was another one
        (r"^(?:(?:well|oh|um|uh)[ ,]+)*no[ ,]+actually[ ,]+(?:it was |it's )?(?=(?:more|rather) (?:the|my|your|a)\b)", "sorry, I meant "),
        (r"[ ,]+now (?:that )?i (?:come to )?think (?:of|about) it(?=[.!]?$)", ""),
        # wrong number
        (r"\b(?:meant|trying|wanted) to (?:ring|phone|call|dial) (?:the|my) (?!office|number|order)[\w']+(?= ?[,.!;]|$)", "dialed the wrong number"),
        (r"\bdial(?:l?ed|ing)? (?:it |you )?wrong\b|\bmis-?dial(?:l?ed)?\b|\b(?:pushed|pressed|hit|punched) the wrong (?:button|key|number|digits?)\b|\bwrong party\b", "dialed the wrong number"),
        # of calls that went before
        (r"\breturn(?:ing|ed)? (?:(?:your|a|the|my|his|her|their|any|missed|phone) )*calls?\b", "calling back"),
        (r"\breturned (?:home )?from\b", "came from"),
        (r"\b(?:some(?:one|body)) (?:(?:from|at|in|over) (?:\w+ ){1,3}?|just |has |had )*(?P<did>called|left|rang|phoned|told|said|wrote|sent|texted|keeps|kept)\b", r"you \g<did>"),
        # "in person" is no person to talk to
        (r"\bin person\b", "myself"),
        (rf"\b(?P<says>{_SAYS}|put (?:it|this) off(?: \w+){{0,3}},?)(?P<who>(?:,? (?:that|now|so|but|and))? (?:i|we|he|she|they|you))(?:'ve| really| do| finally)* {_GO}\b(?! (?:now|home|to (?:work|bed|sleep))\b)", r"\g<says>\g<who> need to come in"),
        (rf"\b(?:have|has|had|need|needs|got) to go(?:{_OUTING})", "need to come in"),
        # off the books
        (r"\b(?P<act>(?:take|strike|scratch|cross|remove|delete|erase|wipe|pull|get) (?:it|that|this|me|us|him|her|my name|my appointment|mine) (?:off|from|out of)(?: of)?) (?P<of>the|your|my) (?P<where>books?|schedule|calendar|diary)\b", r"\g<act> \g<of> \g<where>, cancel it"),
    )
)  # fmt: skip
# With one of these there is a wish beside it, which must not be lost.
_WISH: Final = re.compile(
    r"\b(?:need|want|like|love|looking for|trying|hoping|can|could|how|when|where|what|order|appointment|question|instead|move|"
    r"change|cancel|book|retired|moved|closed|quit|left)\b",
    re.IGNORECASE,
)
_DECLINES_ONLY_ALONE: Final = frozenset({"not interested"})
_DENIED: Final = re.compile(r"(?:\bnot|n't|\bnever|\bwithout)(?: \w+){0,3} $", re.IGNORECASE)


def plain_words(text: str) -> str:
    """Returns a text with its roundabout forms in plain words: "please don't be calling me" is "don't call me"."""
    text = text.replace("\u2019", "'")
    for pattern, plain in _PLAIN:
        match = pattern.search(text)
        if match is None or (
            plain in _DECLINES_ONLY_ALONE and _WISH.search(text[: match.start()] + text[match.end() :])
        ):
            continue
        if "cancel it" in plain and _DENIED.search(text[: match.start()]):
            continue
        text = text[: match.start()] + match.expand(plain) + text[match.end() :]
    return text
