"""Pacing, marks and what was heard, on virtual time."""

import asyncio
import itertools
from collections.abc import Coroutine
from typing import Any, cast

from offhook.voice.output.playback import LEAD_FRAMES, Playback
from tests.fakes.clock import VirtualTimeLoop, run_virtual
from tests.fakes.voice import KeptLeg

SECOND = b"\x10" * 8000


def on_a_line(talk: Any) -> KeptLeg:
    leg = KeptLeg()

    async def run() -> None:
        playback = Playback(leg, None, asyncio.get_running_loop().time())
        leg.on_mark = playback.mark_returned
        await talk(playback)

    work: Coroutine[Any, Any, None] = run()
    run_virtual(work)
    return leg


def test_frames_leave_every_20_ms_after_the_lead() -> None:
    async def talk(playback: Playback) -> None:
        sentence = playback.begin_sentence("a second")
        playback.push_audio(sentence, SECOND)
        playback.complete_sentence(sentence)
        await playback.wait_played()

    leg = on_a_line(talk)
    assert len(leg.frames) == 50
    assert all(len(frame) == 160 for _, frame in leg.frames)
    times = [at for at, _ in leg.frames]
    gaps = [round(b - a, 3) for a, b in zip(times[LEAD_FRAMES:], times[LEAD_FRAMES + 1 :], strict=False)]
    assert set(gaps) == {0.02}


def test_a_call_that_joins_between_two_beats_gets_one_frame_a_beat() -> None:
    async def talk(playback: Playback) -> None:
        loop = asyncio.get_running_loop()
        other = Playback(KeptLeg(), None, loop.time())
        other.push_audio(other.begin_sentence("somebody else's answer"), SECOND * 3)
        await asyncio.sleep(0.507)  # the beat goes on at its own phase
        playback.push_audio(playback.begin_sentence("a second"), SECOND)
        await asyncio.sleep(1.2)

    times = [at for at, _ in on_a_line(talk).frames]
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert max(gaps) <= 0.0201
    assert [round(gap, 3) for gap in gaps[LEAD_FRAMES:]] == [0.02] * (50 - LEAD_FRAMES - 1)


def test_a_loop_that_is_a_little_late_sends_one_frame_a_beat_all_the_same() -> None:
    late_by = [0.0, 0.001, 0.0, 0.003, 0.0005, 0.0, 0.004]

    async def talk(playback: Playback) -> None:
        loop = cast(VirtualTimeLoop, asyncio.get_running_loop())
        began = loop.time()
        other = Playback(KeptLeg(), None, began)
        other.push_audio(other.begin_sentence("somebody else's answer"), SECOND * 3)
        for beat in range(1, 90):
            loop.call_at(began + beat * 0.02 - 1e-6, loop.be_busy, late_by[beat % len(late_by)])
        # half a millisecond after a beat: each later beat is now before and now after the edge of a frame of ours
        await asyncio.sleep(0.5055)
        playback.push_audio(playback.begin_sentence("a second"), SECOND)
        await asyncio.sleep(1.2)

    times = [at for at, _ in on_a_line(talk).frames]
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert len(times) == 50
    assert max(gaps) <= 0.02 + max(late_by) + 1e-5
    assert min(gaps[LEAD_FRAMES:]) >= 0.02 - max(late_by) - 1e-5


def test_after_a_blocked_loop_what_was_missed_is_made_up_for_at_once() -> None:
    async def talk(playback: Playback) -> None:
        loop = cast(VirtualTimeLoop, asyncio.get_running_loop())
        playback.push_audio(playback.begin_sentence("a second"), SECOND)
        loop.call_later(0.2, loop.be_busy, 0.13)
        await asyncio.sleep(1.2)

    times = [at for at, _ in on_a_line(talk).frames]
    assert len(times) == 50
    began = times[0]
    behind = [at - began - index * 0.02 for index, at in enumerate(times)]
    # the far end, which plays the first frame as it comes, waits for none of those after the hole
    assert behind[-1] <= -0.02 * (LEAD_FRAMES - 1) + 1e-6


def test_waiting_until_it_was_played_takes_as_long_as_the_audio() -> None:
    async def talk(playback: Playback) -> None:
        began = asyncio.get_running_loop().time()
        for text in ("one", "two"):
            sentence = playback.begin_sentence(text)
            playback.push_audio(sentence, SECOND)
            playback.complete_sentence(sentence)
        await playback.wait_played()
        assert 1.99 <= asyncio.get_running_loop().time() - began <= 2.1

    on_a_line(talk)


def test_clear_drops_what_waits_and_a_late_push_is_ignored() -> None:
    async def talk(playback: Playback) -> None:
        sentence = playback.begin_sentence("two seconds")
        playback.push_audio(sentence, SECOND * 2)
        await asyncio.sleep(0.5)
        dropped = playback.drop_unheard()
        assert 1400 <= dropped <= 1520
        playback.push_audio(sentence, SECOND)
        await asyncio.sleep(1)
        assert not playback.is_audible

    leg = on_a_line(talk)
    assert len(leg.frames) <= 28
    assert len(leg.clears) == 1


def test_what_was_heard_is_cut_at_a_word() -> None:
    async def talk(playback: Playback) -> None:
        loop = asyncio.get_running_loop()
        text = "one two three four five six seven eight nine ten"
        sentence = playback.begin_sentence(text)
        playback.push_audio(sentence, SECOND * 2)
        playback.complete_sentence(sentence)
        await asyncio.sleep(1)
        heard = sentence.heard_text(loop.time(), playback.bytes_per_s)
        assert text.startswith(heard)
        assert heard.split()[-1] in text.split()
        assert 4 <= len(heard.split()) <= 6
        await playback.wait_played()
        assert sentence.heard_text(loop.time(), playback.bytes_per_s) == text

    on_a_line(talk)


def test_a_slow_synthesis_goes_on_without_skipping() -> None:
    async def talk(playback: Playback) -> None:
        sentence = playback.begin_sentence("slow")
        for _ in range(5):
            playback.push_audio(sentence, SECOND[:1600])
            await asyncio.sleep(0.5)
        playback.complete_sentence(sentence)
        await playback.wait_played()

    leg = on_a_line(talk)
    assert len(leg.frames) == 50


def test_a_last_piece_of_a_frame_is_filled_with_silence() -> None:
    async def talk(playback: Playback) -> None:
        sentence = playback.begin_sentence("short")
        playback.push_audio(sentence, b"\x10" * 200)
        playback.complete_sentence(sentence)
        await playback.wait_played()

    leg = on_a_line(talk)
    assert [len(frame) for _, frame in leg.frames] == [160, 160]
    assert leg.frames[1][1].endswith(b"\xff" * 120)


def test_who_began_late_is_audible_to_the_end() -> None:
    """The loop was busy before the first beat: the far end gets every frame later, and can interrupt each of them."""

    async def talk(playback: Playback) -> None:
        loop = cast(VirtualTimeLoop, asyncio.get_running_loop())
        sentence = playback.begin_sentence("a second")
        playback.push_audio(sentence, SECOND)
        playback.complete_sentence(sentence)
        loop.be_busy(0.3)
        for _ in range(9):
            await asyncio.sleep(0.1)
            assert playback.is_audible
        await playback.wait_played()
        assert not playback.is_audible

    assert len(on_a_line(talk).frames) == 50
