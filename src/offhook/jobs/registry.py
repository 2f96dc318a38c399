"""Which handler runs which job; domains register theirs in ``tasks.py`` through ``root.jobs``."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

JobHandler = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """A job that the worker starts by itself every ``every_s`` seconds, once across all workers."""

    name: str
    every_s: float


class JobRegistry:
    """Job names are ``"noun.verb"``. Handlers are idempotent: a job may run twice after a crash."""

    def __init__(self) -> None:
        self.handlers: dict[str, JobHandler] = {}
        self.schedules: list[ScheduledJob] = []

    def add(self, name: str, handler: JobHandler, *, every_s: float | None = None) -> None:
        if name in self.handlers:
            raise ValueError(f"job {name!r} is registered twice")
        self.handlers[name] = handler
        if every_s is not None:
            self.schedules.append(ScheduledJob(name, every_s))
