"""A caller in noise: what is listened to is cleaned, what is recorded is not, and a call never depends on it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from offhook.kit.audio import MULAW_8K, PCM16_16K, Codec, Samples
from offhook.kit.audio_cleaner import AudioCleaner, CleaningConfig, RateDoubler, RateHalver, is_cleaning_available
from offhook.voice import events
from offhook.voice.call_state import CallState, ResumedCall
from offhook.voice.config import CallConfig
from offhook.voice.input import caller_cleaning
from offhook.voice.input.beep_detector import BeepDetector
from offhook.voice.input.caller_cleaning import CallerCleaning, CleaningThread
from offhook.voice.recording_switch import RecordingSwitch
from tests.fakes.clock import run_virtual
from tests.fakes.scripted import says, takes
from tests.fakes.voice import KeptLeg, KeptRecorder
from tests.voice.phone import Call, simple_agent
from tests.voice.recorded_phone import RecordedPhoneCall, replayed
from tests.voice.work_at_once import AtOnce

CLEAN: dict[str, Any] = {"caller_audio": {"noise_suppression": "high"}}
HIGH = CleaningConfig(3)
# with the windows of the test's detector above 1000, and a caller at 8000
NOISE = 900
needs_library = pytest.mark.skipif(not is_cleaning_available(), reason="there is no library for this platform")


class Stuck(AtOnce):
    """A thread that works only when it is let."""

    def __init__(self) -> None:
        self.jobs: list[Callable[[], Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.jobs.append(lambda: fn(*args, **kwargs))
        return Future()

    def work(self) -> None:
        jobs, self.jobs = self.jobs, []
        for job in jobs:
            job()


class Mirror:
    """A library that turns every frame around, and fails at one of them."""

    fails_at: int | None = None

    def __init__(self, codec: Codec, config: CleaningConfig) -> None:
        self._count = 0

    def clean_frame(self, payload: bytes) -> bytes:
        self._count += 1
        if self._count == self.fails_at:
            raise RuntimeError("an error of the library")
        return payload[::-1]


class Missing:
    def __init__(self, codec: Codec, config: CleaningConfig) -> None:
        raise ImportError("no wheel for this platform")


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CleaningThread, "make_executor", AtOnce)


@pytest.fixture(params=[MULAW_8K, PCM16_16K], ids=["mulaw_8k", "pcm_16k"])
def codec(request: pytest.FixtureRequest) -> Codec:
    return request.param  # type: ignore[no-any-return]


@dataclass
class NoisyCall(RecordedPhoneCall):
    """A caller at a loud place."""

    noise: float = NOISE
    sent: list[bytes] = field(default_factory=list)
    _random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def _audio(self, now: float) -> bytes:
        line = self.leg.codec
        noise = self._random.normal(0, self.noise, line.sample_rate // 50)
        heard = line.decode(super()._audio(now)).astype(np.float64) + noise
        self.sent.append(line.encode(np.clip(heard, -32768, 32767).astype(np.int16)))
        return self.sent[-1]


def in_noise(settings: dict[str, Any], codec: Codec = MULAW_8K, **more: Any) -> NoisyCall:
    call = NoisyCall(
        simple_agent(), [says("We open at nine."), takes("done")], settings, leg=KeptLeg(codec=codec), **more
    )
    call.says("When do you open", at=4).says("thanks bye", at=9).hangs_up(at=16)
    call.run()
    return call


@needs_library
class TestACallerInNoise:
    def test_is_answered(self, codec: Codec) -> None:
        call = in_noise(CLEAN, codec)
        assert "We open at nine." in call.agent_said
        assert ("caller", "When do you open") in call.transcript
        assert len(call.sink.at(events.CALLER_STARTED)) <= 4
        assert not call.sink.of(events.CALLER_AUDIO_UNCLEANED)

    def test_is_what_is_heard_and_not_the_noise(self) -> None:
        with_it, without = (in_noise(settings).sink.at(events.CALLER_STARTED) for settings in (CLEAN, {}))
        assert with_it == pytest.approx([4.06, 9.04], abs=0.1)
        assert without[0] < 0.2

    def test_has_the_line_as_it_was_in_the_recording(self, codec: Codec) -> None:
        recorder = KeptRecorder()
        call = in_noise(CLEAN, codec, recording=RecordingSwitch(recorder))
        assert recorder.callers
        assert b"".join(recorder.callers) in b"".join(call.sent)

    def test_has_the_same_call_again_from_its_journal(self, codec: Codec) -> None:
        call = in_noise(CLEAN, codec, recording=RecordingSwitch(KeptRecorder()))
        again = call.play_again()
        assert (again.deviations, again.is_complete) == (0, True)
        assert replayed(again) == call.stored()

    def test_has_it_with_an_agent_that_does_not_clean_any_longer(self) -> None:
        call = in_noise(CLEAN)
        assert replayed(call.play_again(configurations={})) == call.stored()

    def test_is_cleaned_where_the_call_goes_on_after_the_line_broke(self, monkeypatch: pytest.MonkeyPatch) -> None:
        states: list[CallState] = []

        async def take(state: CallState) -> bool:
            states.append(state)
            return True

        def lose(call: Call) -> None:
            call.session.handover.ask = take
            call.session.end_call("media_lost")

        first = NoisyCall(simple_agent(), [says("Sure.")], CLEAN).does(lose, at=3)
        first.run()
        made: list[Codec] = []

        class Noted(Mirror):
            def __init__(self, codec: Codec, config: CleaningConfig) -> None:
                super().__init__(codec, config)
                made.append(codec)

        monkeypatch.setattr(caller_cleaning, "AudioCleaner", Noted)
        Call(simple_agent(), [says("Sure.")], CLEAN, resumed=ResumedCall(states[0], age_s=1.0)).hangs_up(at=4).run()
        assert made == [MULAW_8K]


def test_off_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> Executor:
        raise AssertionError("a thread for a call that cleans nothing")

    monkeypatch.setattr(CleaningThread, "make_executor", never)
    unset: tuple[dict[str, Any], ...] = (
        {},
        {"caller_audio": {}},
        {"caller_audio": {"noise_suppression": "off", "auto_gain": False}},
    )
    for settings in unset:
        assert CallConfig.from_configurations(settings).cleaning is None
        call = Call(simple_agent(), [says("Sure.")], settings).says("A table", at=4).hangs_up(at=8)
        call.run()
        assert "Sure." in call.agent_said


def test_settings() -> None:
    def cleaning(**settings: Any) -> CleaningConfig | None:
        return CallConfig.from_configurations({"caller_audio": settings}).cleaning

    assert cleaning(noise_suppression="very_high") == CleaningConfig(4)
    assert cleaning(noise_suppression="low", auto_gain=True) == CleaningConfig(1, -3)
    assert cleaning(auto_gain=True, level_db=-18) == CleaningConfig(0, -18)
    assert cleaning(auto_gain=True, level_db=-90) == CleaningConfig(0, -31)
    assert cleaning(noise_suppression="loud", level_db=-9) is None


class TestALibraryThatFails:
    def test_in_the_middle_of_a_call_lets_it_go_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(caller_cleaning, "AudioCleaner", Mirror)
        monkeypatch.setattr(Mirror, "fails_at", 300)
        recorder = KeptRecorder()
        call = RecordedPhoneCall(
            simple_agent(), [says("We open at nine."), takes("done")], CLEAN, recording=RecordingSwitch(recorder)
        )
        call.says("When do you open", at=3).says("thanks bye", at=8).run()

        assert [text for who, text in call.transcript if who == "caller"] == ["When do you open", "thanks bye"]
        assert call.sink.of(events.CALLER_AUDIO_UNCLEANED) == [{"reason": "failed"}]
        assert call.sink.at(events.CALLER_AUDIO_UNCLEANED) == pytest.approx([5.98], abs=0.05)
        again = call.play_again()
        assert (again.deviations, replayed(again)) == (0, call.stored())

    def test_that_is_not_there_is_reported_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(caller_cleaning, "AudioCleaner", Missing)
        call = Call(simple_agent(), [says("Sure.")], CLEAN).says("A table", at=4).hangs_up(at=8)
        call.run()
        assert "Sure." in call.agent_said
        assert call.sink.of(events.CALLER_AUDIO_UNCLEANED) == [{"reason": "missing"}]


class TestAThreadThatIsBehind:
    """Frames are numbers here."""

    def setup_method(self) -> None:
        self.heard: list[bytes] = []
        self.reasons: list[str] = []

    def cleaning(self) -> CallerCleaning:
        return CallerCleaning(MULAW_8K, HIGH, deliver=self.heard.append, on_uncleaned=self.reasons.append)

    @staticmethod
    def frames(first: int, last: int) -> list[bytes]:
        return [b"%159d." % number for number in range(first, last)]

    def test_lets_frames_pass_in_their_order_until_it_is_back(self, monkeypatch: pytest.MonkeyPatch) -> None:
        thread = Stuck()
        monkeypatch.setattr(CleaningThread, "make_executor", lambda: thread)
        monkeypatch.setattr(caller_cleaning, "AudioCleaner", Mirror)

        async def scenario() -> None:
            cleaning = self.cleaning()
            for frame in self.frames(0, 10):
                cleaning.push_frame(frame)
            assert self.heard == []
            for frame in self.frames(10, 15):
                cleaning.push_frame(frame)
            assert (self.heard, self.reasons) == (self.frames(0, 15), ["behind"])
            while thread.jobs:
                thread.work()
                await asyncio.sleep(0.01)
            cleaning.push_frame(self.frames(15, 16)[0])
            thread.work()
            await asyncio.sleep(0.01)
            assert self.heard == [*self.frames(0, 15), self.frames(15, 16)[0][::-1]]
            # a second time it is not reported
            for frame in self.frames(16, 30):
                cleaning.push_frame(frame)
            assert self.heard[16:] == self.frames(16, 30)
            assert self.reasons == ["behind"]

        run_virtual(scenario())

    def test_hears_nothing_of_a_call_that_is_over(self, monkeypatch: pytest.MonkeyPatch) -> None:
        thread = Stuck()
        monkeypatch.setattr(CleaningThread, "make_executor", lambda: thread)
        monkeypatch.setattr(caller_cleaning, "AudioCleaner", Mirror)

        async def scenario() -> None:
            cleaning = self.cleaning()
            for frame in self.frames(0, 3):
                cleaning.push_frame(frame)
            thread.work()
            cleaning.close()
            cleaning.close()
            await asyncio.sleep(0.01)
            thread.work()
            await asyncio.sleep(0.01)
            assert (self.heard, cleaning._cleaner, list(cleaning._waiting)) == ([], None, [])

        run_virtual(scenario())

    @needs_library
    async def test_a_real_one_keeps_the_order_and_the_length_of_many_calls(
        self, monkeypatch: pytest.MonkeyPatch, codec: Codec
    ) -> None:
        monkeypatch.undo()
        heard: dict[int, list[bytes]] = {call: [] for call in range(4)}
        lines = [
            CallerCleaning(codec, HIGH, deliver=frames.append, on_uncleaned=self.reasons.append)
            for frames in heard.values()
        ]
        alone, expected = AudioCleaner(codec, HIGH), []
        random = np.random.default_rng(3)
        for at in range(100):
            frame = codec.encode(random.normal(0, 30 * at, codec.sample_rate // 50).astype(np.int16))
            expected.append(alone.clean_frame(frame))
            for line in lines:
                line.push_frame(frame)
            async with asyncio.timeout(10):
                while lines[0]._waiting or lines[3]._waiting:
                    await asyncio.sleep(0.001)
        assert all(frames == expected for frames in heard.values())
        for line in lines:
            line.close()


@needs_library
class TestTheSound:
    @staticmethod
    def clean(sound: Samples, codec: Codec, config: CleaningConfig) -> Samples:
        cleaner, size = AudioCleaner(codec, config), codec.sample_rate // 50
        frames = [codec.encode(sound[at : at + size]) for at in range(0, sound.size, size)]
        cleaned = [cleaner.clean_frame(frame) for frame in frames]
        assert [len(frame) for frame in cleaned] == [len(frame) for frame in frames]
        return codec.decode(b"".join(cleaned))

    def test_steady_noise_becomes_soft(self, codec: Codec) -> None:
        noise = np.random.default_rng(1).normal(0, 500, 4 * codec.sample_rate).astype(np.int16)
        cleaned = self.clean(noise, codec, HIGH)
        assert cleaned[-codec.sample_rate :].std() < noise.std() / 5

    def test_a_quiet_voice_becomes_louder(self, codec: Codec) -> None:
        at = np.arange(4 * codec.sample_rate) / codec.sample_rate
        quiet = (300 * np.sin(2 * np.pi * 300 * at) * (np.sin(2 * np.pi * 3 * at) > 0)).astype(np.int16)
        cleaned = self.clean(quiet, codec, CleaningConfig(0, -3))
        assert cleaned[-codec.sample_rate :].std() > quiet.std() * 2

    def test_the_beep_of_a_machine_is_still_found(self) -> None:
        beeps: list[bool] = []
        detector = BeepDetector(lambda: beeps.append(True))
        at = np.arange(4 * 8000) / 8000
        sound = np.random.default_rng(1).normal(0, 30, at.size)
        sound += 6000 * np.sin(2 * np.pi * 1000 * at) * ((at > 2) & (at < 2.6))
        cleaned = self.clean(sound.astype(np.int16), MULAW_8K, CleaningConfig(4))
        for start in range(0, cleaned.size, 160):
            detector.push(cleaned[start : start + 160])
        assert beeps

    def test_pieces_of_any_length(self, codec: Codec) -> None:
        random = np.random.default_rng(5)
        payload = codec.encode(random.normal(0, 900, codec.sample_rate).astype(np.int16))
        cleaner, whole, cleaned, at = AudioCleaner(codec, HIGH), AudioCleaner(codec, HIGH), b"", 0
        while at < len(payload):
            size = 2 * int(random.integers(1, 500))
            cleaned += cleaner.clean_frame(payload[at : at + size])
            at += size
        assert cleaned == whole.clean_frame(payload)


@pytest.mark.parametrize("hz", [300, 1000, 2000, 3400])
def test_eight_kilohertz_survive_the_way_to_sixteen_and_back(hz: int) -> None:
    tone = (8000 * np.sin(2 * np.pi * hz * np.arange(8000) / 8000)).astype(np.int16)
    double, halve = RateDoubler(), RateHalver()
    back = np.concatenate([halve.halve_rate(double.double_rate(tone[at : at + 160])) for at in range(0, 8000, 160)])
    assert np.abs(back[519:4019].astype(int) - tone[500:4000]).max() < 200
