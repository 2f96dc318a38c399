"""Measuring a call's sound piece by piece, and as one whole."""

from dataclasses import astuple

import numpy as np
import pytest

from offhook.kit.audio import Samples
from offhook.voice.input.caller_sound import CallerSound
from offhook.voice.input.recent_sound import RECENT_S, RecentSound
from offhook.voice.input.sound_evidence import FRAME, HOP, RATE, FloatArray, SoundEvidence


def make_voice(phase: FloatArray, harmonics: int) -> FloatArray:
    voice: FloatArray = np.sin(np.outer(np.arange(1, harmonics + 1), phase)).sum(axis=0)
    return voice


def make_call(random: np.random.Generator, seconds: float) -> Samples:
    """Returns utterances of harmonics that glide, hums and breaths, with pauses and noise between them."""
    parts: list[FloatArray] = []
    while sum(part.size for part in parts) < seconds * RATE:
        size = int(random.uniform(0.05, 1.2) * RATE)
        phase = np.cumsum(2 * np.pi * random.uniform(80, 300) * np.linspace(1, random.uniform(0.7, 1.4), size) / RATE)
        kinds = [make_voice(phase, 12), make_voice(phase, 1), random.normal(0, 1, size), np.zeros(size)]
        parts.append(kinds[random.integers(len(kinds))] * 10 ** random.uniform(1.5, 3.9))
    call = np.concatenate(parts)
    return (call + random.normal(0, random.uniform(0, 60), call.size)).clip(-32768, 32767).astype(np.int16)


def measure_whole(heard: Samples, seconds: float, floor_db: float) -> SoundEvidence:
    """Measures the same frames by a fresh ``RecentSound`` that has heard nothing else."""
    last = (heard.size - FRAME) // HOP
    count = (min(int(seconds * RATE), heard.size) - FRAME) // HOP + 1
    fresh = RecentSound()
    fresh.push(heard[max(0, last + 1 - count) * HOP : last * HOP + FRAME])
    return fresh.measure(RECENT_S, floor_db)


@pytest.mark.parametrize("seed", range(20))
def test_pieces_of_any_size_give_what_the_whole_gives(seed: int) -> None:
    random = np.random.default_rng(seed)
    call, sound, at, measured = make_call(random, 12), RecentSound(), 0, 0
    while at < call.size:
        # packets of the network, sometimes a burst, sometimes hardly anything
        size = int(random.choice([160, 160, 160, 80, 1, 333, 2400, 0]))
        sound.push(call[at : at + size])
        at = min(at + size, call.size)
        if random.random() < 0.2:
            # an overlap that grows and is measured again and again, or the end of a turn
            seconds, floor_db = float(random.choice([0.01, 0.15, 0.3, 0.7, 1.6, 2.2])), random.uniform(-90, -35)
            wanted = measure_whole(call[:at], seconds, floor_db)
            assert astuple(sound.measure(seconds, floor_db)) == pytest.approx(astuple(wanted), rel=1e-4, abs=1e-4)
            measured += wanted.loud_s > 0
    assert measured > 20


def test_a_voice_that_glides_has_a_pitch_and_changes_more_than_one_that_is_held() -> None:
    def measure(glide: float) -> SoundEvidence:
        phase = np.cumsum(2 * np.pi * 120 * np.linspace(1, glide, RATE) / RATE)
        sound = RecentSound()
        sound.push((make_voice(phase, 24) * 800).astype(np.int16))
        return sound.measure(1.0, -90)

    held, gliding = measure(1.0), measure(1.6)
    assert held.voiced == gliding.voiced == 1
    assert held.loud_s == pytest.approx(0.976, abs=0.001)
    assert held.hum == 0
    assert gliding.change_db > 2 * held.change_db


def test_silence_and_too_little_sound_are_no_evidence() -> None:
    sound = RecentSound()
    assert sound.measure(1.0, -90) == SoundEvidence()
    assert sound.last_samples(100).size == sound.last_piece.size == 0

    sound.push(np.full(FRAME, 900, np.int16))
    assert sound.measure(1.0, -90) == SoundEvidence()
    sound.push(np.zeros(3 * RATE, np.int16))
    assert sound.measure(1.0, -90) == SoundEvidence()


def test_no_more_than_the_last_seconds_are_kept() -> None:
    sound = RecentSound()
    for piece in range(500):
        sound.push(np.full(160, piece, np.int16))
        sound.push(np.zeros(0, np.int16))

    kept = sound.last_samples(10 * RATE)
    assert RECENT_S * RATE <= kept.size < RECENT_S * RATE + HOP + 160
    assert kept[-1] == 499
    assert list(sound.last_samples(161)) == [498] + [499] * 160


def test_what_does_not_stand_out_from_the_noise_is_far_from_a_caller_who_does() -> None:
    sound = CallerSound(lambda: float(next(seconds)))
    seconds = iter(range(10_000))
    random = np.random.default_rng(5)
    noise = random.normal(0, 200, RATE * 2).astype(np.int16)
    voice = (np.sin(2 * np.pi * 180 * np.arange(RATE) / RATE) * 9000).astype(np.int16)
    for stretch in (noise, voice, noise):
        for at in range(0, stretch.size, 240):
            sound.push(stretch[at : at + 240])
            sound.stands_out(stretch is voice)
        if stretch is voice:
            sound.learn_voice()

    evidence, distance_db, _ = sound.measure_overlap(0.6)
    assert evidence.loud_s == 0
    assert distance_db > 10
