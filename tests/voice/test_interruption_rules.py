"""What a sound or a text over the agent means, by what is known of it at that moment."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from offhook.voice.dialog.phrases import phrase_languages
from offhook.voice.input.interruption_rules import TIMES, InterruptionRules, InterruptionVerdict, SpeechOverlap
from offhook.voice.input.recent_sound import RecentSound
from offhook.voice.input.sound_evidence import SoundEvidence
from offhook.voice.input.spoken_signals import SpeechSignal, lexicon_for


class TestTheRules:
    RULES = InterruptionRules(TIMES["balanced"], lexicon_for("en"))

    def test_a_cough_has_no_voice(self) -> None:
        cough = RecentSound()
        cough.push(np.random.default_rng(3).normal(0, 3000, 3200).astype(np.int16))
        sound = cough.measure(0.4, -90)

        assert sound.voiced < 0.2
        assert self.RULES.judge(SpeechOverlap(age_s=0.4, sound=sound)) == (InterruptionVerdict.TALK_ON, "no_voice")

    def test_words_from_someone_who_turned_away_are_not_for_the_agent(self) -> None:
        away = SpeechOverlap(text="where are the keys", age_s=0.9, distance_db=9, dullness_db=8)

        assert self.RULES.judge(away) == (InterruptionVerdict.TALK_ON, "turned_away")
        quiet = SpeechOverlap(text="where are the keys", age_s=0.9, distance_db=9, dullness_db=-2)
        assert self.RULES.judge(quiet)[0] is InterruptionVerdict.YIELD
        muffled = SpeechOverlap(text="where are the keys", age_s=0.9, distance_db=3, dullness_db=8)
        assert self.RULES.judge(muffled)[0] is InterruptionVerdict.TALK_ON
        faint = SpeechOverlap(text="where", distance_db=3, dullness_db=-2, is_faint=True)
        assert self.RULES.judge(faint)[0] is InterruptionVerdict.TALK_ON

    def test_speech_that_goes_on_silences_the_agent(self) -> None:
        voice = SoundEvidence(loud_s=0.4, voiced=0.9)

        assert self.RULES.judge(SpeechOverlap(age_s=0.2, sound=voice))[0] is InterruptionVerdict.WAIT
        assert self.RULES.judge(SpeechOverlap(age_s=0.5, sound=voice))[0] is InterruptionVerdict.HOLD

    def test_a_question_makes_any_voice_an_answer(self) -> None:
        voice = SoundEvidence(loud_s=0.2, voiced=0.9)

        asked = SpeechOverlap(age_s=0.2, sound=voice, is_answer_due=True)
        assert self.RULES.judge(asked) == (InterruptionVerdict.HOLD, "answer")

    def test_a_short_pause_shows_whether_the_sound_goes_on(self) -> None:
        fluent = SoundEvidence(loud_s=0.4, voiced=0.9, change_db=3.5)
        drawn_out = SoundEvidence(loud_s=0.4, voiced=0.9, change_db=1.5)

        def judge(**what: Any) -> tuple[InterruptionVerdict, str]:
            return self.RULES.judge(SpeechOverlap(age_s=0.52, **what))

        assert judge(held_s=0.1, quiet_s=0.1, sound=fluent)[0] is InterruptionVerdict.HOLD
        assert judge(held_s=0.19, quiet_s=0.1, sound=fluent) == (InterruptionVerdict.TALK_ON, "short_sound")
        assert judge(held_s=0.19, sound=drawn_out) == (InterruptionVerdict.TALK_ON, "drawn_out")
        assert judge(held_s=0.19, sound=fluent)[0] is InterruptionVerdict.HOLD
        soft, usual = {"distance_db": 2.0, "sound": fluent}, {"distance_db": -0.5, "sound": fluent}
        assert judge(held_s=0.19, **soft) == (InterruptionVerdict.TALK_ON, "soft_sound")
        assert judge(held_s=0.19, **usual)[0] is InterruptionVerdict.HOLD
        assert judge(held_s=0.19, quiet_s=0.05, **usual)[0] is InterruptionVerdict.HOLD

    def test_a_voice_that_is_far_louder_than_before_is_compared_with_nothing(self) -> None:
        voice = SoundEvidence(loud_s=0.2, voiced=0.9, change_db=3.5)

        def judge(distance_db: float) -> InterruptionVerdict:
            return self.RULES.judge(SpeechOverlap(age_s=0.2, sound=voice, distance_db=distance_db))[0]

        assert judge(-2) is InterruptionVerdict.HOLD
        assert judge(-7) is InterruptionVerdict.WAIT

    def test_the_first_word_of_i_see_is_no_interruption_yet(self) -> None:
        assert self.RULES.judge(SpeechOverlap(text="I", age_s=0.3))[0] is InterruptionVerdict.WAIT
        assert self.RULES.judge(SpeechOverlap(text="I see", age_s=0.5))[0] is InterruptionVerdict.TALK_ON
        assert self.RULES.judge(SpeechOverlap(text="I already", age_s=0.6))[0] is InterruptionVerdict.YIELD

    def test_one_short_word_that_is_in_no_lexicon_may_be_a_mistake_of_the_recognizer(self) -> None:
        odd = SpeechOverlap(text="grape", age_s=0.6, quiet_s=0.25)
        assert self.RULES.judge(odd) == (InterruptionVerdict.TALK_ON, "one_short_word")
        assert self.RULES.judge(replace(odd, text="stop"))[0] is InterruptionVerdict.YIELD
        assert self.RULES.judge(replace(odd, text="grape juice"))[0] is InterruptionVerdict.YIELD
        assert self.RULES.is_ignorable("grape", is_answer_due=False, agent_text="") == ""

    def test_a_word_that_says_nothing_alone_is_one_unless_more_is_said(self) -> None:
        voice = SoundEvidence(loud_s=0.3, voiced=0.9, change_db=3.5)
        assert self.RULES.is_ignorable("the", is_answer_due=False, agent_text="") == "fragment"
        assert self.RULES.is_ignorable("the", is_answer_due=True, agent_text="") == ""
        ended = SpeechOverlap(text="my", age_s=0.5, quiet_s=0.2, sound=voice)
        assert self.RULES.judge(ended)[0] is InterruptionVerdict.TALK_ON
        assert self.RULES.judge(replace(ended, quiet_s=0.0)) == (InterruptionVerdict.YIELD, "words")
        # it may become "I see"
        assert self.RULES.judge(replace(ended, text="I", quiet_s=0.0))[0] is InterruptionVerdict.HOLD

    def test_the_first_word_of_an_answer_is_waited_for(self) -> None:
        first = SpeechOverlap(text="not", age_s=0.5, quiet_s=0.05, held_s=0.3, is_answer_due=True)
        assert self.RULES.judge(first)[0] is InterruptionVerdict.HOLD
        assert self.RULES.judge(replace(first, is_answer_due=False))[0] is InterruptionVerdict.TALK_ON

    def test_okay_may_be_the_beginning_of_a_sentence(self) -> None:
        voice = SoundEvidence(loud_s=0.7, voiced=0.9, change_db=3.5)

        assert self.RULES.judge(SpeechOverlap(text="okay", age_s=0.6, sound=voice))[0] is InterruptionVerdict.TALK_ON
        more = SpeechOverlap(text="okay", age_s=0.8, held_s=0.4, sound=voice)
        assert self.RULES.judge(more)[0] is InterruptionVerdict.HOLD

    def test_an_aside_that_has_just_begun_is_not_yet_one(self) -> None:
        assert self.RULES.judge(SpeechOverlap(text="one", age_s=0.3))[0] is not InterruptionVerdict.YIELD
        assert self.RULES.judge(SpeechOverlap(text="one second", age_s=0.5))[0] is InterruptionVerdict.TALK_ON
        assert self.RULES.judge(SpeechOverlap(text="one more question", age_s=0.9))[0] is InterruptionVerdict.YIELD

    def test_a_patient_agent_wants_two_words_and_its_own_words_always_count(self) -> None:
        rules = InterruptionRules(TIMES["patient"], lexicon_for("en"), ("mm-hmm",))

        assert rules.judge(SpeechOverlap(text="Tuesday", age_s=0.6))[0] is InterruptionVerdict.WAIT
        assert rules.judge(SpeechOverlap(text="Tuesday morning", age_s=0.9))[0] is InterruptionVerdict.YIELD
        assert rules.judge(SpeechOverlap(text="Mm-hmm", age_s=0.6))[0] is InterruptionVerdict.YIELD


@pytest.mark.parametrize("language", phrase_languages())
def test_every_answer_of_a_lexicon_is_one(language: str) -> None:
    lexicon = lexicon_for(language)
    assert [answer for answer in lexicon.yes_no if not lexicon.is_plain_answer(answer)] == []


def test_words_with_vowel_signs_are_words() -> None:
    assert lexicon_for("hi-IN").classify("हाँ") is SpeechSignal.BACKCHANNEL
    assert lexicon_for("hi-IN").classify("रुको") is SpeechSignal.COMMAND
    assert lexicon_for("ar").classify("حسناً") is SpeechSignal.BACKCHANNEL
