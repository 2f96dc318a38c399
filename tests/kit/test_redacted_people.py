"""Dates of birth and names in what people say: what is redacted, and what stays."""

import pytest
from bench.redaction import HELD_OUT_SEED, SEEN_SEED, measure

from offhook.kit.redaction.redactor import Redactor

NAMES = ("Anna Schmidt", "José Müller", "O'Brien", "Will Carter", "Grace", "Nguyen", "Anne-Marie Dupont")


def redact(*turns: str) -> list[str]:
    """Redacts one turn of the caller, or turns of the agent and the caller in turn."""
    redactor = Redactor(names=NAMES)
    return [redactor.redact_text(turn, is_caller=len(turns) == 1 or index % 2 == 1) for index, turn in enumerate(turns)]


@pytest.mark.parametrize(
    "text",
    [
        "My date of birth is the |fourth of July 1985|.", "DOB: |07/04/1985|", "born on |3 March 72|", "I was born |1985-07-04|.",
        "|1985-07-04| is my date of birth", "D.O.B. is |4.7.85|", "dob |07041985|", "my birth date is |seven four eighty-five|",
        "date of birth |oh seven oh four nineteen eighty five|", "my birthday is |March 3|", "born in |March of 1985|",
        "It's |July the fourth, two thousand and three|, that's my birthday.", "born |zero seven zero four one nine eight five|",
        "born on |march twenty nineteen ninety-one|", "born on the |twenty-first of september sixty two|, sorry, |sixty three|",
        "My date of birth is |July 4 1985|, and my daughter's |5/6/2012|", "date of birth |Mar. 3 '72|", "I was born in Boston in |1985|",
    ],
)  # fmt: skip
def test_a_date_of_birth_is_redacted(text: str) -> None:
    expected = "[birth_date]".join(text.split("|")[::2])
    assert redact(text.replace("|", "")) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "I need an appointment on 07/04/2026.", "See you on July 4th, 2026.", "07/04/1985", "It's a birthday party on May 5th 2026.",
        "My card expires in March 2027.", "We moved in 1985.", "I was born in Boston and moved here in 2003.", "born to be wild",
        "Room 1985", "Newborn photos on May 5 2026", "My date of birth is right, but the appointment on 3 March 2026 is not.",
    ],
)  # fmt: skip
def test_another_date_stays(text: str) -> None:
    assert redact(text) == [text]


def test_a_date_of_birth_beside_an_appointment() -> None:
    text = "I was born July 4th, 1985. I'd like to come in on March 3rd 2026, not on 3/4/2026."
    assert redact(text) == ["I was born [birth_date]. I'd like to come in on March 3rd 2026, not on 3/4/2026."]


def test_a_telephone_number_after_a_date_of_birth() -> None:
    text = "my date of birth is march ninth nineteen sixty one my phone number is four one five two zero one zero zero zero seven"
    assert redact(text) == ["my date of birth is [birth_date] my phone number is [phone]"]


def test_a_question_tells_a_date_of_birth() -> None:
    asked = "Can I get your date of birth to schedule the appointment?"
    assert redact(asked, "Sure, one moment.", "Take your time.", "July 4th, 1985")[-1] == "[birth_date]"
    assert redact("What day works for the appointment?", "July 4th 2026")[-1] == "July 4th 2026"
    assert redact("I have your date of birth. What day works?", "July 4th 2026")[-1] == "July 4th 2026"
    turns = redact(
        "Your date of birth?", "7/4/85", "The fourth of July 1985?", "No, July 5th 1985.", "See you on July 5th 2026."
    )
    assert turns == [
        "Your date of birth?",
        "[birth_date]",
        "The [birth_date]?",
        "No, [birth_date].",
        "See you on July 5th 2026.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Call |Anna Schmidt|, please.", "|anna schmidt|'s desk", "|ANNA SCHMIDT|", "|Schmidt, Anna|", "|José Müller|", "|jose mueller|", "|Jose\u0301 Muller|",
        "|Anne Marie Dupont|", "|Annemarie Dupont|", "|O'Brien|", "|o\u2019brien|", "|Obrien|", "the |O'Brien|s' house", "|Nguyen|s order",
        "|A N N A S C H M I D T|", "|N-G-U-Y-E-N|", "|n as in nancy, g, u, y, e, n|", "|Will Carter| is here", "ask |Grace|", "|anna-schmidt|.pdf",
    ],
)  # fmt: skip
def test_a_name_of_the_list_is_redacted(text: str) -> None:
    expected = "[name]".join(text.split("|")[::2])
    assert redact(text.replace("|", "")) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "Annabel Schmidtke", "Anna called.", "Will you come?", "the grace period", "an na", "Nguyenson", "annual", "S C H M I D B A U E R",
        "Marie Dupont", "o brian",
    ],
)  # fmt: skip
def test_what_is_not_on_the_list_stays(text: str) -> None:
    assert redact(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "My name is |Maria Lopez| and I need help.", "my name is |maria lopez| and i need help", "Hi, this is |Peter| calling.", "I'm Dr. |Peter van Dyke|.",
        "this is |peter parker| calling", "|Maria Lopez| speaking, hello.", "My first name is |Siân|.", "You can call me |Ike|.",
        "My last name is |Krämer|, |K-R-A-M-E-R|.", "It's under the name |Papadopoulos|.", "My name is |Maria|. |Maria| is waiting.",
        "MY NAME IS |JOHN SMITH| AND I CALL", "My name is |Will|.", "my name is |will smith| and",
    ],
)  # fmt: skip
def test_the_caller_s_own_name_is_redacted(text: str) -> None:
    expected = "[name]".join(text.split("|")[::2])
    assert redact(text.replace("|", "")) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "My name is spelled wrong.", "My name is on the list.", "I'm sorry.", "I'm American.", "I'm OK.", "This is urgent.", "call me back", "It's Tuesday.",
        "I go by train.", "We are on a first name basis.", "This is not what I ordered, calling again.", "I'm calling about the bill.", "My confirmation code is A B C D E F.",
    ],
)  # fmt: skip
def test_what_is_no_name_stays(text: str) -> None:
    assert redact(text) == [text]


def test_a_question_tells_a_name() -> None:
    turns = redact(
        "May I have your name?",
        "maria lopez",
        "Thank you, Maria. And the last name, letter by letter?",
        "L O P E Z",
        "So L-O-P-E-Z.",
    )
    assert turns == [
        "May I have your name?", "[name]", "Thank you, [name]. And the last name, letter by letter?", "[name]", "So [name].",
    ]  # fmt: skip
    assert (
        redact("Your name and date of birth?", "roberta flack february tenth thirty seven")[-1] == "[name] [birth_date]"
    )
    assert redact("What's your name?", "Um, Roberta. Roberta Flack.", "Ms. Flack?")[1:] == [
        "Um, [name]. [name] [name].",
        "Ms. [name]?",
    ]
    assert redact("Your name?", "Why do you need that?", "To find you.", "Fine. Roberta.")[-1] == "Fine. [name]."
    assert redact("Your name?", "Xiuying, that's X I U Y I N G.")[-1] == "[name], that's [name]."
    assert redact("What is your company's name?", "Northwind Traders")[-1] == "Northwind Traders"
    assert redact("Your name?", "I want a cleaning.")[-1] == "I want a cleaning."


def test_words_that_are_not_final() -> None:
    redactor = Redactor()
    redactor.redact_text("May I have your name and date of birth?", is_caller=False)
    assert redactor.redact_partial("maria lopez") == "[name]"
    assert redactor.redact_partial("my name is Maria, born 3 March 72") == "my name is [name], born [birth_date]"
    assert redactor.redact_value("Maria, 3 March 72") == "Maria, [birth_date]", (
        "it was asked for, and no name is remembered"
    )


def test_names_of_the_agent_stay() -> None:
    assert redact("Hi, my name is Sofia.", "Hello.") == ["Hi, my name is Sofia.", "Hello."]


def test_values_of_people() -> None:
    value = {
        "dateOfBirth": "the fourth of July", "dob": 19850704, "birth": {"birth_year": 1985}, "patient_name": "Ada B.", "name": "Ada B.",
        "user_name": "ada1", "note": "born 3 March 72, asks for anna schmidt", "starts": "2026-07-04", "surname": "unknown", "birthday": None,
    }  # fmt: skip
    redacted = {
        "dateOfBirth": "[birth_date]", "dob": "[birth_date]", "birth": {"birth_year": "[birth_date]"}, "patient_name": "[name]", "name": "Ada B.",
        "user_name": "ada1", "note": "born [birth_date], asks for [name]", "starts": "2026-07-04", "surname": "unknown", "birthday": None,
    }  # fmt: skip
    assert Redactor(names=NAMES).redact_value(value) == redacted
    assert Redactor(names=NAMES).redact_value(value, is_about_caller=True) == redacted | {"name": "[name]"}
    assert Redactor(["card"], NAMES).redact_value(value) == value


def test_a_kind_that_is_not_chosen_hides_no_name() -> None:
    assert Redactor(["name"], ["Ann Lee"]).redact_text("ann.lee@example.com") == "[name]@example.com"
    assert Redactor(["name", "email"], ["Ann Lee"]).redact_text("ann.lee@example.com") == "[email]"


@pytest.mark.parametrize("seed", [SEEN_SEED, HELD_OUT_SEED])
def test_figures_of_a_few_hundred_turns(seed: int) -> None:
    figures = measure(seed, 600)
    assert (figures["recall"], figures["precision"]) >= (0.99, 0.98), figures["missed"]
