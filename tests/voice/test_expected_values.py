"""A caller who says what the step asks for takes breaths, and is answered when it is whole."""

from typing import Any

import pytest

from offhook.voice import events
from offhook.voice.config import CallConfig
from offhook.voice.dialog.asked_values import asked_kinds
from offhook.voice.dialog.expected_values import ValueProgress, is_closed_question, measure_progress
from offhook.voice.dialog.prompts import expectation_for
from offhook.voice.input.turn_rules import AskedValue, CallerTurnState, choose_turn_rules
from offhook.workflows.graph import parse_graph
from tests.fakes.scripted import Hearing, ScriptedStt, says
from tests.voice.phone import Call, simple_agent

PHONE = "Could you tell me your phone number?"
UNKNOWN, PART, WHOLE = ValueProgress.UNKNOWN, ValueProgress.PART, ValueProgress.WHOLE


def call_asked(question: str, *, reports_end: bool = True, has_endpointing: bool = True, **kept: Any) -> Call:
    hearing = Hearing()
    ears = ScriptedStt(hearing, has_endpointing=has_endpointing, reports_end=reports_end, endpoint_s=0.4)
    language, prompt = kept.pop("language", "en-US"), kept.pop("prompt", "Help the caller.")
    return Call(
        simple_agent(greeting=question, prompt=prompt),
        [says("Thank you.")],
        kept,
        hearing=hearing,
        stts=[ears],
        language=language,
    )


def turns_of(call: Call) -> list[str]:
    return [said["text"] for said in call.sink.of(events.CALLER_SAID)]


def decided_after(call: Call) -> float:
    timing = call.sink.of(events.TURN_TIMED)[0]
    return float(timing["turn_decided"] - timing["caller_stopped"])


class TestATelephoneNumber:
    @pytest.mark.parametrize("way", ["eager", "balanced", "patient"])
    @pytest.mark.parametrize("has_endpointing", [True, False])
    def test_a_breath_of_1_2_seconds_does_not_end_it(self, way: str, has_endpointing: bool) -> None:
        call = call_asked(PHONE, has_endpointing=has_endpointing, turn_taking=way)
        call.says("four one five five five five", at=4).says("oh one two three", at=4 + 6 * 0.3 + 1.2)
        call.hangs_up(at=14).run()

        assert turns_of(call) == ["four one five five five five oh one two three"]

    def test_the_first_two_digits_are_not_an_answer(self) -> None:
        call = call_asked(PHONE).says("four one", at=4).says("five five five five oh one two three", at=5.8)
        call.hangs_up(at=14).run()

        assert turns_of(call) == ["four one five five five five oh one two three"]

    def test_ten_digits_are_answered_at_the_vendors_end(self) -> None:
        call = call_asked(PHONE).says("four one five five five five oh one two three", at=4).hangs_up(at=14).run()

        assert decided_after(call) < 0.6

    def test_ten_digits_are_answered_although_the_vendor_sees_no_end(self) -> None:
        call = call_asked(PHONE, reports_end=False)
        call.says("four one five five five five oh one two three", at=4).hangs_up(at=14).run()

        assert decided_after(call) < 0.85

    def test_a_part_is_answered_in_the_end(self) -> None:
        call = call_asked(PHONE).says("four one five", at=4).hangs_up(at=14).run()

        assert 1.7 <= decided_after(call) <= 1.95

    def test_the_step_says_so_where_the_last_sentence_does_not(self) -> None:
        call = call_asked(PHONE + " Take your time.").says("four one", at=7).says("five five", at=8.8)
        call.hangs_up(at=16).run()

        assert turns_of(call) == ["four one five five"]

    def test_another_question_of_the_same_step_is_answered_at_once(self) -> None:
        prompt = "Ask for how many people, then ask for their phone number."
        call = call_asked("For how many people?", prompt=prompt).says("four", at=4).hangs_up(at=14).run()

        assert decided_after(call) < 0.6

    def test_a_set_silence_is_kept(self) -> None:
        call = call_asked(PHONE, turn_stop_strategy="silence", turn_stop_silence_secs=0.9)
        call.says("four one five", at=4).hangs_up(at=14).run()

        assert 0.85 <= decided_after(call) <= 1.05


class TestOtherValues:
    def test_an_address_is_waited_for(self) -> None:
        call = call_asked("What is your address?").says("it's twelve", at=4).says("Main Street", at=5.8)
        call.hangs_up(at=14).run()

        assert turns_of(call) == ["it's twelve Main Street"]
        assert decided_after(call) < 0.6

    def test_a_spelling_is_waited_for(self) -> None:
        call = call_asked("Could you spell your last name?").says("B", at=4).says("R A D", at=5.6)
        call.hangs_up(at=14).run()

        assert turns_of(call) == ["B R A D"]

    def test_a_card_is_longer_than_a_telephone_number(self) -> None:
        call = call_asked("What is your card number?")
        call.says("four two four two four two four two four two four two", at=4).says("four two four two", at=8.8)
        call.hangs_up(at=16).run()

        assert len(turns_of(call)) == 1

    def test_five_digits_are_a_zip_code(self) -> None:
        call = call_asked("What is your zip code?").says("nine four one one zero", at=4).hangs_up(at=14).run()

        assert decided_after(call) < 0.6


class TestYesAndNo:
    def test_yes_is_answered_at_the_vendors_end(self) -> None:
        call = call_asked("Is that correct?").says("yes", at=4).hangs_up(at=14).run()

        assert decided_after(call) < 0.6

    def test_yes_is_answered_although_the_vendor_sees_no_end(self) -> None:
        call = call_asked("Is that correct?", reports_end=False).says("yes", at=4).hangs_up(at=14).run()

        assert decided_after(call) < 0.85

    def test_sure_is_no_telephone_number(self) -> None:
        call = call_asked(PHONE, reports_end=False).says("sure", at=4).says("four one", at=5.3).hangs_up(at=14).run()

        assert turns_of(call) == ["sure four one"]

    @pytest.mark.parametrize(
        ("question", "is_closed"),
        [
            ("Is Tuesday at nine right?", True),
            ("Would you like a table?", True),
            ("What can I do for you?", False),
            ("Could you tell me your name?", False),
            ("May I have your phone number?", False),
            ("Thank you.", False),
        ],
    )
    def test_what_yes_answers(self, question: str, is_closed: bool) -> None:
        assert is_closed_question(question) is is_closed


@pytest.mark.parametrize(
    ("kind", "text", "progress"),
    [
        ("phone", "it's area code 415", PART),
        ("phone", "415-555-", PART),
        ("phone", "415-555-0123", WHOLE),
        ("phone", "(415) 555 0123,", WHOLE),
        ("phone", "four one five double five five oh one two three", WHOLE),
        ("phone", "four one five triple five oh one two", PART),
        ("phone", "eight hundred five five five twelve thirty four", WHOLE),
        ("phone", "four one five and then", PART),
        ("phone", "one four one five five five five oh one two", PART),
        ("phone", "+1 415 555 0123", WHOLE),
        ("phone", "+44 20 7946 095", PART),
        ("phone", "0412 345 678", UNKNOWN),
        ("phone", "I do not have one here", UNKNOWN),
        ("phone", "why do you need that", UNKNOWN),
        ("card", "4242 4242 4242", PART),
        ("card", "4242 4242 4242 4242", WHOLE),
        ("card", "3782 822463 10005", WHOLE),
        ("birth_date", "March", PART),
        ("birth_date", "the fourth of", UNKNOWN),
        ("birth_date", "March fourth", PART),
        ("birth_date", "March 4th, 1985", WHOLE),
        ("birth_date", "the fourth of March nineteen eighty five", WHOLE),
        ("birth_date", "March fourth nineteen eighty", UNKNOWN),
        ("birth_date", "03/04", PART),
        ("birth_date", "03/04/1985", WHOLE),
        ("birth_date", "03/04/85", UNKNOWN),
        ("address", "it's 12", PART),
        ("address", "12 main", PART),
        ("address", "twelve Main Street", WHOLE),
        ("address", "12 Main Street,", PART),
        ("address", "12 Main Street apartment", PART),
        ("address", "12 Main Street apartment 4", WHOLE),
        ("address", "Main Street 12", WHOLE),
        ("address", "I have two questions", UNKNOWN),
        ("spelling", "my name is Smith", UNKNOWN),
        ("spelling", "S M I", PART),
        ("spelling", "Smith, S-M-I-T-H", WHOLE),
        ("spelling", "Lee L double E", WHOLE),
        ("spelling", "B as in boy", PART),
        ("digits_4", "the code is 12", PART),
        ("digits_4", "one two three four", WHOLE),
        ("yes_no", "yes", UNKNOWN),
    ],
)
def test_how_much_was_said(kind: str, text: str, progress: ValueProgress) -> None:
    assert measure_progress(text, [kind]) is progress


def test_what_can_be_two_things_is_judged_as_before() -> None:
    assert measure_progress("nine four one one zero", ["phone", "digits_5"]) is UNKNOWN


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (PHONE, ("phone",)),
        ("Ask for a callback number and the delivery address.", ("phone", "address")),
        ("What's the best number to reach you?", ("phone",)),
        ("customer_phone", ("phone",)),
        ("And what's your number?", ("phone",)),
        ("What is your order number?", ()),
        ("What is your email address?", ()),
        ("You are on a phone call. Address the caller politely.", ()),
        ("date_of_birth", ("birth_date",)),
        ("the last four digits of your card number", ("digits_4",)),
        ("Enter the 6-digit code.", ("digits_6",)),
        ("What is your ZIP code?", ("digits_5",)),
        ("How do you spell that?", ("spelling",)),
    ],
)
def test_what_is_asked_for(text: str, kinds: tuple[str, ...]) -> None:
    assert asked_kinds(text) == kinds


def test_a_step_expects_its_variables_and_what_it_names() -> None:
    variables = [{"name": "contact_phone", "type": "string", "prompt": "how to reach them"}]
    definition = simple_agent(extraction_enabled=True, extraction_variables=variables, expects=["yes_no", "spelling"])
    start = parse_graph(definition).nodes["start"]

    assert expectation_for(start, []).kinds == ("yes_no", "spelling", "phone")


def test_interim_words_of_a_number_wait_too() -> None:
    rules = choose_turn_rules(CallConfig(), has_endpointing=True)
    asked = AskedValue(("phone",), "")

    assert not rules.is_over(CallerTurnState(partial="four one five", silence_s=1.6), asked)
    assert rules.is_over(CallerTurnState(partial="four one five", silence_s=1.85), asked)
