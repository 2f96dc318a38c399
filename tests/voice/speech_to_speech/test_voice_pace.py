"""How fast a voice speaks, and which words its audio has said by then."""

from offhook.voice.speech_to_speech.transcript_pacer import TranscriptPacer
from offhook.voice.speech_to_speech.voice_pace import DEFAULT_CHARS_PER_S, VoicePace

BYTES_PER_S = 8000


class Voice:
    """What calls of one process share."""


def say(pace: VoicePace, text: str, seconds: float) -> TranscriptPacer:
    """Receives a whole answer: first its words, then its sound."""
    pacer = TranscriptPacer(BYTES_PER_S, pace)
    pacer.push_piece(text, bytes(round(seconds * BYTES_PER_S)))
    pacer.release_rest()
    return pacer


class TestTheVoice:
    def test_is_brisk_until_it_is_known(self) -> None:
        assert VoicePace(Voice()).chars_per_s == DEFAULT_CHARS_PER_S

    def test_is_known_from_its_answers(self) -> None:
        pace = VoicePace(Voice())
        say(pace, "x" * 50, 10)

        assert pace.chars_per_s == 5

    def test_that_changes_its_language_is_soon_known_anew(self) -> None:
        pace = VoicePace(Voice())
        say(pace, "x" * 50, 10)
        for _ in range(9):
            say(pace, "x" * 200, 10)

        assert pace.chars_per_s > 17

    def test_is_as_in_the_call_before(self) -> None:
        voice = Voice()
        say(VoicePace(voice), "x" * 50, 10)

        assert VoicePace(voice).chars_per_s == 5
        assert VoicePace(Voice()).chars_per_s == DEFAULT_CHARS_PER_S

    def test_is_not_known_from_a_short_sound_or_from_one_without_words(self) -> None:
        pace = VoicePace(Voice())
        say(pace, "yes", 0.2)
        say(pace, "", 10)

        assert pace.chars_per_s == DEFAULT_CHARS_PER_S


class TestWords:
    def test_of_a_slow_voice_come_later(self) -> None:
        text, sound = "one two three four", bytes(BYTES_PER_S)
        quick, slow = VoicePace(Voice()), VoicePace(Voice())
        say(slow, "x" * 50, 10)

        assert TranscriptPacer(BYTES_PER_S, quick).push_piece(text, sound) == "one two three"
        assert TranscriptPacer(BYTES_PER_S, slow).push_piece(text, sound) == "one"
