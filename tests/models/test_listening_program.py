"""Our end of the listening program: what happens when the program is missing, dies, hangs or outlives us."""

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from offhook.kit.processes.child_process import is_running
from offhook.models.ports import Expectation, ModelError
from offhook.models.providers.builtin.hearing import recognizer_slot
from offhook.models.providers.builtin.hearing.grammar import compile_grammar
from offhook.models.providers.builtin.hearing.program_wire import FINISH, PRONOUNCE, WORDS, recognizer_command
from offhook.models.providers.builtin.hearing.recognizer_slot import RecognizerSlot
from offhook.models.speech_programs.answers import HEADER, PROGRESS, AnswerWriter
from offhook.models.speech_programs.recognizer_process import RecognizerProcess
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess


@pytest.fixture
async def program() -> AsyncIterator[RecognizerProcess]:
    program = RecognizerProcess(recognizer_command())
    yield program
    await program.close()


async def test_answers_come_in_the_order_of_the_questions(program: RecognizerProcess) -> None:
    await program.start()
    questions = [b'["hello", "zzyzx"]', b'["qqqq"]', b"[]"]
    answers = await asyncio.gather(*(program.request_answer(0, WORDS, question) for question in questions))
    assert answers == [["zzyzx"], ["qqqq"], []]


async def test_a_word_that_was_taught_is_known(program: RecognizerProcess) -> None:
    await program.start()
    await program.request_answer(0, PRONOUNCE, b'{"zzyzx": "Z IH Z IH K S"}')
    assert await program.request_answer(0, WORDS, b'["zzyzx"]') == []


class Speech(SynthesizerProcess):
    async def word_phonemes(self, words: Sequence[str], *, voice: str) -> dict[str, str]:
        return dict.fromkeys(words, "z\u026az\u026aks")


async def test_words_of_all_agents_are_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call can bring 3,000 that no other one has."""
    monkeypatch.setattr(recognizer_slot, "MAX_TAUGHT", 3)
    slot = RecognizerSlot(Speech())
    try:
        any_grammar = compile_grammar(Expectation(("hello",)))
        grammars = [
            replace(any_grammar, name=f"g{n}", words=frozenset({"hello", f"zzyzx{n}", f"qqqq{n}"})) for n in range(3)
        ]
        for grammar in grammars:
            order = await slot.prepare_grammar(grammar)
            assert set(order["words"]) == grammar.words
        # the third found the program with four, and began anew
        told = sorted({word for grammar in grammars for word in grammar.words})
        unknown = await slot.program.request_answer(0, WORDS, json.dumps(told).encode())
        assert unknown == ["qqqq0", "qqqq1", "zzyzx0", "zzyzx1"]
        assert (await slot.prepare_grammar(grammars[0]))["words"] == sorted(grammars[0].words), "taught again"
        assert await slot.program.request_answer(0, WORDS, b'["qqqq0"]') == []
    finally:
        await slot.program.close()


async def test_a_question_that_makes_no_sense_is_an_error_and_the_next_is_answered(program: RecognizerProcess) -> None:
    await program.start()
    with pytest.raises(ModelError) as caught:
        await program.request_answer(7, FINISH)
    assert (caught.value.code, caught.value.retryable) == ("stt_failed", True)
    with pytest.raises(ModelError):
        await program.request_answer(0, WORDS, b"no json")
    assert await program.request_answer(0, WORDS, b'["hello"]') == []


@pytest.mark.slow
async def test_a_killed_program_fails_the_question_and_is_replaced(program: RecognizerProcess) -> None:
    await program.start()
    assert program.pid is not None
    os.kill(program.pid, signal.SIGSTOP)
    question = asyncio.create_task(program.request_answer(0, WORDS, b'["hello"]'))
    await asyncio.sleep(0.05)
    os.kill(program.pid, signal.SIGKILL)
    with pytest.raises(ModelError) as caught:
        await question
    assert (caught.value.code, caught.value.retryable) == ("stt_program_died", True)
    await program.start()
    assert await program.request_answer(0, WORDS, b'["hello"]') == []
    assert program.generation == 2


async def test_a_caller_who_gives_up_waiting_disturbs_nobody(program: RecognizerProcess) -> None:
    await program.start()
    impatient = asyncio.create_task(program.request_answer(0, WORDS, b'["qqqq"]'))
    await asyncio.sleep(0)
    impatient.cancel()
    assert await program.request_answer(0, WORDS, b'["hello", "zzyzx"]') == ["zzyzx"]


@pytest.mark.parametrize("command", [("/nonexistent/program",), (sys.executable, "-c", "pass")])
async def test_a_program_that_cannot_start_is_not_tried_again(command: tuple[str, ...]) -> None:
    program = RecognizerProcess(command)
    with pytest.raises(ModelError) as caught:
        await program.start()
    assert (caught.value.code, caught.value.retryable) == ("stt_unavailable", False)
    await program.close()


# Says hello, takes one request, reports progress twelve times in three seconds and answers.
SLOW_PROGRAM = """
import struct, sys, time
header = struct.Struct("<IBI")
def write(kind, body=b""):
    sys.stdout.buffer.write(header.pack(0, kind, len(body)) + body)
    sys.stdout.buffer.flush()
write(1, b"{}")
sys.stdin.buffer.read(header.unpack(sys.stdin.buffer.read(header.size))[2])
for _ in range(12):
    time.sleep(0.25)
    write(2)
write(1, b"[]")
sys.stdin.buffer.read()
"""


@pytest.mark.real_time
async def test_a_program_that_reports_progress_is_not_stuck() -> None:
    program = RecognizerProcess((sys.executable, "-c", SLOW_PROGRAM), silence_timeout_s=2.0)
    await program.start()
    assert await program.request_answer(0, WORDS, b"[]") == []
    assert program.generation == 1
    await program.close()


@pytest.mark.real_time
def test_long_work_is_reported_until_it_is_done() -> None:
    sink = io.BytesIO()
    answers = AnswerWriter(sink, interval_s=0.01)
    with answers.reporting_progress():
        deadline = time.monotonic() + 10
        while sink.tell() < 3 * HEADER.size and time.monotonic() < deadline:
            time.sleep(0.01)
    answers.write_answer(0, 1, b"{}")
    written = sink.getvalue()
    frames = [HEADER.unpack(written[at : at + HEADER.size])[1] for at in range(0, len(written) - 2, HEADER.size)]
    assert len(frames) > 3
    assert frames == [*[PROGRESS] * (len(frames) - 1), 1]


@pytest.mark.real_time
def test_many_short_requests_without_an_answer_are_reported_too() -> None:
    sink = io.BytesIO()
    answers = AnswerWriter(sink, interval_s=0.02)
    deadline = time.monotonic() + 60
    while not sink.tell() and time.monotonic() < deadline:
        with answers.reporting_progress():
            time.sleep(0.002)
    assert HEADER.unpack(sink.getvalue()[: HEADER.size])[1] == PROGRESS


@pytest.mark.real_time
async def test_a_program_that_says_nothing_is_killed() -> None:
    program = RecognizerProcess(recognizer_command(), silence_timeout_s=0.5)
    await program.start()
    assert program.pid is not None
    os.kill(program.pid, signal.SIGSTOP)
    with pytest.raises(ModelError) as caught:
        await program.request_answer(0, WORDS, b"[]")
    assert caught.value.code == "stt_program_died"
    await program.close()


async def test_nothing_starts_after_the_end() -> None:
    program = RecognizerProcess(recognizer_command())
    await program.close()
    with pytest.raises(ModelError) as caught:
        await program.start()
    assert not caught.value.retryable


@pytest.mark.slow
def test_the_program_dies_with_a_killed_parent() -> None:
    script = (
        "import asyncio, os, signal\n"
        "from offhook.models.providers.builtin.hearing.program_wire import recognizer_command\n"
        "from offhook.models.speech_programs.recognizer_process import RecognizerProcess\n"
        "async def main():\n"
        "    program = RecognizerProcess(recognizer_command())\n"
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
