"""Which handler runs which job; domains register theirs in ``tasks.py`` through ``root.jobs``."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

Handler = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Schedule:
    """A job that the worker starts by itself every ``every_s`` seconds, once across all workers."""

    name: str
    every_s: float


class JobRegistry:
    """Job names are ``"noun.verb"``. Handlers are idempotent: a job may run twice after a crash."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}
        self.schedules: list[Schedule] = []

    def add(self, name: str, handler: Handler, *, every_s: float | None = None) -> None:
        if name in self.handlers:
            raise ValueError(f"job {name!r} is registered twice")
        self.handlers[name] = handler
        if every_s is not None:
            self.schedules.append(Schedule(name, every_s))
