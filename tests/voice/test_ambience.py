"""A room behind the agent: always there, quiet, under the voice, and in nobody's ears but the caller's."""

from typing import ClassVar

import numpy as np
import pytest

from offhook.kit.audio import MULAW_8K, PCM16_16K, Codec, Samples
from offhook.voice import events
from offhook.voice.output.ambience import COMFORT_NOISE, SOUNDS, get_background_samples
from offhook.voice.recording_switch import RecordingSwitch
from tests.fakes.scripted import says
from tests.fakes.voice import KeptLeg, KeptRecorder, KeptSounds
from tests.voice.phone import Call, simple_agent

ROOM = {"ambient_noise_configuration": {"enabled": True, "volume": 0.3}}


@pytest.fixture(autouse=True, scope="module")
def _sounds() -> None:
    """Made before the calls: a thread takes its time while a call's time jumps."""
    for sound in (*SOUNDS, COMFORT_NOISE):
        for rate in (8000, 16_000):
            get_background_samples(sound, rate)


def level_db(samples: Samples) -> float:
    return float(20 * np.log10(max(1.0, np.sqrt(np.mean(samples.astype(np.float64) ** 2))) / 32768))


def sent(call: Call, start: float, seconds: float) -> Samples:
    begin = call.started_at + start
    return call.leg.codec.decode(b"".join(frame for at, frame in call.leg.frames if begin <= at < begin + seconds))


@pytest.fixture(params=[MULAW_8K, PCM16_16K], ids=["mulaw_8k", "pcm_16k"])
def codec(request: pytest.FixtureRequest) -> Codec:
    return request.param  # type: ignore[no-any-return]


def in_a_room(codec: Codec = MULAW_8K, **more: object) -> Call:
    settings = {"ambient_noise_configuration": {**ROOM["ambient_noise_configuration"], **more}}
    return Call(simple_agent(), [says("Sure.")], settings, leg=KeptLeg(codec=codec))


def test_the_room_is_heard_while_nobody_speaks(codec: Codec) -> None:
    call = in_a_room(codec).says("A table", at=5).hangs_up(at=8).run()

    silence = sent(call, 3, 1.5)
    assert silence.size == pytest.approx(1.5 * codec.sample_rate, rel=0.02)
    assert -42 < level_db(silence) < -31


def test_the_far_end_never_runs_dry_and_never_piles_up(codec: Codec) -> None:
    call = in_a_room(codec).says("A table", at=4).hangs_up(at=9).run()

    times = np.array([at for at, _ in call.leg.frames])
    late = times - times[0] - np.arange(times.size) * 0.02
    assert late.max() <= 0.0201
    assert late.min() >= -0.1, "what is in hand there delays the voice"


def test_the_voice_stands_on_top(codec: Codec) -> None:
    with_room = in_a_room(codec).hangs_up(at=3).run()
    bare = Call(simple_agent(), leg=KeptLeg(codec=codec)).hangs_up(at=3).run()

    voice, alone = sent(with_room, 0.5, 0.5), sent(bare, 0.5, 0.5)
    assert level_db(voice) == pytest.approx(level_db(alone), abs=0.5)
    assert not np.array_equal(voice, alone)


def test_loudness_follows_the_volume() -> None:
    loud = in_a_room(volume=1.0).hangs_up(at=5).run()
    quiet = in_a_room(volume=0.1).hangs_up(at=5).run()

    assert level_db(sent(loud, 3, 1.5)) - level_db(sent(quiet, 3, 1.5)) == pytest.approx(20, abs=3)


def test_the_recording_keeps_the_bare_voice() -> None:
    with_room, bare = KeptRecorder(), KeptRecorder()
    for recorder, settings in ((with_room, ROOM), (bare, {})):
        call = Call(simple_agent(), configurations=settings, recording=RecordingSwitch(recorder))
        call.hangs_up(at=4).run()

    assert b"".join(with_room.agents) == b"".join(bare.agents)


def test_it_changes_nothing_of_the_conversation() -> None:
    def talk(call: Call) -> list[tuple[str, str]]:
        return call.says("A table", at=4).says("Wait", at=6.5).hangs_up(at=10).run().transcript

    assert talk(in_a_room()) == talk(Call(simple_agent(), [says("Sure.")]))


def test_an_interruption_leaves_the_room_and_nothing_else() -> None:
    call = in_a_room()
    call.definition = simple_agent(greeting="A very long greeting that nobody would ever want to hear to its end.")
    call.says("Stop", at=2).hangs_up(at=6).run()

    (at,) = call.sink.at(events.BARGED_IN)
    assert -42 < level_db(sent(call, at + 0.1, 0.3)) < -31


def test_a_recording_may_be_the_room() -> None:
    sounds = KeptSounds(machines="(machines)")
    call = in_a_room(recording_id="machines")
    call.sounds = sounds
    call.hangs_up(at=5).run()

    spectrum = np.abs(np.fft.rfft(sent(call, 3, 1.5)))
    assert spectrum.argmax() / 1.5 == pytest.approx(600, abs=2)
    assert sounds.asked == [("machines", 8000)]


def test_a_recording_that_is_gone_leaves_a_made_room() -> None:
    call = in_a_room(recording_id="gone", sound="cafe").hangs_up(at=5).run()

    assert call.sink.of(events.RECORDING_MISSING) == [{"recording_id": "gone", "instead": "cafe"}]
    assert level_db(sent(call, 3, 1.5)) > -42


@pytest.mark.parametrize("rate", [8000, 16000])
@pytest.mark.parametrize("sound", sorted(SOUNDS))
def test_every_sound_repeats_without_a_seam_and_never_shouts(sound: str, rate: int) -> None:
    made = get_background_samples(sound, rate)

    assert made.size == 12 * rate
    seam = abs(int(made[0]) - int(made[-1]))
    assert seam <= np.abs(np.diff(made.astype(np.int32))).max()
    assert np.abs(made.astype(np.int32)).max() / np.sqrt(np.mean(made.astype(np.float64) ** 2)) < 12
    assert get_background_samples(sound, rate) is made


def test_off_means_silence_between_the_words() -> None:
    call = Call(simple_agent()).hangs_up(at=6).run()
    assert sent(call, 3, 1.5).size == 0


class TestComfortNoise:
    NOISE: ClassVar[dict[str, object]] = {"comfort_noise": {"enabled": True, "level_db": -60}}

    @staticmethod
    def call(settings: dict[str, object], codec: Codec, recorder: KeptRecorder | None = None) -> Call:
        recording = RecordingSwitch(recorder) if recorder is not None else None
        call = Call(simple_agent(), [says("Sure.")], settings, leg=KeptLeg(codec=codec), recording=recording)
        return call.says("A table", at=5).hangs_up(at=8).run()

    def test_fills_the_silence_of_the_agent(self, codec: Codec) -> None:
        call = self.call(self.NOISE, codec)
        silence = sent(call, 3, 1.5)
        assert silence.size == pytest.approx(1.5 * codec.sample_rate, rel=0.02)
        assert level_db(silence) == pytest.approx(-60, abs=3)

    def test_leaves_the_voice_and_its_times_as_they_are(self) -> None:
        noisy, bare = KeptRecorder(), KeptRecorder()
        with_noise, without = self.call(self.NOISE, MULAW_8K, noisy), self.call({}, MULAW_8K, bare)

        assert noisy.agents == bare.agents
        assert with_noise.sink.of(events.TURN_TIMED) == without.sink.of(events.TURN_TIMED)
        voice = b"".join(frame for _, frame in with_noise.leg.frames)
        assert b"".join(bare.agents[:20]) in voice

    def test_does_not_delay_the_silence_after_an_interruption(self) -> None:
        def interrupted(settings: dict[str, object]) -> list[float]:
            call = Call(simple_agent(greeting="Hello there, how can I help you today? " * 4), configurations=settings)
            call.says("Stop, I want a table please", at=2).hangs_up(at=6).run()
            return call.sink.at(events.BARGED_IN)

        assert interrupted(self.NOISE) == interrupted({}) != []

    def test_gives_way_to_a_background(self, codec: Codec) -> None:
        call = self.call({**self.NOISE, **ROOM}, codec)
        assert level_db(sent(call, 3, 1.5)) > -45
