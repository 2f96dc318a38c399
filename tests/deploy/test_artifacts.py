"""What ``deploy/`` has for operators: it names settings and files that exist, and the programs it is for accept it."""

import asyncio
import json
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
import yaml
from bench.cluster_rig import haproxy_configuration
from fastapi.routing import APIRoute

from offhook.kit.http import edge
from offhook.settings import Settings
from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.carriers import build_remote_carriers
from offhook.telephony.webhooks import endpoints as callbacks
from tests.bucket import closed_port

TOP = Path(__file__).parents[2]
DEPLOY = TOP / "deploy"
FILES = [path for path in DEPLOY.rglob("*") if path.is_file()]
CHART = DEPLOY / "helm" / "offhook"
# Of the build, not of a process.
NO_SETTINGS = {"OFFHOOK_WHEEL_WITHOUT_UI"}
DRAIN_S = Settings.model_fields["drain_s"].default


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(DEPLOY)))
def test_settings_that_are_named_exist(path: Path) -> None:
    named = set(re.findall(r"OFFHOOK_[A-Z0-9_]*[A-Z0-9]", path.read_text())) - NO_SETTINGS
    assert named <= {f"OFFHOOK_{name.upper()}" for name in Settings.model_fields}


def test_the_image_is_made_of_files_that_exist() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    copies = [line.split()[1:-1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    assert copies
    assert [name for names in copies for name in names if not (TOP / name).exists()] == []


def test_supervisors_wait_for_calls_to_end() -> None:
    unit = (DEPLOY / "systemd" / "offhook.service").read_text()
    stop = re.search(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)
    assert stop is not None
    assert int(stop[1]) >= DRAIN_S + 60
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert compose["services"]["serve"]["stop_grace_period"] == f"{int(DRAIN_S + 60) // 60}m"
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert values["serve"]["drainSeconds"] == DRAIN_S
    assert "add .Values.serve.drainSeconds 60" in (CHART / "templates" / "serve.yaml").read_text()


def test_systemd_holds_the_address_of_the_server_and_of_the_proxy() -> None:
    held = re.search(r"^ListenStream=(.*)$", (DEPLOY / "systemd" / "offhook.socket").read_text(), re.MULTILINE)
    assert held is not None
    assert held[1] == f"{Settings.model_fields['host'].default}:{Settings.model_fields['port'].default}"
    assert f"server {held[1]};" in (DEPLOY / "nginx" / "offhook.conf").read_text()


def test_every_setting_reaches_the_containers() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    for name in ("migrate", "serve", "worker"):
        assert services[name]["env_file"] == [{"path": ".env", "required": False}]
        assert "./certificates:/etc/offhook/certificates:ro" in services[name]["volumes"]
    helpers = (CHART / "templates" / "_helpers.tpl").read_text()
    assert all(f".Values.{name} " in helpers for name in ("settings", "extraEnv", "extraVolumes", "extraVolumeMounts"))


def test_the_chart_s_values_are_those_of_its_schema() -> None:
    # Only here: it builds the grammars of all its formats when it is imported, which is 2 s in each process of the tests.
    import jsonschema  # noqa: PLC0415

    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    with pytest.raises(jsonschema.ValidationError, match=r"does not match|non-empty|too short"):
        jsonschema.validate(values, schema)
    jsonschema.validate({**values, "publicUrl": "https://voice.example.com", "existingSecret": "offhook"}, schema)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    path = tmp_path / "both.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=voice.example.com",
    ]
    key = tmp_path / "key.pem"
    subprocess.run([*command, "-keyout", key, "-out", path], check=True, capture_output=True)
    path.write_text(path.read_text() + key.read_text())
    return path


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("haproxy", path="/usr/sbin:/usr/bin") is None, reason="apt-get install haproxy")
def test_haproxy_accepts_its_file(tmp_path: Path, certificate: Path) -> None:
    written = (DEPLOY / "haproxy" / "haproxy.cfg").read_text()
    config = tmp_path / "haproxy.cfg"
    config.write_text(written.replace("/etc/haproxy/certs/voice.example.com.pem", str(certificate)))
    done = subprocess.run(
        [str(shutil.which("haproxy", path="/usr/sbin:/usr/bin")), "-c", "-f", config],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "[WARNING]" not in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("haproxy", path="/usr/sbin:/usr/bin") is None, reason="apt-get install haproxy")
async def test_haproxy_repeats_no_request_that_may_have_placed_a_call(tmp_path: Path) -> None:
    seen = list[str]()

    async def end_in_the_middle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A server that is killed with the first request of each kind, and answers the second one."""
        with suppress(asyncio.IncompleteReadError):
            line = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0].decode()
            is_first = "/ready" not in line and line not in seen
            seen.append(line)
            if not is_first:
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    servers = [await asyncio.start_server(end_in_the_middle, "127.0.0.1", 0) for _ in range(2)]
    port, *ports = (closed_port(), *(server.sockets[0].getsockname()[1] for server in servers))
    config = tmp_path / "haproxy.cfg"
    config.write_text(haproxy_configuration(port, ports))
    program = str(shutil.which("haproxy", path="/usr/sbin:/usr/bin"))
    proxy = await asyncio.create_subprocess_exec(
        program, "-db", "-f", config, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        # haproxy closes a connection after an error
        headers = {"Connection": "close"}
        base = f"http://127.0.0.1:{port}/api/v1"
        async with httpx2.AsyncClient(base_url=base, headers=headers, trust_env=False) as client:
            async with asyncio.timeout(30):
                while not [line for line in seen if "/ready" in line]:
                    await asyncio.sleep(0.1)
            key = {"Idempotency-Key": "1"}
            answers = [
                await client.post("/telephony/initiate-call"),
                await client.post("/telephony/initiate-call?again", headers=key),
                await client.post("/telephony/inbound/run"),
                await client.get("/telephony/initiate-call"),
            ]
    finally:
        proxy.kill()
        await proxy.wait()
        for server in servers:
            server.close()
    assert [answer.status_code for answer in answers] == [502, 200, 200, 200]
    assert len([line for line in seen if line.startswith("POST /api/v1/telephony/initiate-call HTTP")]) == 1


def test_haproxy_repeats_every_request_of_a_carrier_and_no_other_post() -> None:
    found = re.search(r"acl of_carrier path_reg (\S+)", (DEPLOY / "haproxy" / "haproxy.cfg").read_text())
    assert found is not None
    routes = [*callbacks.router.routes, *callbacks.carrier_routes(build_remote_carriers(CarrierHttp())).routes]
    theirs = {
        f"/api/v1{route.path}" for route in routes if isinstance(route, APIRoute) and "POST" in (route.methods or ())
    }
    posts = {
        path
        for path, methods in json.loads((TOP / "docs/openapi.json").read_text())["paths"].items()
        if "post" in methods
    }
    assert {path for path in theirs | posts if re.search(found[1], path)} == theirs


@pytest.mark.skipif(shutil.which("nginx", path="/usr/sbin:/usr/bin") is None, reason="apt-get install nginx-light")
def test_nginx_accepts_its_file(tmp_path: Path, certificate: Path) -> None:
    written = (DEPLOY / "nginx" / "offhook.conf").read_text()
    server = tmp_path / "offhook.conf"
    server.write_text(re.sub(r"/etc/ssl/offhook/\w+\.pem", str(certificate), written))
    config = tmp_path / "nginx.conf"
    config.write_text(
        f"pid {tmp_path}/pid; error_log {tmp_path}/error.log; events {{}}\nhttp {{ access_log off; include {server}; }}"
    )
    done = subprocess.run(
        [str(shutil.which("nginx", path="/usr/sbin:/usr/bin")), "-t", "-c", config],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_nginx_refuses_large_bodies_in_our_words() -> None:
    written = (DEPLOY / "nginx" / "offhook.conf").read_text()
    said = re.search(r"error_page 413 @too_large;.*return 413 '(.*)';", written, re.DOTALL)
    assert said is not None
    assert said[1].encode() == edge._TOO_LARGE


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="the machine has no systemd")
@pytest.mark.parametrize("unit", sorted((DEPLOY / "systemd").glob("*.service")), ids=lambda path: path.name)
def test_systemd_knows_every_line_of_the_units(unit: Path) -> None:
    done = subprocess.run(["systemd-analyze", "verify", unit], check=False, capture_output=True, text=True)
    unknown = [line for line in done.stderr.splitlines() if "is not executable" not in line and "offhook" in line]
    assert unknown == []
