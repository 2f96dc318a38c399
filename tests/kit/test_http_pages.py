"""The HTTP shell: health, metrics, the interface description and the web UI."""

import asyncio
import gzip
from pathlib import Path

import pytest
from httpx2 import ASGITransport, AsyncClient
from pydantic import SecretStr

from offhook.kit.database.database import Database
from offhook.settings import Settings
from tests.kit.http_things import build


class TestHealth:
    async def test_what_all_processes_share_is_reported_and_takes_none_away(
        self, db: Database, settings: Settings, ui: Path
    ) -> None:
        async def jobs(_: Database) -> bool:
            return False

        async def slow(_: Database) -> bool:
            raise TimeoutError

        app = build(db, settings, ui, {"jobs": jobs, "slow": slow})
        async with AsyncClient(transport=ASGITransport(app=app), base_url="http://testserver") as client:
            response = await client.get("/ready")
            metrics = (await client.get("/metrics")).text
        assert response.status_code == 200
        dependencies = response.json()["dependencies"]
        assert {name for name, state in dependencies.items() if state == "missing"} >= {"jobs", "slow"}
        assert dependencies["database"] == "ok"
        assert 'offhook_dependency_up{dependency="jobs"} 0.0' in metrics
        assert 'offhook_dependency_up{dependency="database"} 1.0' in metrics

    @pytest.mark.parametrize("part", ["accepting", "leases"])
    async def test_a_process_that_cannot_take_work_is_not_ready(
        self, db: Database, settings: Settings, ui: Path, part: str
    ) -> None:
        app = build(db, settings, ui)
        app.state.root.is_draining = part == "accepting"
        app.state.root.process_checks = {"leases": lambda: part != "leases"}
        async with AsyncClient(transport=ASGITransport(app=app), base_url="http://testserver") as client:
            response = await client.get("/ready")
        assert (response.status_code, response.json()["code"]) == (503, "not_ready")
        assert [name for name, state in response.json()["checks"].items() if state == "missing"] == [part]
        assert response.headers["retry-after"] == "1"

    async def test_who_ask_at_once_share_the_checks(self, db: Database, settings: Settings, ui: Path) -> None:
        runs, go_on = 0, asyncio.Event()

        async def jobs(_: Database) -> bool:
            nonlocal runs
            runs += 1
            await go_on.wait()
            return True

        app = build(db, settings, ui, {"jobs": jobs})
        async with AsyncClient(transport=ASGITransport(app=app), base_url="http://testserver") as client:
            gone, *asked = (asyncio.create_task(client.get("/ready")) for _ in range(20))
            while not runs:
                await asyncio.sleep(0.01)
            gone.cancel()
            go_on.set()
            answers = await asyncio.gather(*asked)
            assert {answer.json()["dependencies"]["jobs"] for answer in answers} == {"ok"}
            assert runs == 1
            await client.get("/ready")
        assert runs == 2

    async def test_metrics_count_by_template(self, http: AsyncClient) -> None:
        for thing_id in (1, 2, 3):
            await http.get(f"/api/v1/things/{thing_id}/")
        page = (await http.get("/metrics")).text
        assert 'offhook_http_requests_total{method="GET",route="/api/v1/things/{thing_id}",status="200"}' in page
        assert "offhook_http_request_seconds_bucket" in page
        assert "offhook_live_calls" in page
        assert "/api/v1/things/1" not in page

    @pytest.mark.parametrize(
        ("token", "client", "headers", "status"),
        [
            (None, "127.0.0.1", {}, 200),
            (None, "::1", {}, 200),
            (None, "::ffff:127.0.0.1", {}, 200),
            (None, "203.0.113.5", {}, 401),
            # of a proxy on this machine that is not trusted
            (None, "127.0.0.1", {"x-forwarded-for": "203.0.113.5"}, 401),
            ("s3cret", "127.0.0.1", {}, 401),
            ("s3cret", "203.0.113.5", {"authorization": "Bearer s3cret"}, 200),
            ("s3cret", "203.0.113.5", {"authorization": "Bearer s3cre"}, 401),
            ("s3cret", "203.0.113.5", {"authorization": "Bearer \u00e9"}, 401),
        ],
    )
    async def test_who_reads_metrics(
        self,
        db: Database,
        settings: Settings,
        ui: Path,
        token: str | None,
        client: str,
        headers: dict[str, str],
        status: int,
    ) -> None:
        guarded = settings.model_copy(update={"metrics_token": token and SecretStr(token), "trusted_proxies": ""})
        transport = ASGITransport(app=build(db, guarded, ui), client=(client, 40000))
        async with AsyncClient(transport=transport, base_url="http://testserver") as http:
            answer = await http.get(
                "/metrics", headers=[(name.encode(), value.encode()) for name, value in headers.items()]
            )
        assert answer.status_code == status
        if status == 401:
            assert answer.json()["code"] == "metrics_token_required"
            assert "OFFHOOK_METRICS_TOKEN" in answer.json()["detail"]
            assert "offhook_" not in answer.text


class TestOpenApi:
    async def test_describes_errors_of_every_operation(self, http: AsyncClient) -> None:
        schema = (await http.get("/api/v1/openapi.json")).json()
        assert (schema["info"]["title"], schema["info"]["version"]) == ("Offhook", "1.0.0")
        operations = [op for path in schema["paths"].values() for op in path.values()]
        described = [op for op in operations if "401" in op["responses"]]
        assert len(described) == len(operations) - 1  # all but health
        for operation in described:
            assert {"401", "403", "404", "409", "422", "429", "503"} <= set(operation["responses"])
            assert ("413" in operation["responses"]) == ("requestBody" in operation)
        assert "ErrorResponse" in schema["components"]["schemas"]
        assert {"loc", "msg", "type", "limit"} == set(schema["components"]["schemas"]["ValidationError"]["properties"])

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
        assert "connect-src 'self' ws://testserver wss://testserver;" in response.headers["content-security-policy"]

    @pytest.mark.parametrize(
        ("public_url", "host", "allowed"),
        [
            ("https://voice.example.com", "127.0.0.1:8480", ("127.0.0.1:8480", "voice.example.com")),
            (None, "[::1]:8480", ("[::1]:8480",)),
            (None, "a;script-src *", ()),
            (None, "*", ()),
        ],
    )
    async def test_its_sockets_go_to_this_server_only(
        self, db: Database, settings: Settings, ui: Path, public_url: str | None, host: str, allowed: tuple[str, ...]
    ) -> None:
        app = build(db, settings.model_copy(update={"public_url": public_url}), ui)
        async with AsyncClient(transport=ASGITransport(app=app), base_url="http://testserver") as http:
            policy = (await http.get("/", headers={"host": host})).headers["content-security-policy"]
        (connect,) = [rule for rule in policy.split("; ") if rule.startswith("connect-src")]
        assert connect.split() == [
            "connect-src",
            "'self'",
            *(f"{kind}://{at}" for at in allowed for kind in ("ws", "wss")),
        ]
        assert "script-src 'self';" in policy

    async def test_files(self, http: AsyncClient) -> None:
        asset = await http.get("/assets/app-1a2b.js")
        assert (asset.text, asset.headers["cache-control"]) == ("1", "public, max-age=31536000, immutable")
        assert (await http.get("/favicon.svg")).headers["cache-control"] == "no-cache"
        assert (await http.get("/index.html")).headers["content-security-policy"]

    @pytest.mark.parametrize(
        ("accepted", "encoding"),
        [("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("br;q=0, gzip;q=0.5", "gzip"), ("br;q=0.0", None), ("", None)],
    )  # fmt: skip
    async def test_scripts_are_sent_as_the_build_compressed_them(
        self, http: AsyncClient, ui: Path, accepted: str, encoding: str | None
    ) -> None:
        script = ui / "assets" / "app-1a2b.js"
        script.with_name("app-1a2b.js.gz").write_bytes(gzip.compress(script.read_bytes()))
        script.with_name("app-1a2b.js.br").write_bytes(b"brotli")
        answer = await http.head("/assets/app-1a2b.js", headers={"accept-encoding": accepted})
        assert (answer.status_code, answer.headers.get("content-encoding")) == (200, encoding)
        assert answer.headers["content-type"].partition(";")[0] == "text/javascript"
        assert (answer.headers["vary"], "immutable" in answer.headers["cache-control"]) == ("accept-encoding", True)
        assert (await http.get("/assets/app-1a2b.js", headers={"accept-encoding": "gzip"})).text == "1"

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
