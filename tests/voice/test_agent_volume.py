"""The volume of the agent: voices of any loudness are heard equally loud, at once, and nothing clips."""

from collections.abc import AsyncIterator

import numpy as np
import pytest

from offhook.kit.audio import MULAW_8K, Samples
from offhook.models.ports import ModelRef
from offhook.models.providers.builtin.tts import synthesize_speech
from offhook.voice.output.voice_level import PEAK, SpeechLeveler, VoiceLevel, frame_powers, level_whole
from offhook.voice.ports import RecordedSound
from tests.voice.phone import Call, agent_graph, edge, node, simple_agent

GREETING = "Thank you for calling the practice, how can I help you today?"
LEVELS = (-35.0, -20.0, -3.0)


def speech_level_db(samples: Samples) -> float:
    level = VoiceLevel()
    level.measure(frame_powers(samples, 160))
    assert level.level_db is not None
    return level.level_db


@pytest.fixture(scope="module")
def speech() -> Samples:
    return synthesize_speech(GREETING, sample_rate=8000)


def at_level(speech: Samples, level_db: float) -> Samples:
    """The same speech at this level, with the peaks cut off that no longer fit, as a hot vendor's."""
    loud = speech * 10 ** ((level_db - speech_level_db(speech)) / 20)
    samples: Samples = np.clip(loud, -32768, 32767).astype(np.int16)
    return samples


class LevelVoice:
    """Implements Tts: says the same sentence, at one level, in chunks of 100 ms."""

    sample_rate = 8000
    model_ref = ModelRef("tts", "level", "voice")

    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        for begin in range(0, self._samples.size, 800):
            yield self._samples[begin : begin + 800].tobytes()


class LevelSounds:
    """Implements SoundLibrary with one recording."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    async def find_sound(self, recording_id: str, sample_rate: int) -> RecordedSound | None:
        return RecordedSound(recording_id, GREETING, self._samples)


def heard(call: Call) -> Samples:
    return MULAW_8K.decode(b"".join(frame for _, frame in call.leg.frames))


def greeted_by(voice: LevelVoice, **settings: object) -> Call:
    return Call(simple_agent(greeting=GREETING), ttss=[voice], configurations=settings).hangs_up(at=6).run()


class TestVoices:
    def test_are_heard_equally_loud(self, speech: Samples) -> None:
        levels = []
        for level_db in LEVELS:
            voice = LevelVoice(at_level(speech, level_db))
            greeted_by(voice)  # the first call of a process learns the voice
            call = greeted_by(voice)
            levels.append(speech_level_db(heard(call)))
            assert np.abs(heard(call).astype(int)).max() <= PEAK + 600, "no sample is at its limit"
        assert max(levels) - min(levels) <= 2
        assert levels[0] == pytest.approx(-20, abs=2)

    @pytest.mark.parametrize("level_db", LEVELS)
    def test_are_near_it_in_their_first_sentence(self, speech: Samples, level_db: float) -> None:
        assert speech_level_db(heard(greeted_by(LevelVoice(at_level(speech, level_db))))) == pytest.approx(-20, abs=2)

    def test_begin_no_later(self, speech: Samples) -> None:
        voice = LevelVoice(at_level(speech, -35))
        leveled, bare = greeted_by(voice), greeted_by(voice, agent_volume={"enabled": False})

        assert leveled.leg.frames[0][0] - leveled.started_at == bare.leg.frames[0][0] - bare.started_at
        assert len(leveled.leg.frames) == len(bare.leg.frames)

    def test_keep_the_loudness_of_a_setting(self, speech: Samples) -> None:
        voice = LevelVoice(at_level(speech, -35))
        assert speech_level_db(heard(greeted_by(voice, agent_volume={"level_db": -26}))) == pytest.approx(-26, abs=2)

    def test_are_left_alone_where_it_is_off(self, speech: Samples) -> None:
        quiet = at_level(speech, -35)
        call = greeted_by(LevelVoice(quiet), agent_volume={"enabled": False})
        assert heard(call)[: quiet.size].tobytes() == MULAW_8K.decode(MULAW_8K.encode(quiet)).tobytes()


class TestRecordings:
    @staticmethod
    def played(speech: Samples, **settings: object) -> Samples:
        graph = agent_graph(
            node("start", "startCall", greeting_type="audio", greeting_recording_id="rec", prompt="Help."),
            node("end", "endCall", prompt="Say goodbye."),
            edge("start", "end", "Done"),
        )
        call = Call(graph, sounds=LevelSounds(speech), configurations=settings).hangs_up(at=6).run()
        return heard(call)

    @pytest.mark.parametrize("level_db", LEVELS)
    def test_are_heard_as_loud_as_voices(self, speech: Samples, level_db: float) -> None:
        assert speech_level_db(self.played(at_level(speech, level_db))) == pytest.approx(-20, abs=1)

    def test_can_be_kept_as_they_are(self, speech: Samples) -> None:
        heard_db = speech_level_db(self.played(at_level(speech, -30), agent_volume={"recordings": False}))
        assert heard_db == pytest.approx(-30, abs=0.5)


class TestGain:
    def test_stays_the_same_within_a_sentence_of_a_known_voice(self, speech: Samples) -> None:
        voice = VoiceLevel()
        voice.measure(frame_powers(at_level(speech, -30), 160))
        leveler = SpeechLeveler(voice, -20.0, 8000)
        soft, loud = at_level(speech, -38), at_level(speech, -30)

        gains = [speech_level_db(leveler.push(part)) - speech_level_db(part) for part in (soft, loud, soft)]

        assert gains == pytest.approx([gains[0]] * 3, abs=0.3)

    def test_is_bounded_for_what_is_nearly_silent(self, speech: Samples) -> None:
        assert speech_level_db(level_whole(at_level(speech, -50), -20.0, 8000)) == pytest.approx(-30, abs=1)

    def test_leaves_silence_as_it_is(self) -> None:
        silence = np.zeros(800, np.int16)
        assert SpeechLeveler(VoiceLevel(), -20.0, 8000).push(silence) is silence
