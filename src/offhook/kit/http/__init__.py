"""The HTTP shell around every domain's routes: errors, limits, paths, health, metrics, OpenAPI and the web UI."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from fastapi import FastAPI
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.middleware.body_limit import RequestBodyLimitMiddleware

from offhook.kit.database.database import Database
from offhook.kit.http import errors, health, openapi
from offhook.kit.http.edge import HttpEdge
from offhook.kit.http.health import ReadinessCheck
from offhook.kit.http.json_bodies import JsonBodyGuard
from offhook.kit.http.paths import PathIndex
from offhook.kit.http.proxies import TrustedProxies
from offhook.kit.http.slashes import EitherSlash
from offhook.kit.http.turns.loop_turns import TakeTurns
from offhook.kit.http.turns.request_share import RequestShare
from offhook.kit.http.web_ui import WebUi
from offhook.settings import Settings

__all__ = ["ReadinessCheck", "install_http"]

MAX_BODY_BYTES = 10 * 1024 * 1024
_BUILT_UI = Path(__file__).parents[2] / "_ui"


class HttpRoot(Protocol):
    """The parts of the process that the HTTP shell needs."""

    @property
    def settings(self) -> Settings: ...

    @property
    def db(self) -> Database: ...

    @property
    def is_draining(self) -> bool: ...

    @property
    def process_checks(self) -> Mapping[str, Callable[[], bool]]: ...


def install_http(
    app: FastAPI,
    root: HttpRoot,
    *,
    checks: Mapping[str, ReadinessCheck] | None = None,
    ui_folder: Path = _BUILT_UI,
    share: RequestShare | None = None,
) -> None:
    """Wraps the application, whose state has the root; call it once, before or after the routers are included.

    ``checks`` are what ``/ready`` reports beside the database and its migrations: a name and a coroutine function that
    takes the database and returns whether all is well. Bodies are limited to 10 MB; a route that accepts more
    sets ``max_body_size=``.
    """
    # The framework silences it where it declares a body; our schemas are built later (``kit.schema``).
    warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
    app.router.redirect_slashes = False
    app.router.default = EitherSlash(app.router, WebUi(ui_folder, app.router.default, root.settings.public_url))
    app.router.middleware_stack = PathIndex(app)
    # The last one added is the outermost.
    app.add_middleware(JsonBodyGuard)
    app.add_middleware(RequestBodyLimitMiddleware, max_body_size=MAX_BODY_BYTES)
    app.add_middleware(HttpEdge)
    app.add_middleware(TakeTurns, share=share or RequestShare())
    app.add_middleware(TrustedProxies, trusted=root.settings.trusted_proxies)
    errors.install_error_handlers(app)
    health.install_health(app, checks or {})
    openapi.install_openapi(app)
