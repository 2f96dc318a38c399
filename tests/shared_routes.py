"""Applications of one test process share what the framework makes of their routes: it takes a fifth of a second each time."""

from typing import Any
from weakref import ref

from fastapi import APIRouter, FastAPI

# Routers of modules come again with each application, those that were made for one do not: only what was seen before is
# kept, so that no application stays alive but the second. By id, as routers have no hash.
_known: dict[int, "ref[APIRouter]"] = {}
_kept: dict[int, Any] = {}


def share_routes(app: FastAPI) -> FastAPI:
    """Before its first request. What belongs to one application (its root, its middleware) comes with the request."""
    for included in app.router.routes:
        candidates = getattr(included, "effective_candidates", None)
        if candidates is not None:
            # The framework's own memory of this router, filled with what an earlier application found.
            included._effective_candidates = [_shared(one) for one in candidates()]  # type: ignore[attr-defined]
    return app


def _shared(branch: Any) -> Any:
    router = getattr(branch, "original_router", None)
    if router is None:
        return branch
    known = _known.get(id(router))
    if known is not None and known() is router:
        # A kept branch holds its router, so that its id stays its own.
        return _kept.setdefault(id(router), branch)
    _known[id(router)] = ref(router)
    return branch
