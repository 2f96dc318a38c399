"""Sentences that callers could say at one point or another of a conversation, put together from parts."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

BOOK: Final = "I would like to book an appointment."
CONSULT: Final = ("A consultation please", "A will")
NUMBER: Final = "two zero one five five five zero one four two"


@dataclass(frozen=True, slots=True)
class Point:
    """Where a conversation stands after ``turns``, and the nodes that would be against what is said there."""

    slug: str
    turns: Sequence[str]
    never: frozenset[str]


def _point(slug: str, turns: Sequence[str], never: str) -> Point:
    return Point(slug, turns, frozenset(never.split()))


# A plain yes takes a step here that nothing takes back.
POINTS_OF_CONSENT: Final = (
    _point("appointment_booking", (BOOK, "Tuesday.", "Eleven o'clock.", "Yes."), "booked callback goodbye"),
    _point("order_status", ("I want to return something",), "label callback goodbye"),
    _point("delivery_window", ("yes", "in the morning", "no"), "scheduled callback"),
    _point("payment_reminder", ("yes", "no"), "planned promised opted_out"),
    _point("reception", (*CONSULT, "my name is alex morgan", NUMBER), "noted goodbye"),
    _point("after_hours", ("a pipe burst", "forty two oak street", NUMBER), "dispatched"),
    _point("no_show_recall", ("yes", "tuesday", "ten"), "booked opted_out"),
    _point(
        "lead_qualification", ("yes", "yes", "two hundred", "right away", "tuesday", "ten"), "booked not_interested"
    ),
    _point("recruiting_screen", ("yes", "yes", "yes", "days", "right away", "tuesday"), "scheduled recruiter"),
)
# A goodbye, a refusal or a "later" ends the call here.
POINTS_OF_LEAVING: Final = (
    _point("appointment_booking", (), "goodbye callback cancelled"),
    _point("appointment_booking", ("When are you open?",), "goodbye"),
    _point("appointment_booking", ("I need to reschedule.",), "cancelled goodbye callback"),
    _point("order_status", (), "goodbye callback"),
    _point("order_status", ("I want to return something", "no"), "goodbye callback"),
    _point("survey", (), "refused later"),
    _point("reception", (), "goodbye"),
    _point("after_hours", (), "goodbye"),
    _point("support_triage", (), "goodbye"),
    _point("payment_reminder", (), "not_here opted_out"),
    _point("event_reminder", (), "opted_out later"),
    _point("lead_qualification", (), "not_interested later"),
    _point("recruiting_screen", (), "withdrew later recruiter"),
)
_YES: Final = (
    "Yes", "Yeah", "Sure", "Okay", "Perfect", "Sounds good", "Great", "Alright", "Yep", "Absolutely", "Fine", "That works",
)  # fmt: skip
_JOINED: Final = (", but ", ", ", ". ", "... ", " but ", " ", " although ", ", only ", ", except ")
_RESERVATIONS: Final = (
    "I need to ask my husband first", "could you make it later", "I'd rather come another day", "who would I be seeing",
    "let me check my calendar", "I may be out of town then", "it would have to be cheaper", "my boss has to agree",
    "don't do it yet", "I'm not sure about it", "wait", "hold on", "it depends on the weather", "give me a minute",
    "I meant something else", "it's for my daughter, not me", "that's not what I said", "you got that wrong",
    "I have a question first", "only if it's free", "as long as my insurance pays", "unless I have to pay",
    "once I've talked to my wife", "after I've checked with work", "I never asked for that", "there's a problem with it",
    "that's the wrong one", "I thought it was something else", "that won't work for me", "I can't", "I changed my mind",
    "please don't", "forget about it", "tell me more before you do", "I still have to find out",
    "my brother is using the car that day", "the other one was better",
)  # fmt: skip
# No yes at all, in words of a yes or without.
NO_CONSENT: Final = (
    "Let me think about it", "Hold on a second", "Not yet", "I didn't say that", "That's not what I said", "Who are you?",
    "What did you say?", "Hmm", "No wait", "Give me a moment", "My wife needs to decide", "Yes mom, I'm coming",
    "Okay so how does this work", "right, so what happens next", "Good question", "I understand the question", "It depends",
    "I'd have to check", "why do you need that?", "yeah can you hear me?", "are you sure?", "okay google", "yeah right",
    "perfect, just what I needed, a machine", "fine, be like that", "sure you are", "yes I heard you", "yes or no what",
    "what if I say yes?", "I can't say yes to that", "I want to say yes, but I can't", "did I say yes?",
)  # fmt: skip
WISHES_TO_STAY: Final = (
    "No, I do have one more question", "No, I don't want to hang up yet", "not yet, I still need help", "Don't hang up",
    "No, I'm not done", "Thanks, but I also need something else", "No, I'd still like to come in", "I'm not finished",
    "Nothing else works for me", "No, nobody has helped me yet", "no I didn't get an answer", "No that's not what I asked",
    "I never mind waiting", "no you misunderstood me", "Goodbye is what my wife says, but I'm staying",
    "I don't want to say goodbye yet", "No, I was going to ask about something", "this isn't a bad time",
    "I wouldn't say I'm not interested", "It's not that I'm not interested, tell me more", "I'm not busy",
    "I'm at work but it's fine, go on", "I'm driving but I have you on speaker, go ahead",
)  # fmt: skip
DANGERS: Final = (
    "My husband just collapsed", "There's a fire in my kitchen", "I think I'm having a heart attack", "he's not breathing",
    "My mom fell and hit her head, she's unconscious", "someone is breaking into my house", "it won't stop bleeding",
    "There's a man with a gun outside", "my baby is choking", "I took too many pills", "I want to kill myself",
    "my son is having a seizure", "She fainted and won't wake up", "I need an ambulance", "call the police",
    "My husband is threatening me", "I've been stabbed", "my throat is closing", "somebody got shot", "help me, he has a knife",
    "he is banging on the door with a bat", "I don't want to live anymore",
)  # fmt: skip
# Before anything is said, and where something is asked.
POINTS_OF_DANGER: Final = (
    ("appointment_booking", (BOOK, "Tuesday.")), ("order_status", ("where is my order",)), ("survey", ("yes",)),
    ("reception", CONSULT), ("after_hours", ("a pipe burst",)), ("payment_reminder", ()), ("delivery_window", ()),
    ("event_reminder", ("yes",)), ("lead_qualification", ()), ("recruiting_screen", ("yes",)), ("support_triage", ()),
)  # fmt: skip
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
# A day that is named and not chosen.
DAY_MENTIONS: Final = (
    "not {}", "anything but {}", "{} doesn't work", "I can't do {}", "{} is the only day I can't", "I work {}s", "everything but {}",
    "I hate {}s", "I'm out of town {}", "{} is when I have yoga", "my husband has the car on {}", "I already have something {}",
    "{}? no way", "{} I'm in surgery", "last {} I was there", "I was there on {}", "what about {}... no, that's my mom's birthday",
    "{} was when I called last time", "I'd prefer any other day than {}", "skip {}", "as long as it isn't {}",
    "{} would be a nightmare", "the kids are home on {}", "let's not do {}", "on {} my car is in the shop",
)  # fmt: skip
HOURS: Final = ("nine", "eleven", "two", "four")
HOUR_MENTIONS: Final = (
    "not {}", "anything but {}", "{} is too early", "I have a meeting at {}", "I finish work at {}", "before {} would be best",
    "my kids get out of school at {}", "I'm busy until {}", "after {} please", "earlier than {}", "my bus leaves at {}",
    "hmm, {} is when I pick up my son", "{}? I'm still asleep then", "the last time I came at {} I waited forever",
)  # fmt: skip
PARTIAL_NUMBERS: Final = (
    "five five five", "two zero one, hold on", "my number is in your file", "I don't have one", "zero", "call me at nine",
    "I only know the area code, two zero one", "anytime after five", "between 9 and 5", "I'd rather not say", "I have two numbers",
)  # fmt: skip
NO_NAMES: Final = (
    "why do you need my name?", "I'd rather not say", "hold on", "it's complicated", "same as before", "none of your business",
    "I'm just looking for advice", "ask my secretary", "I already told you", "I'm driving right now", "I am very upset",
)  # fmt: skip
OTHER_PERSONS: Final = (
    "You've got the wrong person", "this is his wife", "She's not here", "I'm her daughter", "You want my dad, hold on",
    "speaking on behalf of my husband", "yes, but he's not home", "yeah that's my husband, he's out",
    "yes, this is his number, he's in the shower", "sure, but you'll have to talk to my wife", "okay let me get her",
)  # fmt: skip


def reserved_answers(seed: int) -> Iterator[str]:
    """Yields answers with a yes in them and something left over, and answers that are none."""
    chooser = random.Random(seed)
    yield from NO_CONSENT
    for reservation in _RESERVATIONS:
        yield f"{chooser.choice(_YES)}{chooser.choice(_JOINED)}{reservation}"
        yield f"{reservation.capitalize()}, otherwise {chooser.choice(_YES).lower()}"
