"""The HTTP shell: whatever is sent, the answer has the agreed shape and is never a 500."""

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from httpx2 import ASGITransport, AsyncClient
from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect
from structlog.testing import capture_logs

from offhook.kit.database.database import Database
from offhook.kit.http.errors import MAX_PROBLEMS
from offhook.kit.http.json_bodies import MAX_JSON_BYTES, MAX_KEY_BYTES, MAX_VALUES, find_problem
from offhook.settings import Settings
from tests.kit.http_things import build, post
from tests.quick import first_quick


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

    def test_has_the_dependencies_of_requests(self, db: Database, settings: Settings, ui: Path) -> None:
        sockets = TestClient(build(Database(db.url), settings, ui))
        with sockets.websocket_connect("/api/v1/things-now") as connection:
            assert connection.receive_text() == "0 things at 2026"

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
    b'["\\\\", "\\"", ' + b"[" * 101 + b"]" * 102,
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
    @pytest.mark.parametrize("content", first_quick(BAD_JSON, count=8), ids=range(len(BAD_JSON)))
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

    @pytest.mark.parametrize(
        ("wrong", "problem"),
        [
            ({"tags": ["a"] * 4}, ("too_long", 3)),
            ({"tags": ["a" * 21]}, ("string_too_long", 20)),
            ({"share": 0}, ("greater_than", 0)),
            ({"share": 0.6}, ("less_than_equal", 0.5)),
            ({"share": "half"}, ("float_parsing", None)),
        ],
    )
    async def test_the_limit_that_a_value_is_past_is_a_figure(
        self, http: AsyncClient, wrong: dict[str, Any], problem: tuple[str, float | None]
    ) -> None:
        response = await http.post("/api/v1/things/", json={"name": "x"} | wrong)
        assert response.status_code == 422
        (found,) = response.json()["detail"]
        assert (found["type"], found.get("limit")) == problem
        assert found.keys() <= {"loc", "msg", "type", "limit"}

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

    @pytest.mark.parametrize("part", [b"[],", b"[" * 90 + b"]" * 90 + b",", b'\\"', b'"a",', b'"[\\u0000'], ids=repr)
    @pytest.mark.slow
    def test_no_body_takes_long_to_look_at(self, part: bytes) -> None:
        """This happens in the loop that carries audio."""
        body = (b"[" * 101 + b'"' + part * MAX_JSON_BYTES)[:MAX_JSON_BYTES]
        began = time.process_time()
        find_problem(body)
        assert time.process_time() - began < 1

    @pytest.mark.parametrize(
        ("body", "problem"),
        [
            (b'{"name": "' + b"x" * 100_000 + b'"}', None),
            (b'{"name": "' + b"a, " * 100_000 + b'"}', None),
            (b'{"' + b"k" * MAX_KEY_BYTES + b'": 1}', None),
            (b'{"' + b"k" * (MAX_KEY_BYTES + 1) + b'" \n: [1, 1]}', "The body has a key of more than 1000 bytes."),
            (b'{"\\"' + b"k" * (MAX_KEY_BYTES + 1) + b'\\"": 1}', "The body has a key of more than 1000 bytes."),
            (b'{"tags": [' + b"1," * MAX_VALUES + b"1]}", "The body has more than 100,000 values."),
        ],
        ids=["long text", "commas in a text", "key", "long key", "long key with quotes", "values"],
    )
    def test_what_would_fill_the_memory_with_problems(self, body: bytes, problem: str | None) -> None:
        assert find_problem(body) == problem

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
    async def test_other_encodings(self, http: AsyncClient, encoding: str) -> None:
        body = ('{"name": "x", "sizes": [1], "' + "k" * (MAX_KEY_BYTES + 1) + '" : 1}').encode(encoding)
        response = await post(http, body)
        assert (response.status_code, response.json()["code"]) == (422, "validation_error")
        assert "UTF-8" in response.json()["detail"][0]["msg"]

    async def test_not_more_problems_than_a_client_mends(self, http: AsyncClient) -> None:
        response = await http.post("/api/v1/things/", json={"name": "x", "sizes": ["many"] * 5000})
        assert response.status_code == 422
        assert len(response.json()["detail"]) == MAX_PROBLEMS

    async def test_json_too_large(self, http: AsyncClient) -> None:
        response = await post(http, b'{"name": "' + b"x" * MAX_JSON_BYTES + b'"}')
        assert (response.status_code, response.json()["code"]) == (413, "too_large")

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


def _make_read_only(adapted: Any, _: Any) -> None:
    statement = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"
    adapted.run_async(lambda connection: connection.execute(statement))


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

    async def test_the_log_of_a_failure_has_no_token_and_no_row(self, http: AsyncClient, db: Database) -> None:
        async with db.transaction() as session:
            await session.execute(text("ALTER TABLE things ADD CONSTRAINT no_secrets CHECK (name <> 'hunter2')"))
        with capture_logs() as logs:
            broken = await http.get("/api/v1/broken/hunter2")
            refused = await post(http, '{"name": "hunter2"}')
        assert (broken.status_code, refused.status_code) == (500, 409)
        failures = {entry["event"]: entry for entry in logs if entry["event"].startswith("request_")}
        assert failures["request_failed"]["route"] == "/api/v1/broken/{token}"
        assert failures["request_conflicted_in_database"]["constraint"] == "no_secrets"
        assert "hunter2" not in str(failures)

    async def test_an_error_of_the_database_has_no_values(self, db: Database) -> None:
        with pytest.raises(DBAPIError) as error:
            async with db.transaction() as session:
                await session.execute(text("SELECT CAST(:n AS integer) / 0"), {"n": 4711})
        assert "4711" not in str(error.value)

    async def test_database_away(self, http: AsyncClient, db: Database) -> None:
        await db.dispose()
        away = Database("postgresql+asyncpg://nobody@127.0.0.1:1/none")
        http_away = build(away, Settings(), Path("/nonexistent"))
        # No lease can be renewed now, in any process.
        http_away.state.root.process_checks = {"leases": lambda: False}
        async with AsyncClient(transport=ASGITransport(app=http_away), base_url="http://testserver") as client:
            response = await client.get("/api/v1/find?count=1")
            assert (response.status_code, response.json()["code"]) == (503, "not_ready")
            assert response.headers["retry-after"] == "1"
            ready = await client.get("/ready")
            assert (ready.status_code, ready.json()["dependencies"]) == (
                200,
                {"database": "missing", "migrations": "missing"},
            ), "carriers' requests are answered by this process, not by the balancer'"

    async def test_database_that_takes_no_writes(self, http: AsyncClient, database_url: str) -> None:
        standby = Database(database_url)
        event.listen(standby.engine.sync_engine, "connect", _make_read_only)
        app = build(standby, Settings(), Path("/nonexistent"))
        try:
            async with AsyncClient(transport=ASGITransport(app=app), base_url="http://testserver") as client:
                response = await post(client, '{"name": "x"}')
                assert (response.status_code, response.json()["code"]) == (503, "not_ready")
                ready = await client.get("/ready")
                assert (ready.status_code, ready.json()["dependencies"]["database"]) == (200, "missing")
        finally:
            await standby.dispose()


class TestHeaders:
    async def test_of_every_answer(self, http: AsyncClient) -> None:
        for path in ("/api/v1/things/5", "/api/v1/nope", "/health", "/"):
            headers = (await http.get(path)).headers
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["referrer-policy"] == "no-referrer"
            assert "access-control-allow-origin" not in headers
        assert (await http.get("/api/v1/things/5")).headers["cache-control"] == "no-store"

    async def test_over_tls_a_browser_stays_with_tls(self, http: AsyncClient) -> None:
        for path in ("/api/v1/things/5", "/api/v1/nope", "/api/v1/broken", "/"):
            safe = await http.get(f"https://testserver{path}", headers={"accept": "text/html"})
            assert safe.headers["strict-transport-security"] == "max-age=31536000"
        assert "strict-transport-security" not in (await http.get("/api/v1/things/5")).headers

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
