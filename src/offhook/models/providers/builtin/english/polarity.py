"""Yes and no in idioms: "I don't mind", "not in a million years". Pure."""

import re
from typing import Final

from offhook.models.providers.builtin.english.words import Polarity, answer_polarity, is_plain_polarity, word_tokens

SAYS_YES: Final = re.compile(
    r"^(?!(?:oh|ah|aw) shoot\b)(?:(?:oh|well|um|uh|(?:yeah|yes) no(?= (?:that|it|for))|yeah|yes|sure|okay|ok|alright|right|please|sorry|i (?:reckon|think|guess|suppose|believe)(?= (?:that will|that would|go ahead))) )*(?:no (?:problem|worries|objections?|bother|issue|probs?|big deal|question|doubt)|(?:fine|good|okay|ok|all right|alright) (?:by|with) me|(?:i |we )?(?:might|may) as well|not a problem|(?:i )?(?:do|would) not mind|"
    r"i do not see why not|do not see why not|why not|why (?:would|should) (?:not i|i not)|nothing against(?: it| that)?|no yeah|no yes|go (?:for it|on|ahead)|"
    r"fire away|shoot|let us (?:do (?:it|this|that)|go)|(?:i )?(?:would|can|could) not say no|that is the(?: one)?$|(?:a |one )?(?:hundred|100) ?percent|that will (?:work|do(?! it\b))|you (?:have )?(?:got|found|reached) (?:me|him|her)|(?:this|that|it) (?:is|would be) (?:me|him|her|she|he)$|you are (?:speaking|talking) (?:to|with) (?:me|him|her|them)$|speaking$|that is the one|that will (?:work|do(?! it\b))|you (?:have )?(?:got|found|reached) (?:me|him|her)|(?:this|that|it) (?:is|would be) (?:me|him|her|she|he)$|speaking$|(?:that|it) (?:is|would be) (?:a (?:big |great |huge )?help|fine|great|good|perfect|okay|lovely|right|correct|ideal|grand|brilliant|wonderful|super|fantastic|fab|smashing|excellent|terrific)|"
    r"(?:sounds|works) (?:good|great|fine|perfect|lovely|for me)|(?:you|i) bet|for sure|i suppose(?: so)?|i guess(?: so)?|(?:yes|yeah|yep) (?:sure|please|of course)|"
    r"(?:i |we )?(?:would|will|am|are) not (?:going to )?miss (?:it|this|that)|if (?:you|i) must|(?:i (?:would|will|am) )?(?:be )?happy to|of course you (?:may|can)|certainly(?! not\b)|if you like|spot on|please do(?! not)|lock it in|book it|(?:brilliant|lovely|deal|done|cool|awesome|excellent)(?= thank| please| yes| then|$)|(?:in|with) a heartbeat|without (?:a )?doubt|"
    r"(?:i )?(?:already|always) (?:have|do|did)$|(?:i )?(?:certainly|definitely|absolutely|totally) (?:would|do|have|will)|i would(?: say so| of course| definitely| certainly| indeed| absolutely)?$|(?:you have )?got it|"
    r"ask away|let us hear (?:it|them|that)|let us have (?:it|them)|hit me(?: with (?:it|them))?$|what (?:do|would) you (?:want|like) to (?:know|ask)(?: me)?$|by all means|(?:(?:no|not at all) )*(?:now is|this is) (?:a )?(?:fine|good|okay|great|perfect)(?: (?:time|now))?$|(?:no )*you are not (?:bothering|interrupting|disturbing|keeping)\b|(?:no )*(?:it |that )?(?:is |would be )?no (?:trouble|harm)\b|(?:no )*(?:it |this |that )?(?:is )?not (?:a )?(?:bad|wrong) (?:time|moment)|(?:i )?(?:do )?not have (?:any|an) objections?|(?:i )?(?:have|can spare) (?:got )?(?:a|one|two|a few|a couple) (?:of )?(?:minutes?|moments?)(?: for (?:that|you|this))?$|you betcha|who would not|(?:i )?would not (?:even )?hesitate|(?:i )?(?:think|believe|reckon) so(?! but)|(?:i )?sure would|with bells on|(?:i )?have already(?: (?:once|twice|many times))?$|"
    r"hell yes|heck yes|happy to|glad to|with pleasure|be quick|make it quick|as long as it (?:really |only )?(?:is|takes|will be) (?:really |only )?(?:quick|short|brief|a minute|one minute|a moment)|if it is (?:quick|short))\b(?!.*\bbut not\b)"
)
_SAYS_NO: Final = re.compile(
    r"\b(?:not in a million|no (?:chance|way)|not a chance|never again|over my dead|i would rather not|rather not|i will pass|i am good thanks?|"
    r"(?:nah|no) (?:you are|i am|we are) (?:alright|all right|okay|ok|good|fine)|not (?:likely|for me|sure i would|bothered|keen)|"
    r"probably not|i would be (?:rather |a bit |a little |very |quite |really )?(?:hesitant|reluctant|wary)|not on your life|(?:i am |very |mm )?doubtful|not if you paid|(?:can not|do not) see it$|leave it|forget it|forget about it|do not bother|no thanks?|no thank you|(?:stay|keep) (?:(?!fire\b)\w+ ){0,3}away|steer clear|avoid (?:it|this|that|you|the) ?(?:place|hotel|company)?|(?:any|some)where else|count me out|hard pass|absolutely not|definitely not|certainly not|"
    r"of course not|(?:already (?:got|have)|(?<!to )(?<!can i )(?<!could i )(?<!not )(?:got|have)) (?:one|a label|it|that|them)(?: already)?(?: thanks)?$|"
    r"^(?:no |please )*do not (?!know|think|mind|have|remember|understand|worry|see|you)|hell no|heck no|yeah no|i (?:doubt|highly doubt) it|i would not(?! know\b)|can not say (?:that )?i (?:would|have|did|do|am)|hold off|not (?:right )?now|not yet|afraid not|afraid (?:i |we )?(?:could|can|would|will) not|must be (?:joking|kidding)|fat chance|^not (?!sure|bad|only|too bad|that bad|just|a problem|certain|exactly|sure)(?:even|at|really|for|in|with|to|this|that|if|until|till|before|after|unless|without))\b"
)
# "All right, then no, I'll come on my own" has heard something, and declines.
_ACKNOWLEDGED: Final = re.compile(
    r"^(?:(?:all right|alright|okay|ok|right|fine|good|great|well)\b[ ,.]*)+(?:then|so|in that case),? (?=(?:no|nope|nah)\b)",
    re.IGNORECASE,
)
_NOT_DONE: Final = re.compile(r"\bnot (?:quite |yet )?(?:done|finished|all|everything)\b")
_UNDECIDED: Final = re.compile(
    r"\b(?:not (?:quite |really |too |entirely )?(?:sure|certain|decided)|undecided|have not decided)\b"
)


def polarity_of(text: str) -> Polarity | None:
    """Returns the yes or no of an answer, idioms included: "I don't mind", "not in a million years"."""
    text = _ACKNOWLEDGED.sub("", text)
    said = " ".join(word_tokens(text))
    if SAYS_YES.search(said) or _NOT_DONE.search(said):
        return "yes"
    if _UNDECIDED.search(said):
        return None
    if (kind := "no" if _SAYS_NO.search(said) else answer_polarity(text)) is not None:
        return kind
    clauses = [" ".join(word_tokens(clause)) for clause in re.split(r"[,;.!?]| but ", text)]
    plain = [
        "yes" if SAYS_YES.search(clause) else answer_polarity(clause)
        for clause in clauses
        if SAYS_YES.search(clause) or is_plain_polarity(clause)
    ]
    return plain[-1] if plain else None
