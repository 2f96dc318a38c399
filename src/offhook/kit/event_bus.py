"""Events for higher layers: a domain publishes a typed event, ``bootstrap`` subscribes the domains above it."""

from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import structlog

E = TypeVar("E")
log = structlog.get_logger(__name__)


class EventBus:
    """In-process and awaited in order: a subscriber's failure is logged and does not stop the next one."""

    def __init__(self) -> None:
        self._handlers: dict[type[Any], list[Callable[[Any], Awaitable[None]]]] = defaultdict(list)

    def subscribe(self, kind: type[E], handler: Callable[[E], Awaitable[None]]) -> None:
        self._handlers[kind].append(handler)

    async def publish(self, event: object) -> None:
        for handler in self._handlers[type(event)]:
            try:
                await handler(event)
            except Exception:  # one of the four places: a subscriber must not stop the next one
                log.exception("event_handler_failed", event_type=type(event).__name__)
