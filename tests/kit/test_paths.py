"""The index of paths finds what the framework finds by asking every route, and leaves to it what it cannot know."""

from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI, Request
from fastapi.routing import APIRoute, iter_route_contexts
from httpx2 import ASGITransport, AsyncClient
from starlette.responses import JSONResponse
from starlette.staticfiles import StaticFiles
from starlette.testclient import TestClient

from offhook.api import create_app
from offhook.bootstrap import build_root
from offhook.kit.http.paths import PathIndex
from offhook.kit.http.routing import IncludedRoute, Router
from offhook.kit.http.slashes import EitherSlash
from offhook.settings import Settings

Template = tuple[str, frozenset[str]]
VALUES = ("7", "count", "{}")


async def endpoint(request: Request) -> JSONResponse:
    context: Any = request.scope["fastapi"].get("effective_route_context") or request.scope["route"]
    return JSONResponse([context.path_format, request.path_params, request.scope["path"]])


def nested(templates: list[Template], *, with_index: bool) -> FastAPI:
    """An application of these routes, each in a router within a router as the domains have them."""
    app, api = FastAPI(openapi_url=None), APIRouter()
    for path, methods in templates:
        domain = APIRouter()
        domain.add_api_route(path.removeprefix("/api/v1"), endpoint, methods=list(methods), response_model=None)
        api.include_router(domain)
    app.include_router(api, prefix="/api/v1")
    app.router.redirect_slashes = False
    app.router.default = EitherSlash(app.router, app.router.default)
    if with_index:
        app.router.middleware_stack = PathIndex(app)
    return app


def real_templates(folder: Path) -> list[Template]:
    app = create_app(build_root(Settings(data_dir=folder), "postgresql+asyncpg://nobody@127.0.0.1:1/none"))
    return [
        (route.path or "", frozenset(route.methods or ()))
        for route in iter_route_contexts(app.routes)
        if isinstance(route.original_route, APIRoute) and (route.path or "").startswith("/api/v1/")
    ]


async def answer(app: FastAPI, method: str, path: str) -> tuple[int, Any, list[str]]:
    async with AsyncClient(transport=ASGITransport(app=app), base_url="http://testserver") as client:
        response = await client.request(method, path)
    return response.status_code, response.json(), sorted(response.headers.get("allow", "").split(", "))


@pytest.mark.slow
async def test_the_same_as_the_framework_on_every_path_of_ours(tmp_path: Path) -> None:
    templates = real_templates(tmp_path)
    assert len(templates) > 100
    ours = nested(templates, with_index=True)
    framework = nested(templates, with_index=False)
    asked = {
        (method, spelling)
        for path, methods in templates
        for value in (VALUES if "{" in path else VALUES[:1])
        for method in {*methods, "DELETE"}
        for filled in ["/".join(value if "{" in segment else segment for segment in path.split("/"))]
        for spelling in (filled, filled.rstrip("/") if filled.endswith("/") else filled + "/")
    }
    different = [
        question for question in sorted(asked) if await answer(ours, *question) != await answer(framework, *question)
    ]
    assert different == []


class TestOrder:
    TEMPLATES: list[Template] = [  # noqa: RUF012
        ("/api/v1/{kind}/new", frozenset({"GET"})),
        ("/api/v1/runs/{run_id}", frozenset({"GET"})),
        ("/api/v1/runs/latest", frozenset({"GET", "POST"})),
        ("/api/v1/files/{name:path}", frozenset({"GET"})),
        ("/api/v1/files/list", frozenset({"GET"})),
        ("/api/v1/runs/{run_id}.csv", frozenset({"GET"})),
    ]

    @pytest.mark.parametrize("method", ["GET", "POST"])
    @pytest.mark.parametrize(
        "path",
        ["runs/new", "runs/latest", "runs/latest/", "runs/5.csv", "files/list", "files/a/b", "files/", "x/new/", "x/y"],
    )
    async def test_the_first_that_matches_wins(self, method: str, path: str) -> None:
        ours = nested(self.TEMPLATES, with_index=True)
        framework = nested(self.TEMPLATES, with_index=False)
        assert await answer(ours, method, f"/api/v1/{path}") == await answer(framework, method, f"/api/v1/{path}")


def test_what_is_mounted_before_keeps_its_place(tmp_path: Path) -> None:
    (tmp_path / "page").write_text('"from the folder"')
    app = FastAPI(openapi_url=None)
    app.mount("/pages", StaticFiles(directory=tmp_path))
    app.add_api_route("/pages/page", endpoint, response_model=None)
    app.router.middleware_stack = PathIndex(app)
    assert TestClient(app).get("/pages/page").json() == "from the folder"


def test_a_route_that_is_added_later_is_found() -> None:
    app = nested([("/api/v1/runs/{run_id}", frozenset({"GET"}))], with_index=True)
    client = TestClient(app)
    assert client.get("/api/v1/late").status_code == 404
    app.add_api_route("/api/v1/late", endpoint, response_model=None)
    assert client.get("/api/v1/late").json()[0] == "/api/v1/late"


class TestRoutersThatWait:
    """The routes of a router are built with the first request below its prefix, and those of no other."""

    @pytest.fixture
    def built(self) -> list[str]:
        return []

    @pytest.fixture
    def app(self, built: list[str]) -> FastAPI:
        class NotedRoute(IncludedRoute):
            def get_route_handler(self) -> Any:
                built.append(self.path)
                return super().get_route_handler()

        app, api = FastAPI(openapi_url=None), APIRouter()
        for prefix in ("/runs", "/workflows/{workflow_id}/runs", "/members"):
            domain = Router(prefix=prefix)
            domain.route_class = NotedRoute
            domain.add_api_route("/{item_id}", endpoint, response_model=None)
            api.include_router(domain)
        app.include_router(api, prefix="/api/v1")
        app.router.default = EitherSlash(app.router, app.router.default)
        app.router.middleware_stack = PathIndex(app)
        return app

    async def test_a_route(self, app: FastAPI, built: list[str]) -> None:
        status, [template, *_], _ = await answer(app, "GET", "/api/v1/members/7")
        assert (status, template) == (200, "/api/v1/members/{item_id}")
        assert built == ["/members/{item_id}"]

    async def test_a_page(self, app: FastAPI, built: list[str]) -> None:
        assert (await answer(app, "GET", "/"))[0] == 404
        assert built == []

    async def test_a_method_that_no_route_takes(self, app: FastAPI, built: list[str]) -> None:
        assert (await answer(app, "DELETE", "/api/v1/members/7"))[0] == 405
        assert built == ["/members/{item_id}"]

    async def test_a_prefix_with_a_parameter(self, app: FastAPI, built: list[str]) -> None:
        status, [template, *_], _ = await answer(app, "GET", "/api/v1/workflows/3/runs/7")
        assert (status, template) == (200, "/api/v1/workflows/{workflow_id}/runs/{item_id}")
        assert built == ["/workflows/{workflow_id}/runs/{item_id}"]
