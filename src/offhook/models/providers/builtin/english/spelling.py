"""Mends how people type in a chat: shorthand, and slips in the words that matter on the telephone. Pure."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from offhook.models.providers.builtin.english.dictionary import is_english_word
from offhook.models.providers.builtin.english.words import word_set

_SHORTHAND: Final = """
    u=you; ur=your; r=are; pls=please; plz=please; thx=thanks; ty=thank you; tmrw=tomorrow; tmr=tomorrow;
    tmw=tomorrow; tomo=tomorrow; 2moro=tomorrow; 2morrow=tomorrow; tues=tuesday; tue=tuesday; weds=wednesday;
    wed=wednesday; thurs=thursday; thur=thursday; thu=thursday; fri=friday; mon=monday; sat=saturday;
    appt=appointment; appts=appointments; apt=appointment; appoint=appointment; resched=reschedule;
    idk=i do not know; dunno=i do not know; dont=don't; cant=can't; wont=won't; didnt=didn't; doesnt=doesn't;
    isnt=isn't; wasnt=wasn't; havent=haven't; hasnt=hasn't; couldnt=couldn't; wouldnt=wouldn't; shouldnt=shouldn't;
    im=i'm; ive=i've; id=i'd; thats=that's; whats=what's; wheres=where's; hows=how's; whens=when's; theres=there's;
    youre=you're; its=it's; lets=let's; wanna=want to; gonna=going to; gotta=have to; gimme=give me; lemme=let me;
    kinda=kind of; ok=okay; k=okay; kk=okay; yh=yeah; ya=yeah; yea=yeah; ye=yeah; yess=yes; yup=yes; noo=no;
    nahh=nah; abt=about; b4=before; gr8=great; l8r=later; smth=something; sth=something; sum1=someone; bc=because;
    cuz=because; msg=message; nr=number; num=number; afternon=afternoon; arvo=afternoon; avo=afternoon; noon=noon;
    wrk=work; hav=have; wnt=want; nvm=never mind; ppl=people; rn=right now; asap=as soon as possible;
    btw=by the way; hrs=hours; mins=minutes; addy=address; opn=open; soo=so; oder=order; odrer=order; ordr=order; odr=order; thre=three; fve=five; fiv=five; foru=four; fuor=four; spk=speak;
    spek=speak; humn=human; bok=book; firday=friday; thrusday=thursday; tusday=tuesday; sec=second; secs=seconds; leven=eleven; fife=five; fower=four;
    yesss=yes; ys=yes; yse=yes; yeh=yeah; yep=yes; plese=please; wen=when; wat=what; wot=what;
    outof=out of; lite=light; dosnt=doesn't; dosent=doesn't; oclok=o'clock; oclcok=o'clock; alot=a lot; taht=that; tath=that; teh=the; hte=the; adn=and; nad=and; yuo=you; wnat=want; watn=want;
    waht=what; giv=give; dwon=down; jsut=just; wiht=with; thsi=this; frmo=from; nto=not; cna=can; iwth=with
"""
_SHORT: Final = dict(pair.strip().split("=") for pair in _SHORTHAND.split(";"))
# Words that decide something, to which a slip of one or two letters is mended.
_KNOWN: Final = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday tomorrow today morning afternoon evening weekend
    appointment appointments schedule reschedule cancel canceled cancelled cancellation change booking confirm
    return refund package parcel delivery delivered order orders number status tracking human person operator
    manager agent representative someone question opening hours address located location insurance price thanks
    please goodbye recommend definitely excellent terrible breakfast restaurant service reception staff room
    bleeding emergency toothache checkup cleaning available eleven twelve seven eight three label email later busy
    interested driving another different instead actually perfect absolutely already before first visit patient
    money back arrive arrived where when what which probably receive received shipped missing wrong speak talking
    callback survey hotel internet computer password account invoice payment orange light lights
    """
)
# Right words that a slip of a known one would be mistaken for.
_RIGHT: Final = word_set(
    """
    charged charges charging broom groom boom rooms roam order border older eight weight height there these threw
    three throe change chance charge changes changed orders ordered ordering returns returned returning labels
    staffs stuff late latte letter later latest ladder booked books book looking cooking hooking talking taking
    walking backing bleed bleeds refunds refunded prices priced rice twice price nice what that hat wheat when then
    where here were wear visits visited person persons persona patient patients mornings evening evenings events
    even seven severn haven heaven never ever every beers speaks spoke peak perfect prefect monkey money honey many
    moneys hours house houses horse yours ours hour found friend friends friendly first thirst firm forms form from
    fist email mail emails male being seeing status statue sometime someone something anyone somebody backs black
    delivery deliver delivers deliveries arrives arrival agents urgent services serviced moved move mover canceled
    canceling cancelling confirmed confirms dressing address addressed addresses parcels packages opened opens open
    numbers numb lumber insured ensure busy bust dusty easy hotels motel table cable able before bore therefore
    another mother other brother bothers interesting interest wrongs strong song along driving diving living
    arriving drive driven missing kissing mission survey surveys survive surveyed available unavailable staying said
    paid patience breakfasts fast last past least feast
    """
)
# Words in which two swapped letters are corrected.
_COMMON: Final = word_set(
    """
    about after again all am and any are ask back bad been best big book both bought bring but buy call came can cant
    come could couldnt day days did didnt do does doesnt dont down each else end enough even ever find first fix for
    forgot four friend from gave get getting give go going gone good got great had happen happened has have havent he
    help her here him his home hour how if in is isnt it its job just keep kind know last late less let like list
    little live long look lost made make many may maybe me mean might mine more most move much must my name need never
    new next nice night no not nothing now of off often oh ok on one only open or our out over own paid part pay phone
    place plan problem pay put question quite ready real really right said same say see send sent set she should show
    side since six so some soon sorry still stop such sure take talk tell ten than thank that the their them then they
    thing think this those thought time to told too took town tried trouble try trying turn two under until up us use
    usual very wait want wanted was wasnt way we week well went were will wish with without wont work working works
    would wouldnt write wrote year yes yet you your yours
    """
)
_DRAWN_OUT: Final = re.compile(r"([a-z])\1{2,}")
_WORDS: Final = re.compile(r"[A-Za-z0-9']+")


def mend_spelling(text: str) -> str:
    """Returns the text with shorthand written out and slips in known words mended."""
    return _WORDS.sub(lambda match: _mend_word(match.group(), text), text)


def _mend_word(word: str, text: str) -> str:
    lower = word.lower()
    if len(lower) > 3 and lower not in _SHORT and (drawn := _DRAWN_OUT.sub(r"\1\1", lower)) != lower:
        # "threee", "sooo"
        word = lower = drawn if is_english_word(drawn) or drawn in _SHORT else _DRAWN_OUT.sub(r"\1", lower)
    if lower in _SHORT and not (lower in ("mon", "sat", "wed", "id", "its") and not _is_chat(lower, text)):
        return _SHORT[lower]
    if len(lower) > 2 and lower.isascii() and lower.isalpha() and not is_english_word(lower):
        swapped = [other for other in _swap_neighbors(lower) if other in _COMMON or other in _KNOWN]
        if len(swapped) == 1:
            return _SHORT.get(swapped[0], swapped[0])
    if len(lower) < 5 or not lower.isalpha() or lower in _KNOWN or lower in _RIGHT:
        return word
    mended = _nearest_known(lower)
    return word if mended is None or is_english_word(lower) else mended


def _swap_neighbors(word: str) -> Iterator[str]:
    """Yields a word with each pair of neighboring letters swapped: "cnat" → "cant"."""
    for at in range(len(word) - 1):
        if word[at] != word[at + 1]:
            yield f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}"


def _is_chat(word: str, text: str) -> bool:
    """Returns True where an ambiguous shorthand is one: "sat" is a day only beside a word of time."""
    if word in ("id", "its"):
        return (
            word == "its"
            or re.search(r"\bid (like|rather|love|prefer|say|want|recommend|give|tell|go|be)\b", text.lower())
            is not None
        )
    return (
        re.search(
            rf"\b(on|next|this|or|for|not|about|say|to)\s+{word}\b|^\W*{word}\b|\b{word}\s+(at|morning|afternoon|works)",
            text.lower(),
        )
        is not None
    )


@lru_cache(maxsize=4096)
def _nearest_known(word: str) -> str | None:
    """Returns the one known word that is a slip or two away."""
    most = 1 if len(word) < 7 else 2
    near = [
        known
        for known in _KNOWN
        if abs(len(known) - len(word)) <= most and known[0] == word[0] and _slips(word, known, most) <= most
    ]
    if not near:
        return None
    best = min(near, key=lambda known: (_slips(word, known, most), known))
    # endings are grammar, not slips: "booked", "orders"
    return None if best.startswith(word) or word.startswith(best) or word.rstrip("sed") == best.rstrip("sed") else best


def _slips(one: str, other: str, most: int) -> int:
    """Counts inserted, lost, wrong and swapped letters between two words; more than ``most`` is ``most + 1``."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, wanted in enumerate(other, 1):
            cost = min(row[j - 1] + 1, last[j] + 1, last[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1]
