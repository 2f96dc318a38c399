"""Puts everyday turns of phrase into the plain words that the rules know: leaving, asking for a colleague, times. Pure."""

import re
from collections.abc import Callable
from typing import Final

from offhook.models.providers.builtin.english.spoken_values import WEEKDAYS

_DAY: Final = rf"(?:{'|'.join(WEEKDAYS)})"
_UNIT: Final = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|\d)"
_HOUR: Final = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midday|\d{1,2}(?::\d\d)?)(?: ?(?:am|pm|o'clock))?"
_PERSON: Final = (
    r"(?:lad(?:y|ies)|guys?|gal|girl|man|woman|gentleman|fellow|person|rep|agent|nurse|hygienist|manager|people|folks)"
)
_NO_NAME: Final = r"(?!(?:it|me|us|him|her|them|you|that|this|these|those|they|there|everybody|everyone|nobody|my|your|what|he|she|i|we)\b)"
_TO_ME: Final = r"(?: (?:over|along|across|off|through|out|right|back(?= (?:over|across|by|to (?:me|us)))|my way|(?:on )?over|to (?:me|us|my \w+(?: \w+)?)|by (?:e-?mail|text)))*"
_TAKEN_CARE: Final = (
    r"(?:squared away|taken care of|took care of|straightened (?:\w+ )?out|sorted (?:\w+ )?out|sorted|fixed (?:\w+ )?up|settled|handled|resolved|"
    r"cleared (?:\w+ )?up|worked (?:\w+ )?out|figured (?:\w+ )?out|fixed|helped(?: (?:me|us|him|her))?(?: out)?)"
)
_HELPER: Final = rf"(?:one of your \w+|your \w+|some(?:one|body)(?: else)?|an?other \w+|a colleague(?: of yours)?|the (?:other |last |first )?{_PERSON}(?: (?:i|who|from|that)(?: \w+){{1,5}}?)?|he|she|they)"
_ALL_SET: Final = r"(?:[,.;]? (?:so |and )?i(?: really)? (?:don't|do not|won't) need (?:anything|any(?: more)? help|a thing)(?: else| now| any ?more)?)?"
_WITH_NOBODY: Final = r"(?: (?:for|with) (?:me|us|it|him|her|everything|the (?:\w+ ){1,6}?\w+|one of \w+(?: \w+)?))?"
_NOT_GOING: Final = r"(?:(?:'s|'re|'m| is| are| am) not|(?: is|are)n't|isn't|aren't) (?:gonna|going to)"
_ANY_MORE: Final = r"(?: (?:any ?more|after all|for (?:me|us|him|her)|now|out))*"

# At the end of what is asked for, these are manners and no condition: "Thursday at two, if you still have it".
_IF_FREE: Final = (
    r"(?:if (?:(?:you|ye|y'all|they)(?:'ve)?(?: still| do| happen to| by any chance)? (?:have|got|have got|can manage|can do) "
    r"(?:it|one|that|them|any|anything|room|space|time|a (?:slot|space|gap|spot|opening|minute))(?: (?:free|left|open|available|going|spare))*|"
    r"(?:that|it|there)(?:'s| is|s)(?: a(?:ny)?| still| at all)*(?: (?:possible|free|available|open|going|room|space|slot|a chance))+(?: of it)?|"
    r"(?:at all )?possible|available|(?:you|i|we) (?:can|could|may|might))|(?:is|would) (?:that|it)(?: be)? possible)"
)
# What a caller says of the wish itself.
_PLAIN: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in (
        # asked for the British way
        (r"\b(?:speak|talk|chat|sort (?:this|that|it)(?: out)?|deal) (?:to|with) (?:(?:one|any|some) of )?(?:your|the) (?:own )?(?:lads|guys|girls|people|staff|team|colleagues|folks|crew)\b", "talk to a person"),
        (r"\b(?P<may>(?:can|could) (?:i|we|you)) not (?:just )?(?=(?:talk|speak|see|come|have|get|do|move|change)\b)", r"\g<may> "),
        (r"\b(?:can|could|would) (?:you|they) not (?:just )?(?:ring|call|phone) me (?=(?:back|later|tomorrow|after|when|on|in|at)\b)", "please call me "),
        (r"(?:\bi(?:'m| am) )?\b(?:so |very |really )*sorry about (?:that|this|it)\b[,.!]*(?= \w)", ""),
        (r"\b(?:och|ach)\b(?! aye)[ ,]*(?=\w)", "oh "),
        (r"\bno one\b(?! (?:o'clock|pm|am|thirty|fifteen|forty))", "nobody"),
        # dialects of English
        (r"\bnaw\b", "no"),
        (r"\b(?P<who>(?:i|we|you|he|she|it|they|that)'(?:ll|m|re|s|d)) no (?=(?:be|have|get|make|manage|come|need|want|able|\w+ing)\b)", r"\g<who> not "),
        (r"\b(?P<verb>[a-z]{2,})in'(?=\s|[.,;!?]|$)", r"\g<verb>ing"),
        (r"\b(?P<verb>did|was|is|has|have|would|could|should)nae\b", r"\g<verb>n't"),
        (r"\bdinnae\b", "don't"),
        (r"\b(?:cannae|canny)\b", "can't"),
        (r"\bgonnae\b", "going to"),
        (r"\bgie\b", "give"),
        (r"\btae\b", "to"),
        (r"\b(?:ye|yous|youse)\b", "you"),
        (r"\bthe (?:morra|morrow|morn)\b", "tomorrow"),
        (r"\bi'll away\b", "i have to go"),
        (r"\bcheerio\b", "goodbye"),
        (r"\b(?:no|nah)[, ]+that's me(?: done| sorted| all set)?\b(?=[.,!]|$| (?:thanks|thank|cheers|pal|mate|now|then)\b)", "no, that's all"),
        (r"\bthat's me (?:done|sorted|all set)\b", "that's all"),
        (r"\bi(?:'m| am) not (?P<verb>want|need|prefer)ing\b", r"i do not \g<verb>"),
        (r"\bi(?:'m| am) (?P<verb>want|need|prefer)ing\b", r"i \g<verb>"),
        (r"\b(?:don't|do not) be (?P<verb>call|ring|send|book|bother)ing\b", r"do not \g<verb>"),
        (r"(?<=\w),? eh\b(?=\s*[,.!]|$)", ""),
        (r"\bi(?: (?:would|will) not| wouldn't| won't|'d not|'ll not) miss (?:it|this|that)\b(?: for (?:the world|anything))?", "i will be there"),
        (rf"^(?:(?!\b(?:{_DAY}|to(?:day|morrow|night)|\d+)\b)[^.,;!?]){{3,60}}[.,;!?] (?:(?:ah|oh|sorry|no)[, ]+)*(?:pardon(?: me)?|wrong word|slip of the tongue|i misspoke)[,. ]+(?:(?:wrong word|sorry|no)[,. ]+)*(?:i meant?[, ]+)?", ""),
        # what a long story comes to: "… I wouldn't miss it, so yes, count me in"
        (rf"^(?:(?!\b(?:{_DAY}|to(?:day|morrow|night)|mornings?|afternoons?|evenings?|o'clock|at|\d+)\b).){{60,}}[,.;]? so (?=(?:yes|yeah|yep|aye|no|nope)\b(?! and no))", ""),
        (r"\bthat(?:'s| is| was) (?:all|everything) (?=(?:it says|(?:i|we) (?:can )?(?:see|read|find)\b))", "it is what "),
        (r"\bthat(?:'s| is| was) (?:all|everything) (?:that|which)(?:'s| is| was) (?=(?:on|in|here|there|written|printed)\b)", "it is what is "),
        (r"\bit(?:'s| is| was) not (?:my |her |his |the )?\w+(?: \w+)? who(?:'s| is|'ll be)? \w+[, ]+(?:but )?(?=it(?:'s| is| was)\b)", ""),
        # other people's English
        (r"(?:^|(?<=[,.;!?] ))(?P<so>(?:(?:yes|yeah|okay|ok|well|then|maybe),? )*)can be (?=\w)", r"\g<so>it can be "),
        (r"\bkindly ", ""),
        (r"\bnae (?=(?:bother|problem|worries)\b)", "no "),
        (rf"\bcall it (?=(?:an? |the )?(?:{_DAY}|{_HOUR}|\w+ instead)\b)(?! a (?:day|night))", "make it "),
        (rf"\b(?P<hour>{_HOUR}) hours (?=in the (?:morning|afternoon|evening)\b)", r"\g<hour> o'clock "),
        (r"^(?P<so>(?:(?:oh|ah|well|okay|ok|right|so|hmm),? )*)(?:in that case|if (?:so|that's so|that is so|that's (?:the case|how it is)))[ ,]+(?=\w)", r"\g<so>"),
        (r"\b(?:i|we) (?:suppose|guess|reckon|think) (?:you|we|i) (?:might|may|could)(?: just)? as well(?! not)\b", "yes, please"),
        (r"\b(?:not|nothing|no time|no day) (?:before|until|till) (?=(?:next (?:year|month|summer|spring|fall|autumn|winter)|the (?:new year|spring|summer|fall|autumn|winter))\b)", ""),
        # what somebody is wanted for is said, and nobody asked to the phone
        (rf"\bi(?:'d| would| really| just)? (?:need|want|like) some(?:one|body) for (?=(?:an?|my|our|this|the) (?!{_HOUR}))", "I need help with "),
        (r"\b(?:it|this|that)(?:'s| is| was|'d be| must be| might be| may be)(?: (?:maybe|probably|perhaps|just))? (?:my|his|her|their|our) (?:\w+ )?(?:\w+'s )?(?:old|former|previous) number\b", "you have the wrong number"),
        # "no" to what was never asked
        (r"^(?:(?:no|nope|nah|oh|well|sorry)[, ]+)+(?:you|they|we) (?:do not|don't|needn't|need not)(?: (?:need|have))?(?: to)? (?:move|change|reschedule|come back|bother|worry)(?: (?:it|that|anything|again|another day))?[,.;]+ (?=\w)", ""),
        (r"\bthere(?:'s| is) (?:really )?nothing (?:that )?(?:(?:they|he|she|you|the \w+) (?:need|have|ought|should|must)(?: to)? (?:know|be told)|(?:else )?to (?:add|say|tell|mention|report|know))\b", "no, nothing special"),
        (r"\b(?:i think )?you(?:'re| are)?(?: probably| must)? (?:want|need|mean|looking for|after) (?:some(?:one|body) else|(?:an)?other person)(?=[.,!]|$)", "you have the wrong person"),
        (r"^[^?]{0,120}?\byou(?:'ve| have)?(?: probably| must have)?(?: got| have)? the (?P<who>wrong number)[.!]*$", r"\g<who>"),
        (r"\b(?:it|that|they)(?:'d| would|'ll| will)? (?:suit|be|work|do)(?: out)?(?: (?:for )?(?:me|us|him|her))?(?: much| far| a lot)? better(?: for (?:me|us))?(?: on| at)? (?:some other|another|a different) (?:day|time|date)\b", "I need to reschedule"),
        (r"\b(?:should|ought to|had better|better|have to|need to|must|was told to|want to|would like to|'d like to) (?:talk|speak) (?:to|with) an? (?P<who>lawyer|attorney|solicitor|notary)\b", r"need a \g<who>"),
        (r"\b(?P<act>go|come|attend|be there|show up) in my (?:place|stead)\b", "take my place"),
        (r"\bi (?:couldn't|could not|can't|cannot|can not|wouldn't|would not) (?:really |even )?(?:tell|say)(?: you)?(?: (?:exactly|dear|love|pet|hon|honey|sorry|that|for sure))*(?=[,.;!]|$)", "I don't know"),
        (r"\b(?P<who>my \w+|he|she|they) (?:looks? after|deals? with|handles?|sees? to|takes? care of|manages?) (?:all )?(?:that|the bills?|those|it all|the money|everything)\b", r"\g<who> pays that"),
        (r"\bi(?:'ve| have)?(?: already)? (?:phoned|called|rang|rung|telephoned|emailed|wrote)(?: (?!and\b)[\w']+){0,4} and (?:had )?cancel(?:l)?ed (?:it|that|the \w+)", "I called ahead to cancel it, I already canceled it"),
        # who has looked at the wrong thing
        (r"^.{1,60}?[.\u2026,;!]+ (?:oh )?(?:no|oh|sorry)[, ]+wait[, .]+(?:sorry[, ]+)?i was (?:looking at|reading|thinking of|talking about|holding) [^,;.]{2,40}[,;.]+ (?=\w)", ""),
        # said in half a sentence
        (r"(?:^|(?<=[.;!?] ))(?:do not|don't) (?=(?:want|need|know|have|think|like|care|remember|recall) (?!me\b|us\b))", "I don't "),
        (r"\bi (?:can't|cannot|can not) (?=(?:this|next) (?:week|month|time)|today|tomorrow|tonight|right now|at the moment|just now)", "I can't do it "),
        (r"(?:^|(?<=[,.;!?] ))(?P<lead>(?:(?:yes|yeah|yep|please|actually|and|so),? )*)do (?=(?:send|book|move|cancel|call|come|put|confirm|go|mail|email|text)\b(?! (?:you|they|we|i)\b))", r"\g<lead>"),
        (r"\b(?P<when>(?:something|sometime|anything|some time) (?:in the |on |around |after |before )[\w ]{3,30}?,? (?:maybe|perhaps|i guess|if possible))\?", r"\g<when>."),
        (r"\b(?:do not|don't|never|stop|quit) (?:call|ring|phone|dial)(?:ing)? this (?:phone|number|line|house|place)\b(?: (?:any ?more|again|ever again))*", "don't call me again"),
        (r"\b(?:bell|buzz|ping) me (?=(?:tonight|tomorrow|later|back|after|this|in|at)\b)", "call me later "),
        (r"^(?:(?:sorry|oh|ah|no)[, ]+)*(?:i )?can't (?:right now|just now|at the moment)\b", "I can't talk right now"),
        (r"^(?P<part>morning|afternoon|evening)(?:'s| is| works| would be) ", r"the \g<part> is "),
        (r"^(?:sorry[, ]+|oh[, ]+|honestly[, ]+)*(?=(?:couldn't|can't) (?:tell|say)\b)", "I "),
        (r"\bi(?:'d| would| 'll| will)? (?:guess|suppose|think|say)?,? ?i(?:'d| would|'ll| will)? have to say (?P<what>no|yes|not)\b", r"\g<what>"),
        (r"\bi(?:'d| would)? (?:want|like|wanna|wanted) to say (?:yes|no),? but[, ]+", ""),
        (r"\bi(?:'ll| will)(?: try to| just| go ahead and)? (?:get|have) (?:it|that|this) (?:paid|settled)\b", "I'll pay it"),
        (r"\bi was (?:really |so |very much )*looking forward to (?:it|this|that|coming|seeing \w+)[,.]? (?:but|only|and then) ", ""),
        (r"\b(?:you(?:'ve| have)?(?: got| have)?|this is|that's) the wrong (?:fella|fellow|guy|lady|gal|dude|man|woman|one)\b", "you have the wrong person"),
        (r"\b(?P<who>i|we)(?P<verb>(?:'d| would)? (?:need|want|have|like|love|ought)(?: to)?| should| gotta| must) (?:come |go )?see (?:some(?:one|body)|any(?:one|body)) (?:about|for|regarding) (?P<what>(?:an?|my|our|the|this) [^,.;!?]+)", r"\g<who>\g<verb> come in, I need help with \g<what>"),
        (r"\bi (?:only |just )?(?:need|want|would like) (?:that )?some(?:one|body) (?:to tell|tells|who tells|to let) (?=\w)", "please tell "),
        (rf"\b(?:a week (?:from|on)(?: next)? (?P<day>{_DAY})|(?P<other>{_DAY}) week)\b(?! ?end)", r"\g<day>\g<other> next week"),
        (r"\bhit me (?:back|up)(?= (?:around|about|after|at|in|on|tomorrow|tonight|later|when|any)\b)", "call me later"),
        (r"\bhit me (?:back|up)\b", "call me"),
        # no appointment is moved
        (rf"\b(?:i|we)(?:'m|'re|'ve| am| are| have)?(?: just| already| all)? (?:moving|moved) (?:away|house|home|back|out of|(?:to|from) (?!(?:{_DAY}|{_HOUR}|an?|the|another|next|later|earlier|it)\b))", "we relocated "),
        # what is no farewell and asks for no time
        (r"^good day(?: to you)?(?:,? (?:sir|ma'am|madam|miss))?[.,!]* (?=(?:\S+ ){3})", "hello, "),
        (r"\b(?:well[, ]+)?(?:would|will) you look at that[.,!]* (?=\w)", ""),
        # where no comma was heard
        (r"^(?P<first>nah|nope|no|yeah|yep|yup|yes) (?=(?:i|we|i'm|we're|i've|we've|it's|my|he|she|they)\b)", r"\g<first>, "),
        (r"\b(?:don't|do not) (?:really )?(?:want|wanna|care|feel like) (?:to )?(?:keep(?:ing)? going|go(?:ing)? on|continue|continuing|finish(?:ing)?)(?: (?:with|on) (?:this|it|that))?\b", "want to stop, stop the survey"),
        (r"\b(?:poking|sniffing|shopping|nosing) around\b|\bkicking (?:the )?tires\b|\bwindow shopping\b", "just looking around"),
        (r"\b(?:set up|schedule|arrange|book|have|get) (?:an? )?(?:sit[- ]?down|face[- ]to[- ]face)(?: with (?:some(?:one|body)|an? \w+|one of \w+ \w+))?\b", "set up an appointment"),
        (r"\b(?:get|send|bring) (?:him|her|them|some(?:one|body)|your guy|a guy|the guy|the tech\w*) (?:on )?(?:over|out)(?: here)?\b", "please send someone"),
        # of who leaves out the first word
        (r"^(?P<lead>(?:(?:hi|hey|hello|yeah|yes|well|so|um|uh|okay|right)(?: there)?[, ]+)*)(?:gotta|got to|need to|have to|wanna|want to|hoping to|looking to|trying to) (?=\w)(?!go\b|run\b|think\b)", r"\g<lead>I need to "),
        (r"\bi(?:'m| am) after (?=(?:an?|the|some|another|my|two|\w+day)\b)", "I would like "),
        (r"^(?P<lead>(?:(?:well|oh|um|uh|sorry|honestly|gosh|hmm)[, ]+)*)i (?:can't|cannot|can not|won't be able to)(?=, )", r"\g<lead>no, I can't"),
        (r"^(?:easy|easily|piece of cake|no sweat|in my sleep|with one hand)[.!]*$", "yes, I can"),
        (r"\bnot yet[, ]+i(?:'ll| will)?(?: only| just)? (?:turn|be turning) (?P<age>\w+) (?:in|next|on|this|later)\b[^,.;]*", r"no, I'm not \g<age> yet"),
        (r"\bi(?:'ll| will)?(?: only| just)? (?:turn|be turning) (?P<age>\w+) (?:in|next|on|this|later)\b[^,.;]*", r"I'm not \g<age> yet"),
        (r"^no,? wait[, ]+(?=(?:how|what|where|when|who|is|are|do|does|can|could|will)\b)", ""),
        (r"[,.;]? (?:and |but )?i (?:don't|do not)(?: really| even| quite)? know (?:how (?:it|this|that|any of (?:this|it)|these things) works?|where to (?:start|begin))\b", ""),
        (r"\b(?:can't|cannot|can not) (?:really )?(?:do|chat|deal with)(?: about)?(?: this| it)? (?:right now|just now|at the moment|now)\b", "I don't have time now, please call me later"),
        (r"\bif (?:it's |that's )?(?:five|one|ten|the \w+)(?:'s| is)? (?:the )?(?:good|best|top|bad|worst|highest|lowest)(?: end| one| score| mark)?,? then\b", ""),
        (r"\b(?P<which>the|an?|this|that|which|another|any|each|every|my|our) (?P<kind>(?!one|two|three|four|five|number|first|second|third|fourth|fifth|last|next|other|same|only|right|wrong|new|old|earl|lat|middle|afternoon|morning|evening|\w+day)[a-z]{3,} )one\b(?! (?:star|to|out|is what))", r"\g<which> \g<kind>thing"),
        (r"\bwrong (?:people|folks|family|household|house)\b", "wrong person"),
        (r"\b(?P<who>i|we)(?:'ve| have)? never (?:been|had|used|taken|come|called|worked)\b(?: [\w']+){0,4}? (?:with|to|at|from|for|by) (?:you|y'all|your \w+)(?: (?:guys|folks|people))?\b(?: before)?", r"no, never, I'm new"),
        (r"\b(?P<who>i|we) (?:haven't|have not|hadn't) (?:been|had \w+|used \w+|taken \w+|come)(?: (?:with|to|at|from) (?:you|your \w+)| before| here)+\b", r"no, never, I'm new"),
        # asking for a person
        (r"\ban? (?:real )?(?:live|actual|warm) (?:body|one|human)\b", "a real person"),
        (r"\b(?:get|grab|catch) (?:an? )?(?:ahold|hold) of me\b", "call me"),
        (r"\bone of (?:the|your|them) (?:girls|guys|ladies|boys|gals|women|folks|people)(?: (?:at|in|from|on) (?:the|your) \w+)?\b", "a person"),
        (r"\bleave word (?=for|with)", "leave a message "),
        # what had been broken works
        (r"\b(?:that|this|which)(?:'s)? (?:did|done|does) (?:it|the (?:trick|job))\b", "that fixed it, it works now"),
        (r"\b(?:came|come|comes|popped|went|switched|turned) (?:right )?back on(?: (?:all )?(?:by itself|on its own))?\b", "is working again"),
        (r"\b(?:nothing|none of it)(?:'s| is| will| would)? (?:load|loading|loads|connecting|connects)\b", "the internet is down"),
        (r"\b(?:dead|out) as a door ?nail\b", "dead"),
        (r"\b(?:we|i) can (?:live with|manage with|get by with) it\b", "it can wait"),
        (r"\b(?:nothing|it's not|it isn't) (?:too |that )?(?:crazy|major|serious|drastic)\b", "it is not an emergency, it can wait"),
        (r"\b(?:sent|gave|shipped|delivered|brought) (?:me|us) the wrong (?:thing|things|item|items|one|product|stuff)\b", "sent me the wrong item, I want to return it"),
        # somewhere else
        (r"\b(?:started|working|hired on|employed) (?:at )?(?:some ?place|somewhere) else\b", "took another job"),
        (r"\bmy landlord(?:'s|s) (?:house|place|home|property|building)\b", "my landlord's, I rent it"),
        (r"\b(?P<subject>i'm|we're|i am|we are|i'll be|it's) (?:a (?:little|bit|tad) |kinda |pretty |real )?(?:short|strapped|broke|tapped out)(?: (?:of|on|for) (?:cash|money))?(?: (?P<when>this (?:week|month)|right now|at the moment))?(?=[,.!;]|$)", "I can not pay this week"),
        (r"\b(?:just )?send me (?:something|anything|stuff|some info|some information) (?:to (?:read|look (?:at|over))|by (?:mail|email))\b", "send me information by email"),
        (r"\bforget (?:what|everything|all) (?:that )?i (?:just )?said\b", "actually"),
        (r"\b(?:he|she|they)(?:'s|'re| is| are) (?:saying|going with|giving it) (?=(?:an? )?(?:one|two|three|four|five|\d)\b)", "it's "),
        # what was tried has not helped
        (r"\b(?:it(?:'s| is)|everything(?:'s| is)|still) (?:still |exactly |just |all )*(?:exactly |just )the same(?: as before)?(?=[,.!;]|$)", "it still does not work"),
        (r"(?:^|(?<=[,.;!?] ))no (?:real |big )?emergency(?= ?(?:[,.;!?]|$)| (?:here|or anything|at all|tonight)\b)", "it's not an emergency"),
        (r"\bat (?:this|the) (?:stage|point|moment)\b", "now"),
        # "an" says that there is none yet
        (
(
                r"\b(?:i(?:'d| would)?(?: just| really| still)? (?:need|want|like|require)|i(?:'m| am) (?:looking for|after)|"
                r"i(?:'d| would) (?:like|love) to (?:get|have)|^need|^looking for) an? (?P<what>(?:\w+ )?(?:appointment|reservation|booking|consultation|viewing))\b"
                r"(?! (?:card|reminder|number|confirmation|cancel|mov|chang|resched))"
            ),
            r"i would like to book an \g<what>",
        ),
        (
            r"\b(?P<may>(?:can|could|may) i)(?: please)? (?:get|have|grab) an? (?P<what>(?:\w+ )?(?:appointment|reservation|booking|consultation|viewing))\b",
            r"\g<may> book an \g<what>",
        ),
        (rf"(?<=\w),? {_IF_FREE}(?=[.!?,;]|$| please| for (?:an?|my|the)\b)", ""),
        (r",? so (?:it|that|they|he|she|i|we) (?:is|are|was|were|do|does|did|am)\b(?=[.!?]|$)", ""),
        (
            rf"\b(?:does|would|will|is|could) (?P<day>(?:next |this )?{_DAY}|tomorrow|today)(?: be)? (?:work|suit|do|okay|ok|all right|good|fine|possible|free|available)(?: for you)?\b",
            r"how about \g<day>",
        ),
        (
            (
                r"^(?:(?:oh|um|uh|well|honestly|really|hmm)[ ,]+)*(?:whenever(?: is (?:good|fine|best|easiest|convenient)(?: for you)?| you(?:'ve got| have got| like| want| have| can))?|i don't care(?: which| when)?|"
                r"(?:it |that )?doesn't matter(?: to me)?|no preference|(?:you|your) (?:choose|pick|choice|decide|call)|(?:it's )?up to you|i'm (?:flexible|easy|free whenever))[.!]?$"
            ),
            "any time",
        ),
        # a question about the scale names no number of it
        (r"\b(?P<did>did|done|do|had|have|took|taken|got|get|answered|another|filled (?:in|out)) one of (?P<these>these|those|them)\b", r"\g<did> \g<these>"),
        (
            r"^(?:(?:oh|well|um|uh)[ ,]+)*(?:yeah|yes|yep),? (?:no|nah),? (?=(?:no,? )?(?:(?:that|it|this)(?:'s| is| would| will|'ll| works| sounds| suits)|definitely|for sure|absolutely|totally|of course|perfect|great|sounds|sure|go ahead|i would|i'd|i do)\b)",
            "yes, ",
        ),
        (rf"(?:\b{_UNIT}\b[ ,-]*){{3,}}(?:no|sorry|wait|no wait|no sorry|i mean)\b[ ,.]*(?=(?:{_UNIT}\b[ ,-]*){{3}})", ""),
        # "four, two, seven, and then a one"
        (rf"(?P<before>\b{_UNIT}[ ,-]+{_UNIT}),? and (?:then )?(?:finally |lastly )?(?:an? )?(?={_UNIT}\b)", r"\g<before> "),
        (rf"(?P<kept>\b(?:{_DAY}|{_HOUR})s?),? (?:instead of|rather than) (?:the |at |on |for )?(?:{_DAY}|{_HOUR})\b", r"\g<kept> instead"),
        # "it ends in a one: four two seven one"
        (
            rf"\b(?:it |that |the (?:number|last (?:digit|one)) )?(?:ends|finishes|starts|begins) (?:in|with|on|by) (?:an? )?{_UNIT}\b[,.;:!]* (?:so |it's |that's |it is )*(?=(?:{_UNIT}[ ,-]*){{3}})",
            "",
        ),
        # a time in the words of a clock, a day in the words of a calendar
        (r"\b(?P<part>[ap])\.\s?m\.(?=\s+[A-Z])", r"\g<part>m."),
        (r"\b(?P<part>[ap])\.\s?m\b\.?", r"\g<part>m"),
        (r"(?P<time>\b[ap]m|o'?clock) ones?\b", r"\g<time>"),
        (rf"\bnot (?:this|this coming|the coming) (?P<day>{_DAY})\b[,;.!]?(?: but| no| rather| make it| let's do| how about)* (?:the (?:one |{_DAY} |week )?(?:after|following)|next(?: week| one| {_DAY})?)(?: (?:that|this|it|one|week))*(?: instead)?", r"next \g<day>"),
        (rf"\bthe (?:following (?P<day>{_DAY})|(?P<other>{_DAY}) (?:after (?:that|this|next)|following))(?: one)?\b", r"next \g<day>\g<other>"),
        (rf"\b(?P<who>take|pull|get) (?:me|us|him|her|them|my \w+) off(?: of)? (?:the |this |next |for )?{_DAY}(?: appointment| slot)? and (?:put|stick|move|get|give|squeeze|book) (?:me|us|him|her|them)(?: in| on| down)?(?: on| for| to)?", "move my appointment to"),
        # a question back asks for what was said, and says nothing
        (r"\b(?:did you (?:just )?(?:say|mean)|was (?:that|it)|you said) (?:an? |at |for |on )*(?P<what>[\w']+(?: [\w']+)?,? or (?:an? |at |on )*[\w']+(?: [\w']+)?)\s*\?", "what did you say?"),
        (rf"\bdid you (?:just )?say (?:an? |at |for |on )*(?:{_UNIT}|ten|eleven|twelve|{_DAY})(?: o'?clock| [ap]m)?\s*\?", "what did you say?"),
        (r"\bi(?:'ve| have)?(?: just| totally)? (?:misspoke|misspoken|said (?:it|that) wrong|said the wrong \w+|got (?:it|that) (?:backwards?|wrong|mixed up)|had (?:it|that) (?:backwards?|wrong|mixed up))\b[,;.!]?(?: but| because)?(?: (?:it|that)(?:'s| has| needs)?(?: got)?(?: to| should)? be)?", "I meant"),
        # who has to leave
        (r"\bi(?:'ve| have|'d)?(?: really| just| actually| kind of)? (?:got to|gotta|have to|need to|better|must|should)(?: really)? (?:get (?:going|moving|off (?:the phone|here|this call))|be (?:going|off)|head (?:out|off)|scoot|dash|jet|bolt|take off|hop off|jump off|catch (?:my|a|the) (?:bus|train|flight|ride|plane|cab)|(?:leave|run|go|split)(?= ?[,.!;]|$))(?: now)?", "I have to go"),
        (r"\b(?:my|our) (?:bus|ride|train|cab|uber|taxi|flight|carpool)(?:'s| is| has)?(?: just| about to| finally)? (?:here|pull(?:ed|ing|s) (?:up|in)|leav(?:es|ing|e)|boarding|outside|coming|arriv(?:ed|ing))(?: now)?(?=[,.!;]|$)|\b(?:here comes|that's) my (?:bus|ride|train|cab|uber|stop)(?: now)?(?=[,.!;]|$)", "I have to go"),
        (r"\b(?:i|we)(?: really| just)? ?(?:do not|don't|won't|will not|would rather not|'d rather not)(?: (?:really|even|want to|wanna|care to|feel like|think i want to))* (?:do|doing|go on with|going on with|continue(?: with)?|continuing(?: with)?|keep (?:doing|going|going with|answering)|go through with|finish|finishing|answer(?:ing)?) ?(?:this|these(?: questions)?|it|the (?:survey|rest|whole thing)|any of this|your questions|with this|(?=any ?more))(?: (?:survey|thing|stuff|call))?(?: (?:any ?more|any longer|after all|now|today|right now))+(?= ?[,.!;]|$)", "I have to go"),
        # who was helped already
        (rf"\bi(?:'ve| have|'m| am| was)?(?: already| just)*(?: got(?:ten)?| been| get| had it| had that| got it)?(?: all)? already(?: got(?:ten)?| been| had it| got it)?(?: all)? {_TAKEN_CARE}{_WITH_NOBODY}{_ALL_SET}(?=[,.!;]|$| so\b)", "no thank you, I do not need anything"),
        (rf"\b{_HELPER}(?:'s|'ve| has| have)?(?: just)? already (?:{_TAKEN_CARE}|got (?:me|us|it|that|everything) {_TAKEN_CARE})(?: (?:it|that|me|us|everything))?{_WITH_NOBODY}{_ALL_SET}(?=[,.!;]|$| so\b)", "no thank you, I do not need anything"),
        (rf"\b(?:it|that|everything|my \w+)(?:'s| has| is| was)?(?: all)?(?: already(?: been| got(?:ten)?)?(?: all)? {_TAKEN_CARE}|(?: been| got(?:ten)?)?(?: all)? {_TAKEN_CARE} already){_WITH_NOBODY}{_ALL_SET}(?=[,.!;]|$| so\b)", "no thank you, I do not need anything"),
        # somebody who is there at a time is an open door, no person to talk to
        (r"\b(?:is|are|will|would)(?: there)?(?: be)? (?:any(?:one|body)|some(?:one|body)|y'?all|you (?:guys|all|folks)|people|staff)(?: be)?(?: still| even| ever| usually)? (?:there|in|around|working|at the (?:office|practice|store|shop|desk))(?: yet| still)? (?=(?:at (?!all\b|the\b)|by (?!any\b)|before|after|past|until|till|on (?!the\b|this\b|my\b|duty\b|call\b|hand\b)|over the|(?:this|next) (?:week|sat|sun|mon|tues|wednes|thurs|fri)|(?:early|late) (?:in|on|at)|(?:week|satur|sun|mon|tues|wednes|thurs|fri)\w*days?\b|weekends?|evenings|mornings|nights))", "are you open "),
        (r"\b(?:take|get|pull|scratch|cross|strike|drop|remove) (?P<who>me|us|him|her|them|my (?:\w+ )?\w+) (?:off|from)(?: of)? (?:the |your |this week's |next week's )?(?:schedule|calendar|books?|appointments?(?: (?:list|book))?|docket|planner)(?! list)\b", "cancel my appointment"),
        # who wants a colleague
        (rf"\b(?:put|get) {_NO_NAME}(?:the )?(?:\w+ ){{1,3}}?(?:on|on the (?:phone|line)|on for me)(?: for me| please)?(?= ?[,.!?;]|$)", "put somebody on"),
        (rf"\b(?:get|catch|grab|take|lay) (?:a ?hold of|in touch with|back with|through to) {_NO_NAME}(?:[\w']+ ?){{1,9}}", "talk to a person"),
        (rf"\b(?:talk|speak|chat|deal|be connected|get connected|reconnect|be put through)(?: again)? (?:to|with) the (?:same |other |very )*{_PERSON}\b(?: (?:i|who|that|from|you|we)(?: [\w']+){{1,6}})?", "talk to a person"),
        (r"\b(?:get|grab|find) (?-i:[A-Z][a-z]{2,}) for (?:me|us)\b", "put somebody on"),
        (r"\b(?:is|are) (?-i:[A-Z][a-z]{2,}) (?:there|in|around|available|working|on)(?: today| now| right now| by any chance)?\s*(?=\?|$)", "can I talk to a person"),
        # a person who looks at something is no person to talk to
        (r"\b(?:see|be seen by|get in (?:with|to see)|be looked at by|go see|come see) (?:some(?:one|body)|any(?:one|body)|a person)(?= (?:about|for|regarding|because|today|tomorrow|this|next|on|at (?:\d|\w+ o)|as soon|soon|before|after)\b|[,.!?;]|$)", "come in"),
        # cannot come
        (rf"\b(?:the |my |our |this |next |that )?(?P<day>{_DAY}){_NOT_GOING} (?:happen|work){_ANY_MORE}", r"I can't make it on \g<day>"),
        (rf"\b(?P<who>i|we|he|she|they){_NOT_GOING} (?:be (?:there|in|able to (?:be there|come|get there))|make it|come(?: in)?|show(?: up)?)\b(?:(?: on)?(?: this| next)? (?:{_DAY}|today|tomorrow))?", r"\g<who> can't make it"),
        (r"\b(?P<who>i|we|he|she|they) (?:was|were)n?'?t? ?(?:supposed|meant|scheduled|booked) to (?:be (?:there|in|seen)|come(?: in)?|see you)(?: (?P<when>yesterday|today|this morning|this afternoon|last \w+|on \w+day|earlier))?\b", r"\g<who> could not make it \g<when>"),
        (r"\b(?P<who>i|we|he|she|they)(?:'ve| have)?(?: completely| totally)? (?:missed|slept through|forgot(?: all)? about|spaced(?: on)?|blew off) (?:my|our|his|her|their|the) (?:\w+ )?(?:appointment|visit|slot|cleaning|check ?-?up)(?: (?:yesterday|today|this morning|last \w+))?", r"\g<who> could not make it"),
        (r"\bi did(?:n't| not) make it (?:in|there|over) (?:yesterday|today|this morning|last \w+)", "I could not make it"),
        (r"\b(?:double[- ]?check|check|confirm|make sure|verify|make certain)(?: that| if| whether)? (?:you(?:'ve| have)?|i(?:'m| am)|we(?:'re| are)|he(?:'s| is)|she(?:'s| is)|my appointment(?:'s| is))(?: still)?(?: got| have)? (?:me |us |him |her |my \w+ )?(?:down|on the (?:books|schedule)|booked|scheduled|on|in)(?: still)?(?= (?:for|at|on|there)\b|[,.!?;]|$)", "tell you that I already have an appointment"),
        (r"(?:^|(?<=[,.!;] ))(?:(?:nah|no|yeah|well|please|just|oh|and) ?,? )*(?:go ahead and )?(?:scratch|scrap|drop|nix|ditch|axe|kill|call) (?:it|that|the (?:whole )?(?:thing|appointment|order|visit)) (?:altogether|entirely|completely|off|all together|for good)(?= ?[,.!;]|$)", "cancel it"),
        # of what was bought
        (r"\b(?:call off|stop|cancel|halt|pull|take back|undo) (?:what|the (?:\w+ )?(?:thing|things|stuff|\w+)(?: that)?) (?:i|we) (?:just )?(?:bought|ordered|got|purchased|placed|made|put in)\b(?: [\w ]{1,30}?)??(?: before (?:you|it|they)(?:'ve|'s| have| has)? (?:ship|sent|send|go|gone|goes|leave|left|leaves)\w*(?: (?:it|them|out|off))*)?(?=[,.!?;]|$)", "cancel my order"),
        (r"(?:\b(?:why|how come)\b[^.?!,]*?)?\b(?:(?:two|double|three|multiple|duplicate|extra) charges|(?:charged|billed|rung up|hit)(?: \w+){0,3} (?:twice|two times|double|for two)|(?:double|twice)[- ](?:charged|billed)|(?:took|taken|take) (?:the |my |our )?money (?:out )?twice)\b[^.?!,]*\??", "I was charged twice"),
        (r"\b(?:i|i've|i have|there are|there's|you|you've|my card|my card's|(?:was|were|am|did|have) (?:i|we|you)|was|were|am|i'm) (?:got |seeing |showing |been )?(?=i was charged twice)", ""),
        (r"\b(?:i|we|my \w+)(?:'ve| have| had)? (?:\w+ )?(?:put(?: in| down)?|gave(?: you)?|entered|typed(?: in)?|used|left|picked|chose|ordered it to|sent it to)(?: in)? (?:my|the|our|an?) (?:old|wrong|previous|former|outdated) (?:street |home |shipping )?(?:address|apartment|place|house|zip(?: code)?|street|house number)\b(?: (?:by (?:mistake|accident)|on (?:it|there|the \w+)|when i \w+))*", "change my shipping address"),
        (r"\b(?:send|ship|deliver|mail|redirect|reroute) (?:it|them|that|this|my \w+) to (?:my|a|our|another) (?:new|different|other|current)? ?(?:place|address|apartment|house|home)(?: instead)?", "change my shipping address"),
        (r"\bin (?:about |like |almost |probably )?(?:a|two|ten|fifty)? ?(?:thousand|million|hundred|zillion|dozen|bunch of|couple of|few)? ?(?:tiny |little )?(?:pieces|bits|shards)\b", "broken"),
        (r"\bwhere (?P<what>(?:my|our|the) [\w -]{2,30}?)(?:'s| is| are|'re)(?: at)?(?= ?[,.!?;]|$)", r"where is \g<what>"),
        # clefts and roundabout asking
        (r"\bwhat (?P<who>i|we)(?: really|'d really)? ?(?:want|need|'d like|would like|'m after|am after|'m looking for)(?: \w+)? is\b", r"\g<who> want"),
        (r"\ball (?:that )?(?P<who>i|we|he|she|they)(?:'ve| have)? (?P<did>got|have|know|see|remember|want|found|can find|can see|was given)(?: here| left)? (?:is|are|was)\b(?! (?:that|it)\b)", r"\g<who> only \g<did>"),
        (r"\bhow (?:do|would|can|should|might|does) (?:i|we|one|a person) (?:even )?(?:go about|get started|start)(?: on)? (?P<act>\w+ing\b[^.?!]*)\??", r"I need help \g<act>"),
        (r"\b(?:i was |i'm |i am |just |was )*wondering if (?:you|someone|anyone|anybody) (?:could|can|might)(?: please| maybe)? (?:tell|show) (?:me|us) (?=where|when|what|how|if|whether)", ""),
        # yes
        (r"^\W*(?:(?:well|sure|oh|hmm|um|uh)\W+)*(?:i )?(?:do not|don't|can't|cannot|can not) (?:see|think of) (?:why|(?:a|any)(?: single| good)? reason(?: why)?)(?: (?:i|we|not))?(?: (?:could|would|should|can)(?:n't| not))?(?: to)?(?=\W*$|[,.!;])", "yes"),
        (r"\bthere(?:'s| is) no reason (?:why )?(?:not|i (?:could|would|should)n't)\b|^\W*no reason not to\b", "yes"),
        (r"\b(?:i )?would(?:n't| not) (?:even )?(?:hesitate|think twice)(?: (?:for )?(?:a|one|even a|about)(?: single)? (?:second|moment|minute|it|that))?(?: about (?:it|that))?(?= ?[,.!;]|$)|\b(?:without|no) (?:any |a moment's |a second's )?hesitation\b|\bin a (?:new york )?minute(?=\W*$)", "definitely"),
        (rf"(?<!don't )(?<!not )(?<!never )(?<!\bi )(?<!\bi'll )(?<!\bi will )(?<!want to )(?<!like to )(?<!need to )(?<!have to )(?<!going to )(?<!how to )\b(?:go (?:right )?ahead and |just |please )*(?:shoot|zip|fire|ship|pop|shoot me|send me|email me|text me|send|email|text) (?:it|that|one|them|the (?:\w+ )?label|a copy|the (?:link|form|details)){_TO_ME}(?=\s*(?:please|then|thanks)?\W*$|[,.!;])", "send it please"),
        (r"\b(?P<who>i)(?:'m| am|'m just)? not (?:saying|claiming) (?:that )?(?:i|we) (?:do|would)(?:n't| not) (?P<act>want|like|need|mind|love|take)\b", r"\g<who> \g<act>"),
        (r"\bput (?:me|us|him|her|them) down for (?:it|that|this|that one)(?= ?[,.!;]|$)", "book it please"),
        (r"\bi already (?P<did>told|sent|recommended|tell)\b", r"I have already \g<did>"),
        # no
        (r"\bi(?:'d| would) (?:really |probably |definitely )?(?:think twice|have (?:my )?(?:serious )?(?:doubts|reservations)|be hesitant|think long and hard)(?: (?:about|before)(?: \w+){1,4})?(?=[,.!;]|$)", "probably not"),
        (r"\b(?:i|we)(?:'ve)?(?: always)? (?:make|made) it a (?:rule|point|habit|policy) (?:never|not) to\b[\w ]*|\b(?:it's|that's|it is) (?:my|our|against my|against our) (?:policy|rule|principles?)(?: (?:never|not) to)?\b[\w ]*|\bas a (?:general )?rule,? i do(?:n't| not)\b[\w ]*|\bi(?:'m| am) not (?:one|the type|a big one) (?:to do|for|to take|who does) (?:these|this|surveys?|polls?)\b[\w ]*", "not interested"),
        (r"(?:\b(?:so|and) )?\bthere(?:'s| is| was|'d be| would be) (?:really )?no (?:need|point|call)(?: (?:for|to|in) [\w ]+)?(?=[,.!;]|$)", "no thanks"),
        (r"\b(?:i|we|he|she|they|(?:my|our) \w+)(?:'ve|'s| have| has)? already (?:printed|downloaded|made|wrote|filled|picked) (?:one|mine|ours|it|that)(?: [\w']+){0,5}?(?=[,.!;]|$| so\b)", "no thanks, I already have one"),
        # not now
        (r"\b(?:i|we) (?:really )?(?:do not|don't|have not|haven't|ain't) (?:really )?(?:have|got|have got) (?:any |the |much |a lot of |enough )?time(?: for (?:this|that|it|you|questions?))?(?: (?:right )?now| just now| at the moment| today)\b", "I'm busy, not now"),
        (r"\b(?:try|catch|get|reach|ring|buzz) me (?:again |back )?(?P<when>after|around|later|tomorrow|tonight|this (?:evening|afternoon|weekend)|next \w+|in (?:a|an|the|about)|some other|another|over the weekend|when)\b", r"call me later \g<when>"),
        (r"\bon the clock\b", "at work"),
        (r"^\W*i(?:'m| am| was) (?:only|just) (?:wondering|curious|asking|checking)(?=[,.!]|$)", "just asking"),
        (r"(?<=[,.!;] )i(?:'m| am| was) (?:only|just) (?:wondering|curious|asking|checking)(?=[,.!]|$)", "just asking"),
        (r"\b(?:he|she|they|my \w+) (?:says?|said|thinks?|gives? it) (?P<what>(?:an? )?\w+),? (?:and |so )?i(?:'d| would|'ll| will)?(?: have to| gotta| got to)? (?:go along with|agree(?: with)?|second|go with|say the same)(?: that| it| him| her)?\b", r"I would say \g<what>"),
    )
)  # fmt: skip
_ALONE: Final = frozenset({"no thank you, I do not need anything", "no thanks, I already have one", "I have to go"})
# Beside it something is still wanted.
_WANTS: Final = re.compile(
    r"\b(?:but|except|however|still|yet|not|n't|again|instead|wrong|want|like|love|looking|trying|hoping|can|could|how|when|where|what|why|wait)\b",
    re.IGNORECASE,
)
_NEEDS_NOTHING: Final = re.compile(
    r"\b(?:do|did|wo|am|will)(?:n't| not) (?:need|want) (?:anything|any(?: more)? help|a thing|it)(?: (?:else|now|any ?more))*|\bnot to worry\b|\bno(?:thing)? (?:need|problem)\b",
    re.IGNORECASE,
)
# "Four two seven, hang on, let me find my glasses, one": the number goes on.
_ASIDE: Final = re.compile(
    rf"(?P<before>\b{_UNIT}(?:(?:[\s,.-]|\b(?:um|uh|er|and|then)\b)+{_UNIT})+)[\s,.;!-]+"
    r"(?:(?:um|uh|er|oh|hang on|hold on|wait|sorry|just (?:a|one) (?:sec|second|minute|moment)|one (?:sec|second|minute|moment)|bear with me|oops)[\s,.;!-]+)*"
    r"(?:let me|lemme|i(?:'m| am| need| have| can't| cannot|'ve)|it(?:'s| is) (?:hard|so|really|tiny|small|blurry|faded|smudged)|where(?:'s| is| are| did)|my (?:glasses|eyes)|the (?:print|light|ink|paper)|this (?:print|paper|thing)|somebody|someone)\b"
    r"(?P<said>[^,.;!?]{0,50})[,.;!?]+\s*"
    rf"(?:(?:um|uh|okay|ok|there|here we go|there we go|here it is|yeah|and|then|so)[\s,.;!-]+)*(?={_UNIT}\b)",
    re.IGNORECASE,
)
_HAS_UNIT: Final = re.compile(rf"\b{_UNIT}\b", re.IGNORECASE)
# "The last one's a one": tells of a digit, and gives no number.
_TELLS_DIGIT: Final = re.compile(
    rf"(?:^|(?<=[,.;!] ))[^,.;!?]*\b(?:first|second|third|fourth|fifth|middle|last|final|next)\b (?:(?:one|digit|number|figure|two)\b ?)?(?:'?s|is|was|should be|should've been|had to be)\b[^,.;!?]*\b{_UNIT}\b[^,.;!?]*[,.;!]\s*"
    rf"(?=(?:[^,.;!?]*?\b){_UNIT}(?:[\s,-]+{_UNIT}){{3,}})",
    re.IGNORECASE,
)
_HUNDRED: Final = re.compile(
    r"\b(?P<hour>(?:oh |zero )?(?:one|two|three|four|five|six|seven|eight|nine)|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty(?:[ -](?:one|two|three))?|\d{2}(?=00)) ?(?:hundred|00)(?P<hours> hours?)?\b",
    re.IGNORECASE,
)
_HOURS: Final = {
    word: at
    for at, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()  # noqa: SIM905
    )
}
# A statement in the tone of a question.
_UPTALK: Final = re.compile(
    r"(?:^|(?<=[.!?] ))(?P<told>(?:(?:yeah|yes|hi|hello|hey|uh|um|so|well|oh|okay),? )*i(?:'m| am| think| guess| believe| need| want|'d like| would like|'m here| was hoping| was supposed)\b"
    r"(?![^?]*\b(?:if|whether|what|how|when|where|why|who|which|do|does|did|can|could|is|are|would you|will|okay|right|wondering|know|am i|have you|talking|speaking)\b)[^?.!]*)\?",
    re.IGNORECASE,
)


def everyday_words(text: str) -> str:
    """Returns a text with everyday turns of phrase in plain words: "I've got to run" is "I have to go"."""
    text = _HUNDRED.sub(_spoken_hour, _drop_asides(text.replace("\u2019", "'")))
    text = _TELLS_DIGIT.sub("", _UPTALK.sub(lambda match: f"{match['told']}.", text))
    for pattern, plain in _PLAIN:
        text = pattern.sub(_plainly(plain, text), text, count=1)
    return text


def _plainly(plain: str, text: str) -> Callable[[re.Match[str]], str]:
    def write(match: re.Match[str]) -> str:
        rest = _NEEDS_NOTHING.sub(" ", text[: match.start()] + text[match.end() :])
        return match.group() if plain in _ALONE and _WANTS.search(rest) else match.expand(plain)

    return write


def _drop_asides(text: str) -> str:
    return _ASIDE.sub(lambda match: match.group() if _HAS_UNIT.search(match["said"]) else f"{match['before']}, ", text)


def _spoken_hour(match: re.Match[str]) -> str:
    """Returns "2 pm" for "fourteen hundred hours"; "two hundred" without hours is an amount."""
    words = re.split(r"[ -]", match["hour"].lower().removeprefix("oh ").removeprefix("zero "))
    hour = sum(int(word) if word.isdigit() else _HOURS[word] for word in words)
    is_whole = not match.string[: match.start()].strip() and re.match(
        r" ?(?:$|[,.!?;]|if |please|works|would|on )", match.string[match.end() :]
    )
    if not (match["hours"] or (is_whole and hour > 12)) or not 0 < hour < 24:
        return match.group()
    return f"{hour - 12} pm" if hour > 12 else f"{hour} pm" if hour == 12 else f"{hour} am"
