"""What stands of a caller's sentence, what an author's prompts tell, which offered time is picked, and mended slips."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from offhook.models.providers.builtin.english.offered_options import offered_hours, pick_hour
from offhook.models.providers.builtin.english.persona import read_prompts
from offhook.models.providers.builtin.english.polarity import polarity_of
from offhook.models.providers.builtin.english.spelling import mend_spelling
from offhook.models.providers.builtin.english.spoken_values import all_digits, day_phrase
from offhook.models.providers.builtin.english.utterance import MAX_HEARD_CHARS, parse_utterance
from offhook.models.providers.builtin.meaning import SentenceMeaning
from offhook.models.providers.builtin.turns.courtesy_turn import NO_NUMBER
from offhook.models.sentence_encoder import SentenceVectors
from tests.fakes.clock import run_virtual


class TestParseUtterance:
    @pytest.mark.parametrize(
        ("heard", "day"),
        [
            ("Tuesday. No, wait, Thursday.", "Thursday"),
            ("Actually, could we do Thursday instead?", "Thursday"),
            ("Not Monday, Wednesday.", "Wednesday"),
            ("Sorry, I meant Friday.", "Friday"),
            ("It was supposed to be Wednesday, not Friday.", "Wednesday"),
            ("I know I said Monday, but it will have to be Tuesday.", "Tuesday"),
        ],
    )
    def test_a_correction_overwrites(self, heard: str, day: str) -> None:
        assert day_phrase(parse_utterance(heard).standing) == day

    @pytest.mark.parametrize("heard", ["Anything but Friday.", "Friday does not work.", "I can't do Friday."])
    def test_what_is_refused_does_not_stand(self, heard: str) -> None:
        said = parse_utterance(heard)
        assert any("friday" in value for value in said.refused)
        assert day_phrase(said.standing) is None

    @pytest.mark.parametrize(
        ("heard", "standing"),
        [
            ("The food. Well, actually no, the staff more than the food.", "the staff"),
            ("The food. Sorry, I mean the room, the food was all right.", "the room"),
            ("Cancel it, oh no wait, don't cancel, move it to Monday.", "move it to monday"),
            ("I was going to move it, but you know what, cancel it.", "you know what, cancel it"),
            ("No, sorry, I thought you asked about complaints. I would.", "i would"),
        ],
    )
    def test_what_was_taken_back_does_not_stand(self, heard: str, standing: str) -> None:
        assert parse_utterance(heard).standing == standing

    @pytest.mark.parametrize(
        ("heard", "waits"),
        [
            ("Hold on, there's somebody at the door.", True),
            ("Sorry, the mailman is at the door.", True),
            ("There was a young man at the door who carried my bags up.", False),
            ("It just turned up at the door.", False),
        ],
    )
    def test_who_is_at_the_door_now_is_waited_for(self, heard: str, waits: bool) -> None:
        assert parse_utterance(heard).asks_to_wait is waits

    @pytest.mark.parametrize(
        "heard",
        [
            "May I have a check-up on Tuesday?",
            "I'd like a check-up on Tuesday?",
            "Hey, can y'all fit me in tomorrow?",
            "Don't you call here no more, hear?",
        ],
    )
    def test_a_wish_in_the_tone_of_a_question_asks_nothing(self, heard: str) -> None:
        assert not parse_utterance(heard).is_question

    def test_a_word_of_many_letters_is_read_in_one_way(self) -> None:
        assert not NO_NUMBER.match(f"i threw {'a' * 800} !")
        assert NO_NUMBER.match("i do not know the number i threw out the paper")

    def test_an_apology_corrects_nothing(self) -> None:
        said = parse_utterance("Yes, sorry about that. Monday at ten.")
        assert (said.is_correction, said.polarity) == (False, "yes")

    @pytest.mark.parametrize(
        ("heard", "day"),
        [
            ("Could I come in Wednesday? I'm with you already.", "Wednesday"),
            ("Wednesday? I'm working then.", None),
        ],
    )
    def test_a_day_that_is_asked_for_is_refused_by_a_reason_alone(self, heard: str, day: str | None) -> None:
        assert day_phrase(parse_utterance(heard).standing) == day

    def test_what_one_would_like_to_know_is_asked(self) -> None:
        assert parse_utterance("I'd like to know what a check-up costs?").is_question

    @pytest.mark.parametrize(
        "heard",
        ["Nobody ever said sorry.", "Somebody walked in while I was getting changed.", "The later one, please."],
    )
    def test_words_of_corrections_in_other_senses_correct_nothing(self, heard: str) -> None:
        said = parse_utterance(heard)
        assert (said.is_correction, said.wants_change) == (False, False)

    def test_a_question_beside_a_yes_modifies_nothing(self) -> None:
        assert not parse_utterance("Sounds good, but hold on, is there parking?").is_modified
        assert parse_utterance("Yes, but could it be four?").is_modified

    def test_a_yes_with_a_but_is_modified(self) -> None:
        assert parse_utterance("Yes, but can you make it eleven?").is_modified
        assert not parse_utterance("Yes, but make it quick.").is_modified

    @pytest.mark.parametrize(
        ("heard", "is_question"),
        [
            ("How much does it cost?", True),
            ("Tuesday, and what does it cost?", True),
            ("Can I book an appointment?", False),
            ("Lovely weather, isn't it?", False),
        ],
    )
    def test_a_wish_in_the_form_of_a_question_is_none(self, heard: str, is_question: bool) -> None:
        assert parse_utterance(heard).is_question is is_question

    @pytest.mark.parametrize(
        ("heard", "polarity"),
        [
            ("No problem.", "yes"),
            ("I don't mind.", "yes"),
            ("Of course you may.", "yes"),
            ("Yes, no question.", "yes"),
            ("Not in a million years.", "no"),
            ("I'm afraid not.", "no"),
            ("I'm not sure yet.", None),
            ("The room.", None),
        ],
    )
    def test_idioms_of_yes_and_no(self, heard: str, polarity: str | None) -> None:
        assert polarity_of(heard) == polarity

    @pytest.mark.parametrize(
        ("heard", "standing"),
        [
            ("Don't be phoning me about this.", "do not call me about this"),
            ("Thursday's fine eh, and mornings are best.", "thursday is fine, and mornings are best"),
            (
                "I've been run off my feet with the shop and my wedding and all, so yes, count me in.",
                "yes, count me in",
            ),
            ("It says one two seven, that's all I can see.", "it says one two seven, it is what i can see"),
            ("It is not Meera who is coming, it is her sister.", "it is her sister"),
            ("Return please. Ah pardon, wrong word, I mean where is my order.", "where is my order"),
            ("I wouldn't miss it for the world.", "i will be there"),
        ],
    )
    def test_turns_of_phrase_are_read_in_plain_words(self, heard: str, standing: str) -> None:
        assert parse_utterance(heard).standing == standing

    def test_a_day_said_before_what_it_comes_to_stands(self) -> None:
        said = parse_utterance("I've been run off my feet and my family is here too, but Tuesday would do, so yes.")
        assert day_phrase(said.standing) == "Tuesday"

    @pytest.mark.parametrize(("heard", "is_goodbye"), [("That's all I need.", True), ("That's all I can see.", False)])
    def test_all_that_somebody_has_is_no_goodbye(self, heard: str, is_goodbye: bool) -> None:
        assert parse_utterance(heard).is_goodbye is is_goodbye


def test_prompts_are_read_for_facts_situations_and_the_name() -> None:
    persona = (
        "You are Maya, the receptionist of Riverside Dental. Speak briefly. The address is 12 River Street. "
        "If the caller is bleeding, tell them to call the emergency number."
    )
    read = read_prompts(persona, "Ask for a day. Explain that a check-up is free.")
    assert read.facts == ("The address is 12 River Street.", "A check-up is free.")
    assert [rule.sentence for rule in read.rules] == ["Please call the emergency number."]
    assert (read.name, read.house) == ("Maya", "Riverside Dental")
    assert read.introduce("are you a real person?") == "I am Maya, an automated assistant at Riverside Dental."


def test_offered_hours_are_those_of_a_working_day() -> None:
    assert offered_hours("I have nine, eleven, two and four o'clock.") == (9, 11, 14, 16)
    assert offered_hours("On a scale from one to five, how was it?") == ()


@pytest.mark.parametrize(
    ("said", "hour"),
    [
        ("the later one", 16),
        ("the first one please", 9),
        ("the earliest in the afternoon", 14),
        ("either is fine", 9),
        ("it is my first visit", None),
    ],
)
def test_an_offered_hour_is_picked_by_its_place(said: str, hour: int | None) -> None:
    assert pick_hour((9, 11, 14, 16), said) == hour


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("can u book me in tmrw pls", "can you book me in tomorrow please"),
        ("an apointment on wendesday", "an appointment on wednesday"),
        ("the ladder was late", "the ladder was late"),
    ],
)
def test_slips_and_shorthand_are_mended(typed: str, meant: str) -> None:
    assert mend_spelling(typed) == meant


def test_a_number_is_the_run_of_digits_that_is_long_enough() -> None:
    assert all_digits("two things, three weeks ago, order 4712") == "4712"
    assert all_digits("it's 4711, I repeat, 4711") == "4711"
    assert all_digits("four two, double seven") == "4277"


class TestSentenceMeaning:
    async def test_sentences_are_embedded_once(self) -> None:
        asked: list[str] = []

        async def embed(sentences: Sequence[str]) -> SentenceVectors:
            asked.extend(sentences)
            return np.ones((len(sentences), 1), dtype=np.float32)

        meaning = SentenceMeaning(embed)
        await meaning.learn(["a", "b", ""])
        await meaning.learn(["b", "c"])
        assert asked == ["a", "b", "c"]
        assert meaning.similarity("a", "c") == 1.0

    async def test_a_failing_model_fails_no_turn_and_is_not_asked_at_once_again(self) -> None:
        asked = []

        async def embed(sentences: Sequence[str]) -> SentenceVectors:
            asked.append(sentences)
            raise LookupError("not installed")

        meaning = SentenceMeaning(embed)
        await meaning.learn(["a"])
        await meaning.learn(["a"])
        assert meaning.similarity("a", "a") == 0.0
        assert len(asked) == 1

    async def test_sentences_that_were_compared_unknown_can_be_learned(self) -> None:
        async def embed(sentences: Sequence[str]) -> SentenceVectors:
            return np.ones((len(sentences), 1), dtype=np.float32)

        meaning = SentenceMeaning(embed)
        await meaning.learn(["a"])
        assert meaning.nearest("a", ["b", "c", ""]) == 0.0
        assert meaning.pop_unknown() == ["b", "c"]
        assert meaning.pop_unknown() == []

    async def test_a_slow_model_is_used_by_a_later_turn(self) -> None:
        loaded = asyncio.Event()

        async def embed(sentences: Sequence[str]) -> SentenceVectors:
            await loaded.wait()
            return np.ones((len(sentences), 1), dtype=np.float32)

        meaning = SentenceMeaning(embed, max_wait_s=0.01)
        await meaning.learn(["a"])
        assert meaning.similarity("a", "a") == 0.0
        loaded.set()
        await meaning.learn(["a"])
        assert meaning.similarity("a", "a") == 1.0

    def test_a_turn_waits_once_for_a_slow_model_however_often_it_compares(self) -> None:
        async def embed(sentences: Sequence[str]) -> SentenceVectors:
            await asyncio.sleep(60)
            return np.ones((len(sentences), 1), dtype=np.float32)

        async def turn() -> float:
            loop = asyncio.get_running_loop()
            meaning, began = SentenceMeaning(embed, max_wait_s=0.25), loop.time()
            deadline = meaning.deadline()
            for sentence in "abc":
                await meaning.learn([sentence], deadline)
            return loop.time() - began

        assert run_virtual(turn()) == pytest.approx(0.25)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "endless",
    [
        "monday and " * 300,
        "nine o'clock and " * 300,
        "1 am, " * 300,
        "not " * 900,
        "a" * 9000,
        " " * 9000,
        "is it " * 500,
    ],
)
def test_endless_words_are_read_at_once(endless: str) -> None:
    assert len(parse_utterance(f"{endless}x").heard) <= MAX_HEARD_CHARS
