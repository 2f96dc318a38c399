"""What callers say and what authors write for the same wish, where the two share no word. Pure."""

import re
from functools import lru_cache
from typing import Final

from offhook.models.providers.builtin.english.words import essential_tokens

_IDIOMS: Final = tuple(
    (re.compile(said), re.compile(described, re.IGNORECASE), score)
    for said, described, score in (
        (
            r"\b(not (?:been )?(?:well|feeling (?:well|good|great))|unwell|poorly|sick|ill|threw up|throwing up|vomit\w*|fever|temperature|the flu|cough\w*|stomach (?:bug|ache))\b",
            r"\b(ill|illness|sick|sickness|unwell)\b",
            0.6,
        ),
        (
            r"\b(more than (?:i|we) (?:wanted|can|could|expected|thought|planned)|too (?:much|pricey|steep|dear|expensive)|(?:can not|could not) afford|over (?:my|our) budget|a rip ?off)\b",
            r"\b(too (?:expensive|much|high)|costs too much|price is not)\b",
            0.6,
        ),
        (
            (
                r"\b(customer service|operator|(?:real|live|actual) (?:person|agent)|human|representative|(?<!my )(?<!our )(?:manager|supervisor|boss|agent|colleague)|"
                r"transfer me|put (?:me through|(?:someone|somebody) on)|connect me|(?:talk|speak|chat) (?:to|with) (?:a|an|some|the|your|one|any|him|her|them)|(?:get|give) me (?:some|someone|somebody|a real|your)|"
                r"^(?:someone|somebody)(?: real| else)?$|^(?:someone|somebody) (?:who|in|from|to|at)\b|any(?:one|body) (?:there|i can|to)|(?:someone|somebody) (?:real|human|who can|there|to talk))\b"
            ),
            r"\b(person|human|agent|representative|operator|someone|colleague|staff|transfer)\b",
            0.8,
        ),
        (
            (
                r"^(no )?(that is (all|it|everything)|that was (all|it|everything)|that will be all|nothing( else| more)?|i do not (need|want) anything( else| more)?|"
                r"never mind|nevermind|goodbye|bye( bye)?|good bye|i am (done|finished|all set|good)|all (done|good|set)|just asking|wrong number)( .{0,20})?$|"
                r"\b(wrong number|dialed the wrong|misdialed|misdial|meant to (?:call|dial|reach|phone)(?! you)|that is (all|everything|it)|that was (all|it|everything)|never mind|nevermind|did not mean to call|called by mistake|"
                r"found it|sorted (it|now|itself)|changed my mind$|forget it|good ?bye|bye bye|(?<!you )(?:have|got|need) to go|let you go)\b"
            ),
            r"\b(nothing|no more|goodbye|end the|hang up|not need|not interested|finished|is done)\b",
            0.7,
        ),
        (
            (
                r"\b(busy|(?:not|is) (?:now|a good time|a bad time)|bad time|later|another time|some other time|(?:in|at) a meeting|at work|driving|"
                r"(?:call|ring|phone|try) (?:me )?(?:back|again|later|tomorrow|tonight|this evening|in)|no time|have not got time|not got (?:the )?time|"
                r"(?:am|are) (?:\w+ )?(?:at|in|on my way to|leaving for) (?:an? |the |my )?(?:\w+ )?(?:funeral|wake|hospital|church|wedding|doctor|doctors|dentist|store|movies|theater|library|class|court|airport|gym|bank)(?! (?:for|room))\b|(?:sat|sitting|sit) down (?:to|for)|got company|have company|(?:guests|people|visitors|family) over|baby (?:just )?(?:fell|went|is) (?:asleep|to sleep|sleeping|down)|not (?:a|the) (?:good|best|great) (?:day|time|moment|week)|about to (?:board|leave|start|go|head|eat|walk|get)|(?:out|way out) the door|other line|in line at|on the stove|with (?:a|my) (?:customer|client|patient)|(?<!better )(?<!better on )some other day|"
                r"in the middle of|(?:sitting down to|having|making|eating|cooking) (?:dinner|lunch|breakfast|supper)|hands are full|(?:maybe|perhaps|try|how about) (?:tomorrow|tonight|this|next|later|over the|on \w+day|in (?:a|an|the))|can not talk|can not speak)\b"
            ),
            r"\b(later|busy|bad moment|bad time|another time|no time|call ?back)\b(?!.*\bappointment)",
            0.7,
        ),
        (
            r"\b(?:have|need|got) to (?:go|run|leave|hang up)(?: now)?(?: sorry)?$",
            r"\b(later|busy|another time|no time|call ?back)\b(?!.*\bappointment)",
            0.8,
        ),
        (
            (
                r"\b((?:take|get|remove) me off|off (?:your|the) list|(?:take|get) (?:this|my) number off|lose (?:this|my) number|(?:stop|quit) (?:calling|ringing|phoning|bothering|blowing)|do not (?:call|ring|phone|contact|bother)|never call|"
                r"unsubscribe|leave me alone|delete my|not interested|go away|piss off|get lost|no surveys?|hate (?:these|surveys?)|waste of)\b"
            ),
            r"\b(does not want|do not want|not interested|refuse\w*|declin\w*|rather not|opt\w* out|not be called)\b",
            0.8,
        ),
        (
            (
                r"\b((?:book|schedule|make|get|have|need|want|arrange|reserve|set up|like|for) (?:me |myself |us |in )?(?:for )?(?:an?|my|the|another|new)? ?(?:\w+ )?"
                r"(?:appointment|visit|check ?up|cleaning|slot|booking|exam(?:ination)?|consultation|session)|come in|set (?:something|one) up|new (?:appointment|one)|"
                r"(?:squeeze|fit|get|book|put|pencil|slot) (?:me|us|him|her|my \w+) (?:in|down)|see (?:the|a|your) (?:dentist|doctor|hygienist|someone)|be seen|get (?:my|it) (?:\w+ )?(?:checked|looked at|cleaned|fixed)|"
                r"look at my|due for|overdue|tooth ?ache|sore (?:tooth|gum\w*)|(?:fell|fallen|come|came) (?:out|off)|(?:chipped|cracked|broke|broken|lost|loose)\b.*\b(?:tooth|teeth|filling|crown|veneer|bridge|brace\w*)|"
                r"(?:tooth|teeth|filling|crown|gum|gums|jaw|wisdom \w+)\b.*\b(?:hurt\w*|ach\w*|sore|pain\w*|chipped|cracked|broke\w*|loose|sensitive|throb\w*|bother\w*|check\w*)|(?:clean|whiten)\w* (?:my )?(?:teeth|tooth)|teeth clean\w*)\b"
            ),
            r"\b(book|schedule|make|new)\b.*\b(appointment|visit|check-?up)\b",
            0.66,
        ),
        (
            r"\b(?:anything|something|any (?:slots?|spots?|openings?|times?)) (?:open|free|available|left|(?:on|at|for|around) )|\b(?:earliest|soonest|next|first) (?:available |possible |free )?(?:opening|appointment|slot|spot)\b|\b(?:earliest|soonest|how soon)\b.*\b(?:come|see|get|seen|in|available|free)\b",
            r"\b(book|schedule|make|new)\b.*\b(appointment|visit|check-?up)\b",
            0.85,
        ),
        (
            r"^(?:an? |the )?(?:\w+ )?(?:appointments?|bookings?|book|check ?up)$|^(?:i )?(?:need|want) (?:two |some )?appointments\b",
            r"\b(book|schedule|make|new)\b.*\b(appointment|visit|check-?up)\b",
            0.95,
        ),
        (
            (
                r"\b(reschedul\w*|re ?book|(?:move|change|switch|shift|push|bring|swap|postpone|delay)\b.*\b(?:appointment|booking|visit|slot|cleaning|check ?up|it|time|date|day|forward|back)|"
                r"(?:can|could|will|am|going to) not (?:be able to )?(?:make|come|attend|be there|get there|going to make)|cancel\w*|call off|something (?:has )?(?:come|came) up|"
                r"different (?:day|time|date)|another (?:day|time|date) for my|(?:have|had|got) an (?:appointment|existing))\b"
            ),
            r"\balready\b|\b(move|change|reschedule)\b.*\bcancel\b",
            0.74,
        ),
        (
            r"\b((?:cancel|scrap|strike|drop|delete|remove|erase|scratch) (?:it|that|the appointment|mine)$|(?:cancel|scrap|call) (?:it|that|the|my|this|everything)|call it off|just cancel|get rid of|(?:do|will) not need (?:it|the|my)|cancel)\b",
            r"\bcancel\b(?!.*\b(?:move|change|reschedule)\b)",
            0.72,
        ),
        (
            r"\b(reschedule|move|switch|change|postpone|push|another (?:day|date|time|slot)|different (?:day|date|time|slot)|new (?:day|date|time)|keep it but|earlier|later|next week)\b",
            r"\b(move|(?<!accept )another day|other day|different day|another time|reschedule)\b(?!.*\bcancel\b)",
            0.72,
        ),
        (
            (
                r"\b((?:none|neither|not one) of (?:those|these|them)|(?:does|will|would|can|could) not (?:work|do|suit|make)|do not (?:work|suit)|other times|anything else|not (?:good|great|possible|convenient)|"
                r"different day|another day|other day|instead|can not do (?:any|those|that|it)|change (?:it|the (?:day|time|date))|no good)\b"
            ),
            r"\b(none of the|another day|other day|another time|different)\b",
            0.7,
        ),
        (
            (
                r"\b((?:when|what time|what days?|how late|how early|until when|which days?)\b.*\b(?:open|close|closed|shut|hours|there)|opening (?:hours|times)|business hours|office hours|"
                r"(?:are|is|will) (?:you|it|the \w+) (?:open|closed|around|in)|your hours)\b"
            ),
            r"\b(opening hours|is open|are open|hours)\b",
            0.8,
        ),
        (
            (
                r"\b((?:where|when|status|track\w*|find|locate|look up|check|chase|update|happened|lost|missing|delay\w*|late|stuck|waiting|expect\w*|arriv\w*|deliver\w*|ship\w*|come|coming|sent|dispatch\w*|receiv\w*|got|turn\w* up|shown? up|supposed)\b"
                r".*\b(?:order|package|parcel|delivery|stuff|item|items|purchase|thing|things|it|shoes|box|goods|here|bike|ball|mat|tent)|"
                r"(?:order|package|parcel|delivery|stuff|item|items|purchase|shoes|box)\b.*\b(?:where|late|missing|lost|arriv\w*|come|coming|status|tracking|not (?:here|come|arrived|received|shown|turned)|yet|delay\w*|stuck|supposed|on (?:its|the) way|show\w* up|turn\w* up)|order (?:status|number)|tracking|eta|"
                r"(?:still|yet|has|have|is|nothing) (?:not |has )?(?:come|here|arrived|turned up|shown up|received)|still (?:is not|have not|has not|waiting)|nothing (?:has )?(?:come|came|arrived)|make it in time|(?:get|be) here (?:by|before|in time|on))\b"
            ),
            r"\b(where an order|order is|status|track\w*|arrives)\b(?!.*\b(?:nothing else|something else)\b)(?!.*has heard)",
            0.68,
        ),
        (
            r"\b(another (?:order|one|package|parcel)|different (?:order|one|package)|other (?:order|one|package|parcel)|second (?:order|one|package)|one more (?:order|package|parcel)|check another|look up another)\b",
            r"\banother order\b",
            0.8,
        ),
        (
            (
                r"\b(return\w*|refund\w*|money back|send (?:it|them|this|these|that|something|one|a|my|the)?(?: \w+){0,3} ?back|exchange|swap|"
                r"too (?:small|big|large|tight|loose|long|short|heavy)|(?:do|does|did|is) not (?:fit|work|working|right|suit|what i)|broke\w*|damaged|faulty|defective|(?:wrong|incorrect) (?:size|item|colou?r|one|thing|product|shoes|order)|"
                r"not (?:happy|satisfied|what i ordered)|do not (?:want|like|need) (?:it|them|these|this)(?: anymore| any more)?|changed my mind about|take (?:it|them) back|bring (?:it|them) back)\b"
            ),
            r"\b(return|money back|send \w+ back|refund)\b(?!.*\b(?:does not want|no label)\b)",
            0.7,
        ),
        (
            (
                r"\b((?:do|does|did|have|can) not (?:know|have|remember|recall|find|got|see)\b.*\b(?:number|it|code|email|one|handy|me|that)|lost (?:the|my) (?:number|email|receipt|confirmation)|no idea|not sure what (?:the|my) number|"
                r"no (?:order )?number|forgot(?:ten)? (?:the|my|it)|(?:do|does) not (?:know|remember)|what number|without (?:a|the) number|deleted (?:the|my))\b"
            ),
            r"\b(does not know|not know the|cannot find|without)\b",
            0.78,
        ),
        (
            (
                r"\b(yes|yeah|also|and|one more|another (?:thing|question)|something else|else)\b.*\b(?:thing|question|else|more|help|need)\b|"
                r"\b(?:not (?:done|finished)|there is (?:one|something|another)|one (?:more|other) (?:thing|question))\b"
            ),
            r"\b(something else|anything else|wants something)\b(?!.*nothing)",
            0.66,
        ),
        (
            (
                r"\b(been (?:there|here|to|with|a patient|coming|before|once|twice|several|many)|was (?:there|here)|(?:old|regular|existing|current|returning|long ?time) (?:patient|customer|client)|"
                r"(?:i )?come (?:here|there|in)? ?(?:all the time|every|regularly|often|for years)|loads? of times|lots of times|many times|(?:a )?(?:few|couple) (?:of )?times|last (?:year|month|time|week|summer|winter|spring)|"
                r"(?:for )?(?:years|ages)|already (?:a|been|your)|(?:once|twice|three times)(?: before)?|(?:years?|months?) ago|used to|you have my (?:details|file)|on file)\b"
            ),
            r"\b(has been|been (?:here|there|to)|before|existing|returning)\b(?!.*\bnew\b)(?!.*\bnot been\b)",
            0.72,
        ),
        (
            (
                r"\b(first (?:time|visit|appointment)|(?:i am|we are|am) (?:a )?(?:new|brand new)|new (?:patient|here|customer|client|to)|never (?:been|come|visited|had)|just moved|not (?:been|yet|before|a patient|registered)|"
                r"never|have not(?: been)?|would be my first|my first)\b"
            ),
            r"\b(new to|is new|first (?:visit|time)|not been)\b",
            0.74,
        ),
        (
            (
                r"\b(excellent|perfect|wonderful|fantastic|amazing|brilliant|outstanding|superb|incredible|flawless|loved (?:it|every)|could not (?:be|have been|fault)|top (?:notch|marks)|full marks|best (?:stay|ever|hotel)|"
                r"ten out of ten|10 (?:out of )?10|five stars?|exceptional|faultless|awesome)\b"
            ),
            r"\b(excellent|perfect)\b",
            0.7,
        ),
        (
            r"\b(?:was|is|had a) (?:(?:really|so|very|absolutely|truly) )*(?:great|lovely|terrific|marvelous)\b(?!.*\b(?:but|if|not|until|except|apart)\b)|^(?:great|lovely|terrific)$",
            r"\brates?\b.*\bexcellent\b",
            0.68,
        ),
        (
            (
                r"\b(?:was|is) (?:(?:just|quite|pretty|only|very|about) )*(?:fine|alright|all right|average|decent|mediocre|middling|adequate|acceptable)\b|^(?:fine|average|alright|all right|decent|meh|mediocre|middling)$|"
                r"\b(?:in the middle|middle of the road|nothing special|neither good (?:n?or) bad)\b"
            ),
            r"\brates?\b.*\b(?:all right|average)\b",
            0.72,
        ),
        (
            r"\b(?:disappoint\w*|below average|underwhelming|could (?:be|have been) better|left (?:a lot|much|something) to be desired)\b",
            r"\brates?\b.*\bpoor\b",
            0.7,
        ),
        (
            r"\b(?:dialed|called|got|have|reached|is this|this is) the wrong (?:place|store|shop|office|company|business|number|person|house)\b|^(?:oh |ah )?(?:oops|whoops|sorry|no|is this|wait|my mistake|shoot)\b.*\b(?:(?:trying|meant|looking|wanted) to (?:reach|call|dial|get)|looking for the|wrong (?:place|store|shop|office|company|business)|(?:dialed|called|got|have|reached) the wrong (?:place|store|shop|office|company|business|number|person)|the (?:county|city|pharmacy|bank|library|police|hospital|post office|court\w*))\b",
            r"\b(wrong number|need anything|needs nothing|dialed the wrong)\b",
            0.7,
        ),
        (
            r"\b(?:(?:never|not) (?:\w+ ){0,2}(?:bought|ordered|order|buy|purchased?|placed|asked for|stayed|visited|booked)|what (?:order|furniture|hotel)|(?:wrong|different) person)\b",
            r"\b(has not ordered|not ordered|wrong number|not the right person)\b",
            0.72,
        ),
        (
            r"\b(?:he|she|they|(?:my|her|his) \w+|(?:mr|mrs|ms) \w+) (?:is|are) (?:not (?:home|here|in|around|available|at home|there)|out|away|at work|at school|asleep|sleeping|gone|traveling)\b|\b(?:he|she|they|(?:my|her|his) \w+|(?:mr|mrs|ms) \w+) (?:\w+ )?(?:moved|passed away|died|does not live|do not live|no longer lives?)\b",
            r"\b(not there|not the right person|is not home|another time|no time)\b",
            0.74,
        ),
        (
            r"\bwhere (?:is|are) (?:my|our) (?!appointment|dentist|doctor|office|closest|nearest|lawyer|money|refund)\w+|\bon (?:its|it is|their|the) way\b(?! (?:home|to|out))|\b(?:did|has|have|is|are) (?:it|they|my \w+) (?:been )?(?:ship\w*|sent|left|gone out|go out)\b|\bordered\b.*\b(?:nothing|yet|ago|still|never|waiting|here)\b|\b(?:should|supposed to) (?:have )?(?:be|been|come|arrived?|gotten|got)\b.*\b(?:here|by now|already|today|yesterday|last week)\b|\bnever (?:came|arrived|showed|got (?:it|here|my))\b|\b(?:says?|said|shows?|marked)(?: as| it (?:was|is|has been))? (?:delivered|shipped|arrived)\b",
            r"\b(where an order|order is|status|track\w*|arrives)\b(?!.*\b(?:nothing else|something else)\b)(?!.*has heard)",
            0.72,
        ),
        (
            (
                r"\b(?:(?:rather|prefer|want|do|am|are) not (?:to )?(?:want to )?(?:keep|keeping) (?:it|them|this|these|those|the|my|that)|no (?:real |more |further )?use for (?:it|them|this|these|the|that)|"
                r"(?:to|is|are|has to|must|needs to|can|could|should|can it|would like it to|goes|going) (?:it |them |they |this |that )?go(?:es|ing)? (?:right |straight )?back|goes? (?:right |straight )?back$|"
                r"(?:give|hand|get|ship|mail|take|bring|carry) (?:it|them|this|these|that|those) back|do not care for (?:it|them|this|these)|(?:hates?|dislikes?) (?:it|them)|"
                r"(?:came|come|arrived|got here|showed up|was|were|is|are) (?:all |badly |completely |a bit |half )?(?:cracked|broken|shattered|chipped|dented|bent|torn|ripped|scratched|stained|busted|smashed|in pieces|damaged)|"
                r"(?:crack|dent|scratch|chip|hole|tear|stain|rip)(?:s|es)? (?:in|on) (?:it|them|the|one)|busted|fell apart|no good to (?:me|us)|wrong (?:shade|kind|model|style|length|brand|sort|colou?r)|"
                r"not (?:like |what |as )?(?:in )?(?:the|it|i|we|my) (?:picture\w*|photo\w*|expected|described|thought|was described)|not (?:suit|match|go with) (?:our|my|the|me)|not need(?:ing)? (?:it|them)|by mistake and|cash back|too thin)\b"
            ),
            r"\b(return|money back|send \w+ back|refund)\b(?!.*\b(?:does not want|no label)\b)",
            0.8,
        ),
        (
            (
                r"^(?!.*\b(?:elsewhere|somewhere else|another|other|away|not to|avoid|instead)\b)(?:.*\b)?(?:would|will|have|am|be)(?: already| gladly| happily| always| definitely| be)? "
                r"(?:(?:tell|telling|told) (?:\w+ ){1,5}?(?:to (?:go|stay|book|come|visit|try)|about (?:it|you|this|the \w+))|told (?:my|all|every\w+) (?:\w+ )?about|telling (?:all|every\w+|my)|send (?:my|every\w+|any\w+|all|people|them|friends) ?)\b"
            ),
            r"^would recommend\b",
            0.74,
        ),
        (
            (
                r"\b(?:(?:tell|telling|told) (?:\w+ ){1,4}?(?:not to|to (?:go (?:elsewhere|somewhere else|to another)|stay (?:away|clear|elsewhere|somewhere)|avoid|skip|try another))|warn (?:\w+ ){0,3}(?:off|away|not|about|them|people|every\w+)|"
                r"doubt (?:i|it|that)|would not (?:wish|send|tell)|send (?:\w+ ){1,3}(?:elsewhere|somewhere else)|would hesitate)\b"
            ),
            r"^would not recommend\b",
            0.8,
        ),
        (
            r"\b(?:will|rather|going to|just|think i will) (?:just )?(?:keep|hang on to|hold on to) (?:it|them|this|these|the)\b",
            r"\b(no label|not (?:want|need) (?:a|the) (?:return )?label|not return|keeps? it)\b",
            0.74,
        ),
        (
            r"\b(?:(?:it|internet|wifi|everything|connection|light) (?:just )?(?:came|come|is) (?:back|on|up|working|fine)|(?:that|it) (?:did|fixed|solved|worked)(?: it| the trick)?|(?:is|it is) (?:fixed|back)|working (?:again|now|fine)|back (?:up|online|on))\b(?<!not working)",
            r"\b(works again|connection works|is solved|working again|light is on)\b(?!.*\bnot\b)",
            0.74,
        ),
        (
            r"\b(?:(?:leave|take|pass on|give (?:\w+ ){1,3}|get) (?:a |this |my |the |along )?message|(?:let|tell|ask|remind|inform) (?:ms|mr|mrs|dr|her|him|them|my (?:lawyer|attorney|doctor|agent|\w+)|the \w+) (?:\w+ )?(?:that|know|i|to|she|he|we|about)|(?:would|want|need|have|ask) (?:(?:mr|ms|mrs|dr) )?\w+ to (?:call|ring|phone|get back to) me(?: back)?)\b",
            r"\bmessage\b",
            0.8,
        ),
        (
            r"\bstill (?:not|nothing|no|the same|down|out|slow|broken|off|dead)\b|\bsame (?:as before|thing|problem|issue)\b|\bno (?:change|difference|luck|improvement)\b",
            r"\b(still (?:not|broken|does|off|slow)|does not work|did not help)\b",
            0.74,
        ),
        (
            r"\b(terrible|awful|horrible|dreadful|horrendous|disgusting|appalling|worst|disaster|nightmare|rubbish|very bad|really bad|atrocious|abysmal|hated|zero stars|one star|worst ever)\b",
            r"\bvery bad\b|\bterrible\b",
            0.7,
        ),
    )
)


def idiom_score(text: str, described: str) -> float:
    """Scores a caller's words against an author's description, 0 to 0.8."""
    said = " ".join(essential_tokens(text))
    return max((score for spoken, score in _idioms_of(described) if spoken.search(said)), default=0.0)


@lru_cache(maxsize=2048)
def _idioms_of(described: str) -> tuple[tuple[re.Pattern[str], float], ...]:
    return tuple((spoken, score) for spoken, written, score in _IDIOMS if written.search(described))
