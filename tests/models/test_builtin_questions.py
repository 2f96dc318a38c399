"""The offline agent and what comes between its questions: questions that documents answer, and refusals."""

import pytest

from offhook.models.ports import EdgeHint
from tests.models.test_builtin_llm import NO, SUPPORT, YES, answer, node


class TestDocuments:
    HOURS = "Visiting\nThe parking lot behind the house is free for visitors."

    @pytest.mark.parametrize("is_entered", [True, False])
    async def test_answer_a_question_and_the_step_s_own_is_asked_again(self, is_entered: bool) -> None:
        hint = node(YES, NO, entered=is_entered, passages=(self.HOURS,), say_text="Shall I book the table?")
        text, call = await answer(hint, "Is there a parking lot?")
        assert text == "The parking lot behind the house is free for visitors. Shall I book the table?"
        assert call is None

    async def test_say_nothing_to_a_wish_that_led_to_the_step(self) -> None:
        hint = node(YES, NO, entered=True, passages=(self.HOURS,), say_text="For how many visitors?")
        assert await answer(hint, "Could you book the free lot for visitors?") == ("For how many visitors?", None)

    async def test_come_before_a_fact_of_the_persona_that_fits_less(self) -> None:
        persona = "You are Max of Blue Door. A room costs ninety dollars."
        hint = node(YES, NO, persona=persona, passages=(self.HOURS,), say_text="Shall I book the table?")
        text, _ = await answer(hint, "What does the parking lot behind the house cost?")
        assert text.startswith("The parking lot behind the house is free")


class TestSituations:
    PERSONA = "You are Jo of Hill Clinic. If the patient has new or severe pain, tell them to call a doctor."

    async def test_are_told_what_the_author_wants_said(self) -> None:
        text, _ = await answer(node(YES, NO, persona=self.PERSONA), "I have severe pain in my knee")
        assert text == "Please call a doctor. What can I do for you?"

    @pytest.mark.parametrize("said", ["My knee is as good as new", "Could I do the new one over video?"])
    async def test_are_not_heard_of_a_word_that_goes_with_anything(self, said: str) -> None:
        text, _ = await answer(node(YES, NO, persona=self.PERSONA), said)
        assert "doctor" not in text


class TestRefusals:
    @pytest.mark.parametrize(
        "said", ["I can't pay this week", "I cannot pay it this week", "Not this week, I'm afraid"]
    )
    async def test_a_day_that_does_not_suit_is_not_taken(self, said: str) -> None:
        day = EdgeHint("day", "names a day", "The caller names a day for the payment.", ("on Friday", "tomorrow"))
        hint = node(day, SUPPORT, say_text="On which day can you pay?")
        _, call = await answer(hint, said)
        assert call is None or call.name != "day"

    async def test_a_refused_weekday_is_written_as_one(self) -> None:
        day = EdgeHint("day", "names a day", "The caller names a day.", ("on Friday", "tomorrow"))
        text, _ = await answer(node(day, SUPPORT, say_text="Which day suits you?"), "I can't do next tuesday")
        assert text == "All right, not next Tuesday. Which day suits you?"


class TestQuestionsAboutAnAnswer:
    DAYS = EdgeHint("days", "days", "The applicant prefers days.", ("days", "the day shift", "in the mornings"))
    NIGHTS = EdgeHint("nights", "nights", "The applicant prefers nights.", ("nights", "when everybody is asleep"))

    @pytest.mark.parametrize("said", ["Does the night one pay any more?", "Is the night shift paid better?"])
    async def test_are_not_that_answer(self, said: str) -> None:
        _, call = await answer(node(self.DAYS, self.NIGHTS, say_text="Do you prefer days or nights?"), said)
        assert call is None

    async def test_are_told_from_an_answer_with_the_word_of_a_question(self) -> None:
        hint = node(self.DAYS, self.NIGHTS, say_text="Do you prefer days or nights?")
        _, call = await answer(hint, "When everybody is asleep")
        assert call is not None
        assert call.name == "nights"
