"""Answers for a play in the calling thread, from an event loop in another one."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from offhook.scenarios.answers.play_answers import PlayAnswers
from offhook.scenarios.answers.questions import GivenAnswer, Question

T = TypeVar("T")


class AnswerLoop:
    """A loop for vendors and databases beside plays, whose own loops have virtual time."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def run_work(self, work: Coroutine[Any, Any, T]) -> T:
        """Waits for work in the loop; the calling thread is another one."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    @classmethod
    @contextmanager
    def open_loop(cls) -> Iterator["AnswerLoop"]:
        """Runs a loop in a thread of its own until the block ends."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="answers", daemon=True)
        thread.start()
        try:
            yield cls(loop)
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


class LoopedAnswers:
    """Implements AnswerProvider."""

    def __init__(self, answers: PlayAnswers, loop: AnswerLoop) -> None:
        self._answers = answers
        self._loop = loop

    def answer_question(self, question: Question) -> GivenAnswer:
        return self._loop.run_work(self._answers.give_answer(question))
