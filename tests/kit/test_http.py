"""The HTTP shell: whatever is sent, the answer has the agreed shape and is never a 500."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, FastAPI, Query, UploadFile, WebSocket
from httpx import ASGITransport, AsyncClient
from pydantic import BaseModel
from sqlalchemy import text
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect
from structlog.testing import capture_logs

from offhook.errors import Conflict, Unauthorized
from offhook.kit.db import Database, Session
from offhook.kit.http import install_http
from offhook.kit.ids import Id, LongId
from offhook.settings import Settings


class Thing(BaseModel):
    name: str
    count: int = 0
    data: dict[str, Any] = {}


class Root:
    def __init__(self, db: Database, settings: Settings) -> None:
        self.db = db
        self.settings = settings


class Broken(Exception):
    pass


router = APIRouter(prefix="/api/v1")


@router.post("/things/", response_model=Thing)
async def create_thing(body: Thing, session: Session) -> Thing:
    await session.execute(
        text("INSERT INTO things (name, count, data) VALUES (:n, :c, CAST(:d AS jsonb))"),
        {"n": body.name, "c": body.count, "d": json.dumps(body.data)},
    )
    return body


@router.get("/things/{thing_id}", response_model=dict[str, int])
async def get_thing(thing_id: Id) -> dict[str, int]:
    return {"id": thing_id}


@router.get("/long/{thing_id}", response_model=dict[str, int])
async def get_long(thing_id: LongId) -> dict[str, int]:
    return {"id": thing_id}


@router.get("/find", response_model=list[int])
async def find_things(session: Session, name: str = "", count: Annotated[int | None, Query()] = None) -> list[int]:
    found = await session.execute(
        text("SELECT id FROM things WHERE name = :n AND count = CAST(:c AS integer)"), {"n": name, "c": count}
    )
    return [row[0] for row in found]


@router.get("/conflict", response_model=None)
async def conflict() -> None:
    raise Conflict(detail={"errors": ["\ud800"]})


@router.get("/broken", response_model=None)
async def broken() -> None:
    raise Broken("the database password is hunter2")


@router.post("/upload", response_model=int, max_body_size=20 * 1024 * 1024)
async def upload(file: UploadFile) -> int:
    return len(await file.read())


@router.websocket("/socket/{name}")
async def socket(websocket: WebSocket, name: str) -> None:
    if name == "stranger":
        raise Unauthorized
    await websocket.accept()
    await websocket.send_text(name)
    if name == "late":
        raise Unauthorized
    await websocket.close()


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    async with database.transaction() as session:
        await session.execute(
            text("CREATE TABLE things (id serial, name varchar(40) UNIQUE, count integer, data jsonb)")
        )
    yield database
    await database.dispose()


@pytest.fixture
def ui(tmp_path: Path) -> Path:
    (tmp_path / "ui" / "assets").mkdir(parents=True)
    (tmp_path / "ui" / "index.html").write_text("<html>the app</html>")
    (tmp_path / "ui" / "assets" / "app-1a2b.js").write_text("1")
    (tmp_path / "ui" / "favicon.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path / "ui"


def build(db: Database, settings: Settings, ui: Path, checks: Any = None) -> FastAPI:
    app = FastAPI(openapi_url=None)
    root = Root(db, settings)
    app.state.root = root
    app.include_router(router)
    install_http(app, root, checks=checks, ui_folder=ui)
    return app


@pytest.fixture
async def http(db: Database, settings: Settings, ui: Path) -> AsyncIterator[AsyncClient]:
    transport = ASGITransport(app=build(db, settings, ui), raise_app_exceptions=False)
    async with AsyncClient(transport=transport, base_url="http://testserver") as client:
        yield client


async def post(http: AsyncClient, content: bytes | str, **headers: str) -> Any:
    return await http.post("/api/v1/things/", content=content, headers={"content-type": "application/json"} | headers)


class TestPaths:
    async def test_either_slash_and_never_a_redirect(self, http: AsyncClient) -> None:
        for path in ("/api/v1/things", "/api/v1/things/"):
            assert (await http.post(path, json={"name": path})).status_code == 200
        for path in ("/api/v1/things/5", "/api/v1/things/5/"):
            assert (await http.get(path)).json() == {"id": 5}
        for path in ("/health", "/health/", "/api/v1/health/"):
            assert (await http.get(path)).json()["status"] == "ok"

    async def test_slash_keeps_the_query(self, http: AsyncClient) -> None:
        assert (await http.get("/api/v1/find/?name=x&count=1")).json() == []

    @pytest.mark.parametrize("path", ["/api/v1/nope", "/api/v1/nope/", "/api", "/api/", "/api/v1/things//", "/nope"])
    async def test_unknown(self, http: AsyncClient, path: str) -> None:
        response = await http.get(path) if path != "/api/v1/things//" else await http.get(path + "/")
        assert (response.status_code, response.json()) == (404, {"detail": "Not found", "code": "not_found"})

    @pytest.mark.parametrize("path", ["/api/v1/things", "/api/v1/things/"])
    async def test_wrong_method(self, http: AsyncClient, path: str) -> None:
        response = await http.delete(path)
        assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
        assert response.headers["allow"] == "POST"

    @pytest.mark.parametrize("thing_id", ["0", "-1", "2147483648", "9" * 30, "9" * 5000])
    async def test_id_that_no_row_can_have(self, http: AsyncClient, thing_id: str) -> None:
        response = await http.get(f"/api/v1/things/{thing_id}")
        assert (response.status_code, response.json()["code"]) == (404, "not_found")

    @pytest.mark.parametrize("thing_id", ["x", "1.5", "%00", "%FF", "1e3", "null"])
    async def test_id_that_is_no_number(self, http: AsyncClient, thing_id: str) -> None:
        assert (await http.get(f"/api/v1/things/{thing_id}")).status_code == 422

    async def test_long_ids(self, http: AsyncClient) -> None:
        assert (await http.get(f"/api/v1/long/{2**63 - 1}")).json() == {"id": 2**63 - 1}
        assert (await http.get(f"/api/v1/long/{2**63}")).status_code == 404


class TestSockets:
    @pytest.fixture
    def sockets(self, db: Database, settings: Settings, ui: Path) -> TestClient:
        return TestClient(build(db, settings, ui))

    @pytest.mark.parametrize("path", ["/api/v1/socket/ada", "/api/v1/socket/ada/"])
    def test_either_slash(self, sockets: TestClient, path: str) -> None:
        with sockets.websocket_connect(path) as connection:
            assert connection.receive_text() == "ada"

    def test_refused_before_it_opens(self, sockets: TestClient) -> None:
        with pytest.raises(WebSocketDenialResponse) as denied, sockets.websocket_connect("/api/v1/socket/stranger"):
            pass
        assert (denied.value.status_code, denied.value.json()["code"]) == (401, "unauthorized")

    def test_closed_after_it_opened(self, sockets: TestClient) -> None:
        with sockets.websocket_connect("/api/v1/socket/late") as connection:
            assert connection.receive_text() == "late"
            with pytest.raises(WebSocketDisconnect) as closed:
                connection.receive_text()
        assert (closed.value.code, closed.value.reason) == (1008, "unauthorized")

    def test_unknown(self, sockets: TestClient) -> None:
        with pytest.raises(WebSocketDisconnect), sockets.websocket_connect("/api/v1/nope"):
            pass


BAD_JSON = [
    b"",
    b"{",
    b"nonsense",
    b"[]",
    b"null",
    b'"text"',
    b'{"name": "a\\u0000b"}',
    b'{"name": "x", "data": {"a\\u0000": 1}}',
    b'{"name": "x", "data": {"deep": [["\\u0000"]]}}',
    b'{"name": "\\ud800"}',
    b'{"name": "\\udc00 and more"}',
    b'{"name": "\xff\xfe"}',
    b'{"name": "\xed\xa0\x80"}',
    b'{"name": "x", "count": 2147483648}',
    b'{"name": "x", "count": 1e400}',
    b'{"name": "x", "count": ' + b"9" * 5000 + b"}",
    b'{"name": "x", "data": {"n": NaN}}',
    b'{"name": "x", "data": {"n": -Infinity}}',
    b'{"name": "x", "data": {"n": 1e999}}',
    b'{"name": "x", "data": {"n": ' + b"1" * 100_000 + b"}}",
    b'{"name": "' + b"x" * 41 + b'"}',
    b'{"name": "x", "data": ' + b'{"a":' * 101 + b"1" + b"}" * 101 + b"}",
    b'{"name": "x", "data": {"l": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    b"[" * 1_000_000,
]
GOOD_JSON = [
    {"name": "\u00e9\U0001f600"},
    {"name": "a\\u0000b"},  # a backslash and letters, not NUL
    {"name": "NaN and Infinity"},
    {"name": "numbers", "count": -(2**31), "data": {"big": 10**200, "small": 1e-300, "e": 1e20}},
    {"name": "wide", "data": {str(n): [{"a": []}] for n in range(500)}},
    {"name": 'brackets in text "[[[', "data": {"t": "[" * 500}},
]


class TestBodies:
    @pytest.mark.parametrize("content", BAD_JSON, ids=range(len(BAD_JSON)))
    async def test_bad_json(self, http: AsyncClient, content: bytes) -> None:
        response = await post(http, content)
        assert response.status_code == 422
        body = response.json()
        assert body["code"] in {"validation_error", "value_not_storable"}
        assert all({"loc", "msg", "type"} <= set(problem) for problem in body["detail"])

    @pytest.mark.parametrize("body", GOOD_JSON, ids=range(len(GOOD_JSON)))
    async def test_good_json(self, http: AsyncClient, body: dict[str, Any]) -> None:
        response = await http.post("/api/v1/things/", json=body)
        assert response.status_code == 200
        assert response.json()["name"] == body["name"]

    async def test_surrogate_pair_is_a_character(self, http: AsyncClient) -> None:
        assert (await post(http, rb'{"name": "\ud83d\ude00"}')).json()["name"] == "\U0001f600"

    @pytest.mark.parametrize(
        "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "nonsense", ""]
    )
    async def test_other_content_types(self, http: AsyncClient, content_type: str) -> None:
        assert (await post(http, b'{"name": "x"}', **{"content-type": content_type})).status_code == 422

    async def test_secrets_are_not_repeated(self, http: AsyncClient) -> None:
        response = await http.post("/api/v1/things/", json={"name": ["hunter2"], "count": "hunter2"})
        assert response.status_code == 422
        assert "hunter2" not in response.text

    @pytest.mark.parametrize("query", ["name=%00", "name=%ED%A0%80&count=1", "count=2147483648", "count=" + "9" * 40])
    async def test_queries_the_database_refuses(self, http: AsyncClient, query: str) -> None:
        assert (await http.get(f"/api/v1/find?{query}")).status_code in {200, 422}

    async def test_two_who_make_the_same(self, http: AsyncClient) -> None:
        await http.post("/api/v1/things/", json={"name": "one"})
        response = await http.post("/api/v1/things/", json={"name": "one"})
        assert (response.status_code, response.json()["code"]) == (409, "conflict")

    async def test_too_large(self, http: AsyncClient) -> None:
        response = await post(http, b'{"name": "' + b"x" * (10 * 1024 * 1024) + b'"}')
        assert (response.status_code, response.json()["code"]) == (413, "too_large")

    async def test_too_large_in_chunks(self, http: AsyncClient) -> None:
        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(11):
                yield b" " * 1024 * 1024

        response = await http.post("/api/v1/things/", content=chunks(), headers={"content-type": "application/json"})
        assert (response.status_code, response.json()["code"]) == (413, "too_large")

    async def test_a_route_may_take_more(self, http: AsyncClient) -> None:
        size = 15 * 1024 * 1024
        assert (await http.post("/api/v1/upload", files={"file": b"x" * size})).json() == size
        response = await http.post("/api/v1/upload", files={"file": b"x" * (21 * 1024 * 1024)})
        assert (response.status_code, response.json()["code"]) == (413, "too_large")

    async def test_broken_upload(self, http: AsyncClient) -> None:
        response = await http.post(
            "/api/v1/upload", content=b"--x\r\nnonsense", headers={"content-type": "multipart/form-data; boundary=x"}
        )
        assert response.status_code == 422


class TestErrors:
    async def test_detail_may_be_an_object(self, http: AsyncClient) -> None:
        response = await http.get("/api/v1/conflict")
        assert (response.status_code, response.json()) == (409, {"detail": {"errors": ["?"]}, "code": "conflict"})

    async def test_unexpected_leaks_nothing_and_has_an_id_in_the_log(self, http: AsyncClient) -> None:
        with capture_logs() as logs:
            response = await http.get("/api/v1/broken", headers={"x-request-id": "abc-1"})
        assert (response.status_code, response.json()["code"]) == (500, "internal_error")
        assert "hunter2" not in response.text
        assert "abc-1" in response.text
        assert response.headers["x-content-type-options"] == "nosniff"
        assert [entry["error_id"] for entry in logs if entry["event"] == "request_failed"] == ["abc-1"]

    async def test_database_away(self, http: AsyncClient, db: Database) -> None:
        await db.dispose()
        away = Database("postgresql+asyncpg://nobody@127.0.0.1:1/none")
        http_away = build(away, Settings(), Path("/nonexistent"))
        async with AsyncClient(transport=ASGITransport(app=http_away), base_url="http://testserver") as client:
            response = await client.get("/api/v1/find?count=1")
            assert (response.status_code, response.json()["code"]) == (503, "not_ready")
            assert response.headers["retry-after"] == "1"
            ready = await client.get("/ready")
            assert (ready.status_code, ready.json()["checks"]) == (
                503,
                {"database": "missing", "migrations": "missing"},
            )


class TestHeaders:
    async def test_of_every_answer(self, http: AsyncClient) -> None:
        for path in ("/api/v1/things/5", "/api/v1/nope", "/health", "/"):
            headers = (await http.get(path)).headers
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["referrer-policy"] == "no-referrer"
            assert "access-control-allow-origin" not in headers
        assert (await http.get("/api/v1/things/5")).headers["cache-control"] == "no-store"

    async def test_request_id(self, http: AsyncClient) -> None:
        assert (await http.get("/health", headers={"x-request-id": "mine.1"})).headers["x-request-id"] == "mine.1"
        made = (await http.get("/health", headers={"x-request-id": "not mine"})).headers["x-request-id"]
        assert len(made) == 16

    async def test_access_log_has_the_template_and_no_token(self, http: AsyncClient) -> None:
        with capture_logs() as logs:
            await http.get("/api/v1/things/5?token=hunter2")
        (line,) = [entry for entry in logs if entry["event"] == "http_request"]
        assert (line["route"], line["status"], line["log_level"]) == ("/api/v1/things/{thing_id}", 200, "debug")
        assert "hunter2" not in str(logs)


class TestHealth:
    async def test_ready_says_what_is_missing(self, db: Database, settings: Settings, ui: Path) -> None:
        async def jobs() -> bool:
            return False

        async def slow() -> bool:
            raise TimeoutError

        app = build(db, settings, ui, {"jobs": jobs, "slow": slow})
        async with AsyncClient(transport=ASGITransport(app=app), base_url="http://testserver") as client:
            response = await client.get("/ready")
        assert response.status_code == 503
        assert response.json()["code"] == "not_ready"
        assert {name for name, state in response.json()["checks"].items() if state == "missing"} >= {"jobs", "slow"}
        assert response.json()["checks"]["database"] == "ok"

    async def test_metrics_count_by_template(self, http: AsyncClient) -> None:
        for thing_id in (1, 2, 3):
            await http.get(f"/api/v1/things/{thing_id}/")
        page = (await http.get("/metrics")).text
        assert 'offhook_http_requests_total{method="GET",route="/api/v1/things/{thing_id}",status="200"}' in page
        assert "offhook_http_request_seconds_bucket" in page
        assert "offhook_live_calls" in page
        assert "/api/v1/things/1" not in page


class TestOpenApi:
    async def test_describes_errors_of_every_operation(self, http: AsyncClient) -> None:
        schema = (await http.get("/api/v1/openapi.json")).json()
        assert (schema["info"]["title"], schema["info"]["version"]) == ("Offhook", "1.0.0")
        operations = [op for path in schema["paths"].values() for op in path.values()]
        described = [op for op in operations if "401" in op["responses"]]
        assert len(described) == len(operations) - 1  # all but health
        for operation in described:
            assert {"401", "403", "404", "409", "422"} <= set(operation["responses"])
        assert "ErrorResponse" in schema["components"]["schemas"]
        assert {"loc", "msg", "type"} == set(schema["components"]["schemas"]["ValidationError"]["properties"])

    @pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json"])
    async def test_no_page_from_a_cdn(self, client: AsyncClient, path: str) -> None:
        assert (await client.get(f"http://testserver{path}")).status_code == 404


PAGE = {"accept": "text/html,application/xhtml+xml"}


class TestWebUi:
    @pytest.mark.parametrize("path", ["/", "/sign-in?token=x", "/agents/5", "/agents/5/"])
    async def test_pages(self, http: AsyncClient, path: str) -> None:
        response = await http.get(path, headers=PAGE)
        assert (response.status_code, response.text) == (200, "<html>the app</html>")
        assert response.headers["cache-control"] == "no-cache"
        assert "frame-ancestors 'none'" in response.headers["content-security-policy"]

    async def test_files(self, http: AsyncClient) -> None:
        asset = await http.get("/assets/app-1a2b.js")
        assert (asset.text, asset.headers["cache-control"]) == ("1", "public, max-age=31536000, immutable")
        assert (await http.get("/favicon.svg")).headers["cache-control"] == "no-cache"
        assert (await http.get("/index.html")).headers["content-security-policy"]

    @pytest.mark.parametrize(
        "path",
        ["/assets/gone.js", "/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "//etc/hosts.conf",
         "/api/v1/nope", "/a%00.txt", "/" + "x" * 5000 + ".js"],
    )  # fmt: skip
    async def test_what_is_not_there(self, http: AsyncClient, path: str) -> None:
        response = await http.get(f"http://testserver{path}", headers=PAGE)
        assert response.status_code == 404
        assert "secret" not in response.text

    async def test_post_is_no_page(self, http: AsyncClient) -> None:
        assert (await http.post("/agents", headers=PAGE)).status_code == 404

    async def test_not_built(self, db: Database, settings: Settings, tmp_path: Path) -> None:
        app = build(db, settings, tmp_path / "nothing")
        async with AsyncClient(transport=ASGITransport(app=app), base_url="http://testserver") as client:
            page = await client.get("/")
            assert page.status_code == 200
            assert "make run" in page.text
            assert (await client.get("/robots.txt")).status_code == 404
