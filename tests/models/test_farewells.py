"""What callers answer before they take leave."""

import pytest

from offhook.models.providers.builtin.english.refusals import without_farewell


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Yes, certainly. Have a good day, bye.", "Yes, certainly."),
        ("No. Thank you, goodbye.", "No."),
        ("yes please, thanks, bye", "yes please"),
        # nothing else is said
        ("Thanks, bye.", "Thanks, bye."),
        ("Goodbye!", "Goodbye!"),
        # a farewell in the middle ends nothing
        ("Bye the way, I have a question.", "Bye the way, I have a question."),
        ("I'd have a good day if it worked.", "I'd have a good day if it worked."),
    ],
)
def test_a_farewell_is_no_part_of_the_answer(said: str, answer: str) -> None:
    assert without_farewell(said) == answer
