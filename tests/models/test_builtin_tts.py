"""The offline voice against the real espeak-ng program: it streams, shares, survives and never outlives us."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from offhook.kit.processes.child_process import is_running
from offhook.models.ports import ModelError
from offhook.models.providers.builtin.tts import (
    MAX_PIECE_CHARS,
    BuiltinTts,
    is_voice,
    synthesize_speech,
)
from offhook.models.speakable_text import speakable_text, split_pieces
from offhook.models.speech_programs.synthesizer_process import SAMPLE_RATE, SynthesizerProcess


@pytest.fixture
async def program() -> AsyncIterator[SynthesizerProcess]:
    program = SynthesizerProcess()
    yield program
    await program.close()


async def spoken(tts: BuiltinTts, text: str) -> bytes:
    return b"".join([chunk async for chunk in tts.speak(text)])


def seconds(pcm: bytes) -> float:
    return len(pcm) / 2 / SAMPLE_RATE


async def test_speech_is_loud_and_as_long_as_its_words(program: SynthesizerProcess) -> None:
    tts = BuiltinTts(program)
    short, long = await spoken(tts, "Yes."), await spoken(tts, "Thank you for calling, how can I help you today?")
    assert 0.3 < seconds(short) < 1.0
    assert 2.0 < seconds(long) < 4.5
    assert np.abs(np.frombuffer(long, "<i2")).max() > 5000


async def test_chunks_arrive_while_the_rest_is_still_to_be_made(program: SynthesizerProcess) -> None:
    chunks = BuiltinTts(program).speak("word " * 50)
    first = await anext(chunks)
    assert 0 < seconds(first) < 0.2
    assert len(first) % 2 == 0
    await chunks.aclose()


async def test_forty_calls_share_one_program(program: SynthesizerProcess) -> None:
    tts = BuiltinTts(program)
    await program.start()
    pid = program.pid
    texts = [f"This is sentence number {n}." for n in range(40)]
    began = time.perf_counter()
    audio = await asyncio.gather(*(spoken(tts, text) for text in texts))
    assert time.perf_counter() - began < 5
    assert all(seconds(pcm) > 1 for pcm in audio)
    assert program.pid == pid


async def test_a_closed_iterator_stops_the_synthesis_and_the_next_text_is_clean(program: SynthesizerProcess) -> None:
    tts = BuiltinTts(program)
    for _ in range(5):
        chunks = tts.speak("a long text that nobody wants to hear to its end, " * 5)
        await anext(chunks)
        await chunks.aclose()
    assert seconds(await spoken(tts, "Yes.")) < 1.0
    assert program.restarts == 0


async def test_a_killed_program_is_replaced_in_mid_sentence(program: SynthesizerProcess) -> None:
    tts = BuiltinTts(program)
    text = "This is a long sentence that a kill signal cuts in the middle, and nobody can hear it."
    whole = await spoken(tts, text)
    heard = 0
    is_killed = False
    async for chunk in tts.speak(text):
        heard += len(chunk)
        if not is_killed:
            assert program.pid is not None
            os.kill(program.pid, signal.SIGKILL)
            is_killed = True
    assert abs(heard - len(whole)) < 100
    # the whole answer may have been in the pipe already; the next sentence certainly needs a new program
    assert seconds(await spoken(tts, "Yes.")) > 0.3
    assert program.restarts == 1


@pytest.mark.slow
async def test_a_stuck_program_is_replaced(program: SynthesizerProcess) -> None:
    tts = BuiltinTts(program)
    await program.start()
    assert program.pid is not None
    os.kill(program.pid, signal.SIGSTOP)
    began = time.perf_counter()
    assert seconds(await spoken(tts, "Yes.")) > 0.3
    assert time.perf_counter() - began < 3
    assert program.restarts == 1


async def test_a_program_that_always_dies_is_a_retryable_error() -> None:
    program = SynthesizerProcess((sys.executable, "-c", "pass"))
    with pytest.raises(ModelError) as caught:
        await spoken(BuiltinTts(program), "Hello.")
    assert caught.value.retryable
    await program.close()


async def test_a_missing_program_is_not_retryable() -> None:
    program = SynthesizerProcess(("/nonexistent/program",))
    with pytest.raises(ModelError) as caught:
        await spoken(BuiltinTts(program), "Hello.")
    assert caught.value.code == "tts_unavailable"
    assert not caught.value.retryable


async def test_an_unknown_voice_still_speaks(program: SynthesizerProcess) -> None:
    assert seconds(await spoken(BuiltinTts(program, voice="xx-nobody"), "Hello.")) > 0.3


async def test_speed_changes_the_length(program: SynthesizerProcess) -> None:
    text = "The quick brown fox jumps over the lazy dog."
    fast = await spoken(BuiltinTts(program, speed=1.6), text)
    slow = await spoken(BuiltinTts(program, speed=0.7), text)
    assert seconds(fast) < seconds(slow) / 1.5


async def test_phonemes_of_words(program: SynthesizerProcess) -> None:
    found = await program.word_phonemes(["pizza", "judge"], voice="en-us")
    assert "ts" in found["pizza"]
    assert found["judge"].count("dʒ") == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("**Hello**, _world_!", "Hello, world!"),
        ("Sure 😀 thing\n\n- yes", "Sure thing - yes"),
        ("\x00\x07bell", "bell"),
        ("...", ""),
        ("", ""),
        ("<speak>hi</speak>", "speak hi /speak"),
        ("It costs $5 & 50%", "It costs $5 & 50%"),
        ("café naïve", "café naïve"),
    ],
)
def test_only_words_are_spoken(text: str, said: str) -> None:
    assert speakable_text(text) == said


async def test_nothing_to_say_is_no_audio(program: SynthesizerProcess) -> None:
    assert await spoken(BuiltinTts(program), "*** 😀") == b""
    assert program.pid is None


@pytest.mark.parametrize("text", ["word " * 500, "x" * 1000, "One. Two! " * 200, "short"])
def test_long_texts_are_cut_without_losing_words(text: str) -> None:
    cut = list(split_pieces(text.strip(), MAX_PIECE_CHARS))
    assert all(0 < len(piece) <= MAX_PIECE_CHARS for piece in cut)
    assert "".join(cut).replace(" ", "") == text.replace(" ", "")


def test_names_of_voices() -> None:
    assert is_voice("en-us")
    assert is_voice("en-gb+f3")
    assert not is_voice("../etc/passwd")
    assert not is_voice("")


def test_blocking_synthesis_at_telephone_rate() -> None:
    samples = synthesize_speech("Hello there.", sample_rate=8000)
    assert samples.dtype == np.int16
    assert 0.4 < samples.size / 8000 < 1.5


@pytest.mark.slow
def test_the_program_dies_with_a_killed_parent(tmp_path: Path) -> None:
    script = (
        "import asyncio, os, signal\n"
        "from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess\n"
        "async def main():\n"
        "    program = SynthesizerProcess()\n"
        "    await program.start()\n"
        "    print(program.pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, timeout=60, check=False)
    pid = int(ran.stdout)
    deadline = time.monotonic() + 5
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(pid)
