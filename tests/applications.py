"""Lends the applications of this test process: what one is made of but its root takes 60 ms to build and index."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import APIRouter, FastAPI

from offhook.api import create_app
from offhook.root import Root

# By identity, as routers have no hash; an idle application keeps its routers, and so their ids.
_Kind = tuple[str, tuple[int, ...]]
_idle: dict[_Kind, list[FastAPI]] = defaultdict(list)


@contextmanager
def lend_application(root: Root, *more: APIRouter) -> Iterator[FastAPI]:
    """An application over ``root``, with the routes of ``more`` besides; nobody else has it until the block ends.

    Each request finds its root in the application's state, so that one application serves the roots of many tests, one
    after the other. What of the settings goes into an application when it is built tells one kind from another.
    """
    kind = root.settings.trusted_proxies, tuple(map(id, more))
    if _idle[kind]:
        app = _idle[kind].pop()
        app.state.root = root
    else:
        for router in more:
            root.api.include_router(router)
        app = create_app(root)
    try:
        yield app
    finally:
        # It may hold no test's root until it is lent again.
        del app.state.root
        _idle[kind].append(app)
