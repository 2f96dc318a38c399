"""Job handlers by name; domains register theirs through ``root.jobs``."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from offhook.jobs.shares import OrganizationShares
from offhook.kit.json_values import JsonObject

# Each handler declares the fields of its own payload, a JSON object.
JobHandler = Callable[[Any], Awaitable[object]]
# Each lane of a worker has places of its own. ``platform``: what keeps calls and campaigns going, and the schedules.
# ``requests``: waits for servers that organizations choose. ``retention``: deletes what is old. ``work``: documents and
# everything else.
Lane = Literal["platform", "requests", "retention", "work"]


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """A job that starts every ``every_s`` seconds, once across all workers."""

    name: str
    every_s: float


class JobRegistry:
    """Job names are ``"noun.verb"``. Handlers are idempotent: a job may run twice after a crash."""

    def __init__(self) -> None:
        self.handlers: dict[str, JobHandler] = {}
        self.schedules: list[ScheduledJob] = []
        self.lanes: dict[str, Lane] = {}
        self.shares: dict[str, OrganizationShares] = {}

    def add(
        self,
        name: str,
        handler: JobHandler,
        *,
        every_s: float | None = None,
        lane: Lane | None = None,
        shares: OrganizationShares | None = None,
    ) -> None:
        """Registers the handler; ``every_s`` also schedules the job. With ``shares``, jobs whose payload has an
        ``organization_id`` run within that organization's share."""
        if name in self.handlers:
            raise ValueError(f"job {name!r} is registered twice")
        self.handlers[name] = handler
        self.lanes[name] = lane or ("work" if every_s is None else "platform")
        if shares is not None:
            self.shares[name] = shares
        if every_s is not None:
            self.schedules.append(ScheduledJob(name, every_s))


def read_number(payload: JsonObject, name: str) -> int:
    """Returns a whole number from a job's payload. Raises ValueError if it is anything else."""
    value = payload.get(name)
    if not isinstance(value, int):
        raise ValueError(f"the payload of the job has no number {name!r}")
    return value
