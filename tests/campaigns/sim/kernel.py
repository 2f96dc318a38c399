"""Virtual time and processes that can be killed between any two steps: coroutines that are driven by hand."""

import random
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Sequence
from heapq import heappop, heappush
from typing import Any

Work = Coroutine[Any, Any, Any]


class Pause:
    """``await Pause(seconds)``: the only way in which time passes, and the only place where a process can die."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __await__(self) -> Generator["Pause", None, None]:
        yield self


class Wait:
    """``await Wait(key)``: until somebody calls ``Kernel.release(key)``."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __await__(self) -> Generator["Wait", None, None]:
        yield self


class Join:
    """Until every one of these tasks has ended."""

    __slots__ = ("tasks",)

    def __init__(self, tasks: Sequence["Task"]) -> None:
        self.tasks = tasks

    def __await__(self) -> Generator["Join", None, None]:
        yield self


class Task:
    __slots__ = ("coro", "error", "generation", "is_done", "on_done", "parent", "process", "waits_for")

    def __init__(self, coro: Work, process: "Process", on_done: Callable[["Task"], None] | None) -> None:
        self.coro = coro
        self.process = process
        self.on_done = on_done
        self.is_done = False
        self.error: Exception | None = None
        self.parent: Task | None = None
        self.waits_for = 0
        # Rises with each resumption, so that a resumption that was meant for an earlier state does nothing.
        self.generation = 0


class Process:
    """What dies at once: its tasks, its memory. ``on_kill`` tells the world outside."""

    def __init__(self, name: str, *, dials: bool = False) -> None:
        self.name = name
        self.dials = dials
        self.is_alive = True
        self.tasks: set[Task] = set()
        self.on_kill: list[Callable[[], None]] = []


class Kernel:
    """``now`` is monotonic seconds; every choice comes from ``rng``."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.now = 0.0
        self.steps = 0
        self.current: Task | None = None
        # When, in which order, and what: a task to resume, if it is still in this generation, or something to call.
        self._heap: list[tuple[float, int, Task | Callable[[], None], int]] = []
        self._order = 0
        self._waiters: dict[Any, deque[Task]] = {}
        self.is_held: Callable[[Any], bool] = lambda key: False

    def at(self, delay: float, action: Callable[[], None]) -> None:
        self._order += 1
        heappush(self._heap, (self.now + delay, self._order, action, 0))

    def _resume_at(self, at: float, task: Task) -> None:
        self._order += 1
        heappush(self._heap, (at, self._order, task, task.generation))

    def spawn(self, coro: Work, process: Process, on_done: Callable[[Task], None] | None = None) -> Task:
        task = Task(coro, process, on_done)
        process.tasks.add(task)
        self._resume_at(self.now, task)
        return task

    def release(self, key: Any) -> None:
        """Whoever has waited longest is next. Were all of them woken, a queue of n would cost n² to get through."""
        waiting = self._waiters.get(key)
        if waiting is None:
            return
        task = waiting.popleft()
        if not waiting:
            del self._waiters[key]
        generation = task.generation
        self.at(0.0, lambda: self._hand_over(key, task, generation))

    def _hand_over(self, key: Any, task: Task, generation: int) -> None:
        if task.generation == generation and not task.is_done:
            self._resume(task)
        # It died meanwhile, or found that it need not have it.
        if not self.is_held(key):
            self.release(key)

    def kill(self, process: Process) -> None:
        process.is_alive = False
        for task in list(process.tasks):
            task.is_done = True
            task.generation += 1
            task.coro.close()
        process.tasks.clear()
        for tell in process.on_kill:
            tell()

    def run(self, until: float, is_over: Callable[[], bool]) -> bool:
        """Whether it was over before the time was up."""
        heap = self._heap
        while heap and not is_over():
            at, _, what, generation = heappop(heap)
            if at > until:
                return False
            self.now = at
            if not isinstance(what, Task):
                what()
            elif what.generation == generation and not what.is_done:
                self._resume(what)
        return is_over()

    def _resume(self, task: Task) -> None:
        task.generation += 1
        self.steps += 1
        before, self.current = self.current, task
        try:
            signal = task.coro.send(None)
        except StopIteration:
            self._end(task, None)
            return
        except Exception as error:  # noqa: BLE001 - a job's failure is what the simulation is about
            self._end(task, error)
            return
        finally:
            self.current = before
        if isinstance(signal, Pause):
            self._resume_at(self.now + signal.seconds, task)
        elif isinstance(signal, Wait):
            self._waiters.setdefault(signal.key, deque()).append(task)
        elif isinstance(signal, Join):
            waiting = [child for child in signal.tasks if not child.is_done]
            task.waits_for = len(waiting)
            for child in waiting:
                child.parent = task
            if not waiting:
                self._resume_at(self.now, task)
        else:
            raise TypeError(f"{signal!r} cannot be awaited here")

    def _end(self, task: Task, error: Exception | None) -> None:
        task.is_done = True
        task.error = error
        task.process.tasks.discard(task)
        if task.on_done is not None:
            task.on_done(task)
        parent = task.parent
        if parent is not None and not parent.is_done:
            parent.waits_for -= 1
            if parent.waits_for == 0:
                self._resume_at(self.now, parent)
