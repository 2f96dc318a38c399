"""Sentences with dates of birth and names for the bench of redaction, and those in which dates and names stay.

The two halves have frames of their own as well as seeds of their own: what the held-out half says was not looked at while the rules were written.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# The names that the organization has on its list.
LISTED_NAMES: Final = (
    "Maria Lopez", "José Álvarez", "Anne-Marie Dupont", "Sean O'Connor", "Jürgen Müller", "Zoë Kravitz", "Nguyen", "Fitzgerald",
    "Will Carter", "Grace Hopper", "Chloé", "Björn Åkesson", "D'Angelo", "Siobhan Murphy", "Kowalski", "Mary Jane Watson", "Abdullah",
    "Renée Zimmermann", "Thandiwe", "Łukasz Nowak",
)  # fmt: skip
_FIRST: Final = (
    "Maria", "John", "Wei", "Fatima", "Oliver", "Priya", "Lars", "Chen", "Sofia", "Omar", "Kate", "Raj", "Ingrid", "Tomás", "Aisha", "Liam",
    "Noor", "Mateo", "Keiko", "Bogdan", "Adaeze", "Yusuf", "Hannah", "Dmitri",
)  # fmt: skip
_LAST: Final = (
    "Smith", "Lopez", "Olsen", "Miller", "Khan", "Rossi", "Tanaka", "Weber", "O'Neill", "van Dyke", "García", "Okafor", "Petrov",
    "Johnson-Reyes", "Haddad", "Lindqvist", "Papadopoulos", "de la Cruz", "McAllister", "Yamamoto",
)  # fmt: skip
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_ORDINALS: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth",
    "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second",
    "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth",
)  # fmt: skip
_SMALL: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen",
    "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

# Frames by half: seen while the rules were written, held out.
_BIRTH_FRAMES: Final = (
    (
        "My date of birth is {}.", "date of birth {}", "I was born on {}.", "born {}", "DOB is {}", "my birthday is {}, if you need it",
        "It's {}, that's my date of birth.", "Sure, my birth date is {} and I'd like an appointment on June 3rd 2026.",
        "My son was born on {}.", "uh my d.o.b. is {}",
    ),
    (
        "The date of birth on the file should be {}.", "{} is my birthday", "I was actually born {}, not the year before.",
        "yeah, birthdate, {}", "she lives with me, and her date of birth is {}", "for the record I was born on the {} in Ohio",
        "D O B {}", "We need to see you on May 5th 2026. My date of birth is {}", "My daughter's birthday was {}.",
        "okay so the birth date would be {}",
    ),
)  # fmt: skip
_BIRTH_QUESTIONS: Final = (
    ("What is your date of birth?", "Can I get your date of birth to schedule the appointment?", "And when were you born?", "Your birthday, please?"),
    (
        "Could you verify your date of birth for me?", "I need the patient's birth date before I can book anything.",
        "Thank you, I have your number. When is your birthday?", "May I have your full name and your DOB, please?",
    ),
)  # fmt: skip
_BIRTH_ANSWERS: Final = (
    ("{}", "It's {}.", "Sure, {}.", "uh {}"),
    ("That would be {}.", "Yes, {}, thanks", "okay, {}", "Of course. {}."),
)
_NAME_FRAMES: Final = (
    (
        "My name is {}.", "Hi, this is {} calling about my bill.", "I'm {}, and I have an appointment.", "my name's {} and I need some help",
        "Hello, {} speaking.", "The name is {}.", "You can call me {}.",
    ),
    (
        "Good morning, my name is {}, I called yesterday.", "Yes hello, this is {} from the second floor.", "My full name is {}, please.",
        "It's under the name {}.", "The name on the card is {}.", "Hey, I'm {}. I wanted to ask about the invoice.", "{} here, good afternoon.",
    ),
)  # fmt: skip
_LISTED_FRAMES: Final = (
    ("Please put me through to {}.", "I spoke with {} last week.", "Is that {}'s desk?", "{} told me to call.", "It is for {}, my neighbor."),
    (
        "Could you tell {} that I called?", "I have a meeting with {} at noon.", "that was {}'s idea", "Ask {}!", "We sent it to {} on Monday, I think.",
        "my appointment is with {}, not with the other one",
    ),
)  # fmt: skip
_NAME_QUESTIONS: Final = (
    ("May I have your name?", "Who am I speaking with?", "What's your full name, please?"),
    ("Can I get your first and last name?", "And what name is the reservation under?", "Sorry, who's calling?"),
)
_NAME_ANSWERS: Final = (
    ("{}", "It's {}.", "Sure, {}.", "This is {}."),
    ("Yes, it's {}.", "{}, please.", "uh, {}", "That's {}."),
)
_HARMLESS: Final = (
    (
        "I need an appointment on {d}.", "Can we move it to {d}?", "My name is spelled wrong on the bill.", "I'm calling about my bill.",
        "The invoice from {d} is still open.", "This is about the delivery on {d}.", "I'm sorry, call me back on Monday.",
        "I'm American, but I live in Berlin.", "Will you be there on {d}?", "This is urgent, I'm afraid.", "What is the name of the street?",
        "It's Tuesday, is it not?", "It's a birthday party on {d} for eight people.", "The card expires in March 2027.",
        "Was your date of birth never asked for? I need a visit on {d}.", "We have been customers since {d}.", "May I ask something?",
        "I go by train.", "I'm {a}.",
    ),
    (
        "The flight leaves on {d}.", "I would prefer {d} if that is available.", "My name is on the list, I believe.", "We checked in on {d}.",
        "I'm looking for a new phone.", "The warranty ends on {d}, right?", "This is not what I ordered.", "I'm Canadian by the way.",
        "Grace period ends when?", "I will mark it on the calendar for {d}.", "That's fine, it's Monday anyway.", "I saw the doctor on {d}.",
        "Please call me tomorrow.", "I have my birthday vouchers here, can I use them for a table on {d}?", "Our contract started {d}.",
        "It's been {a}, thank you.", "My order from {d} has not arrived.", "You can call me later at the office.", "This is the third time I call.",
        "What's the company name again?",
    ),
)  # fmt: skip
_MOODS: Final = (
    "fine",
    "not sure",
    "in a hurry",
    "very happy",
    "waiting",
    "on the other line",
    "stuck in traffic",
    "a bit late",
)


@dataclass(frozen=True, slots=True)
class PersonTurn:
    text: str
    secret: str
    before: str | None = None


def make_birth_date(random_: random.Random, half: int) -> PersonTurn:
    """``half`` is 0 for the frames that were seen, 1 for those that were held out."""
    said = _say_date(random_, random_.randint(1931, 2019))
    secret = said.removeprefix("the ")
    if random_.random() < 0.4:
        answer = random_.choice(_BIRTH_ANSWERS[half]).format(said)
        return PersonTurn(answer, secret, random_.choice(_BIRTH_QUESTIONS[half]))
    return PersonTurn(random_.choice(_BIRTH_FRAMES[half]).format(said), secret)


def make_name(random_: random.Random, half: int) -> PersonTurn:
    """A name of the list, or one that the caller gives as their own."""
    way = random_.random()
    if way < 0.4:
        secret = _change_form(random_, random_.choice(LISTED_NAMES))
        return PersonTurn(random_.choice(_LISTED_FRAMES[half]).format(secret), secret)
    first, last = random_.choice(_FIRST), random_.choice(_LAST)
    name = random_.choice((f"{first} {last}", f"{first} {last}", first))
    if way < 0.7:
        return PersonTurn(random_.choice(_NAME_FRAMES[half]).format(name), name)
    if way < 0.8:
        # the agent repeats it
        return PersonTurn(random_.choice((f"Thank you, {first}.", f"So that's {first}?")), first, f"My name is {name}.")
    question, answer = random_.choice(_NAME_QUESTIONS[half]), random_.choice(_NAME_ANSWERS[half])
    said = random_.choice((name, name, name.lower(), "-".join(first.upper()), " ".join(first.upper())))
    if "-" in said[1:3] or " " in said[1:2]:
        question = random_.choice(("How do you spell your first name?", "Could you spell your name for me?"))
    return PersonTurn(answer.format(said), said, question)


def make_harmless(random_: random.Random, half: int) -> str:
    """Other dates, and words like those that names follow."""
    date = _say_date(random_, random_.choice((2025, 2026, 2027)))
    return random_.choice(_HARMLESS[half]).format(d=date, a=random_.choice(_MOODS))


def _change_form(random_: random.Random, name: str) -> str:
    ways: Sequence[str] = (
        name,
        name,
        name.lower() if name != "Will Carter" else name,
        name.upper(),
        name.replace("-", " ").replace("ü", "ue"),
        name.translate(str.maketrans("éáëåüöŁ", "eaeauoL")),
        " ".join(char for char in name.upper() if char.isalpha()) if " " not in name else name,
    )
    return random_.choice(ways)


def _say_small(number: int) -> str:
    if number < 20:
        return _SMALL[number]
    return _TENS[number // 10] + (f"-{_SMALL[number % 10]}" if number % 10 else "")


def _say_year(random_: random.Random, year: int) -> str:
    century, rest = divmod(year, 100)
    if year >= 2000:
        if year < 2010:
            return "two thousand" + (random_.choice((" and ", " ")) + _SMALL[rest] if rest else "")
        return random_.choice((f"twenty {_say_small(rest)}", f"two thousand {_say_small(rest)}"))
    spoken = f"oh {_SMALL[rest]}" if rest < 10 else _say_small(rest)
    return random_.choice(
        (
            f"{_SMALL[century]} {spoken}",
            f"{_SMALL[century]} {spoken}".replace("-", " "),
            spoken if rest > 9 else f"nineteen {spoken}",
        )
    )


def _say_date(random_: random.Random, year: int) -> str:
    month, day = random_.randint(1, 12), random_.randint(1, 28)
    name, short = _MONTHS[month - 1], _MONTHS[month - 1][:3]
    ending = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}.get(day, "th")
    spoken = _say_year(random_, year)
    return random_.choice(
        (
            f"{month:02d}/{day:02d}/{year}", f"{month}/{day}/{year % 100:02d}", f"{day}.{month}.{year}", f"{year}-{month:02d}-{day:02d}",
            f"{name} {day}, {year}", f"{name} {day}{ending} {year}", f"{day} {name} {year}", f"{day}{ending} of {name}, {year}", f"{short} {day} {year}",
            f"{day} {short} {year % 100:02d}", f"the {_ORDINALS[day - 1]} of {name} {spoken}", f"{name} {_ORDINALS[day - 1]} {spoken}",
            f"{name} the {_ORDINALS[day - 1]}, {spoken}".lower(), f"{_say_small(month)} {_say_small(day)} {spoken}",
            f"{month:02d} {day:02d} {year}", f"{name.lower()} {_say_small(day)} {spoken}",
            f"{_say_small(month)} slash {_say_small(day)} slash {spoken}",
        )
    )  # fmt: skip
