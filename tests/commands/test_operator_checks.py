"""What stops a start, and what the doctor says about proxies and strangers."""

import resource
import socket
from functools import partial
from pathlib import Path

import pytest

from offhook.commands import storage
from offhook.commands.doctor import (
    check_address,
    check_connections,
    check_proxies,
    check_server,
    check_signup,
    check_storage,
)
from offhook.commands.serve.privileges import describe_user
from offhook.kit.http.server import find_socket_unit
from offhook.kit.processes.descriptors import descriptor_limit, raise_descriptor_limit
from offhook.settings import Settings, SettingsError
from tests.bucket import bucket, closed_port
from tests.commands.conftest import Offhook
from tests.fakes.turn_detector import write_detector

LONG = "0123456789abcdef" * 2


@pytest.mark.parametrize("secret", ["a", "short secret", LONG[:31], f"{LONG},a", ","])
def test_a_short_secret_starts_nothing(secret: str) -> None:
    with pytest.raises(SettingsError, match="OFFHOOK_SECRET_KEY is refused: each key needs at least 32 bytes") as error:
        Settings.load(secret_key=secret)
    assert repr(secret) not in str(error.value)


@pytest.mark.parametrize("secret", [LONG, f"{LONG}, {LONG}x", f"{LONG},", ""])
def test_a_long_secret_or_none(secret: str) -> None:
    assert Settings.load(secret_key=secret).secret_key is not None


@pytest.mark.parametrize(
    ("settings", "status", "words"),
    [
        ({}, "ok", "none is trusted"),
        ({"public_url": "https://voice.example.com"}, "warning", "Set OFFHOOK_TRUSTED_PROXIES"),
        ({"trusted_proxies": "10.0.0.1"}, "ok", "must append to X-Forwarded-For"),
        ({"trusted_proxies": "*"}, "warning", "is trusted from *"),
        ({"trusted_proxies": "10.0.0.1, ::/0"}, "warning", "is trusted from 10.0.0.1, ::/0"),
    ],
)
def test_proxies(settings: dict[str, str], status: str, words: str) -> None:
    proxies = check_proxies(Settings.load(**settings))
    assert (proxies.status, words in proxies.detail) == (status, True)


@pytest.mark.parametrize(
    ("settings", "status", "words"),
    [
        ({}, "ok", "this machine only"),
        ({"public_url": "http://localhost:8480"}, "ok", "http://localhost:8480"),
        ({"public_url": "https://voice.example.com", "host": "0.0.0.0"}, "ok", "https://voice.example.com"),
        ({"host": "0.0.0.0"}, "warning", "0.0.0.0 is reached without TLS"),
        ({"public_url": "http://voice.example.com"}, "warning", "http://voice.example.com is reached without TLS"),
    ],
)
def test_tls(settings: dict[str, str], status: str, words: str) -> None:
    address = check_address(Settings.load(**settings))
    assert (address.status, words in address.detail) == (status, True)


@pytest.mark.parametrize(
    ("sockets", "status", "words"),
    [
        (
            "127.0.0.1:{port}  offhook.socket  offhook.service\n/run/dbus/system_bus_socket dbus.socket dbus.service",
            "ok",
            "systemd (offhook.socket) holds port",
        ),
        ("[::]:{port} voice.socket voice.service", "ok", "systemd (voice.socket) holds port"),
        ("127.0.0.1:1{port} other.socket other.service\n\n", "failed", "cannot be used"),
        ("", "failed", "cannot be used"),
    ],
)
def test_a_port_that_systemd_holds_is_not_taken(tmp_path: Path, sockets: str, status: str, words: str) -> None:
    """With ``offhook.socket`` and a stopped service, the doctor told to stop the other program."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        find = partial(find_socket_unit, list_sockets=lambda: sockets.format(port=port))
        check = check_server(Settings(data_dir=tmp_path, port=port), find)
    assert (check.status, words in check.detail) == (status, True)


def test_without_systemd_no_unit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert find_socket_unit(8480) is None


def test_signup() -> None:
    closed, is_open = check_signup(Settings()), check_signup(Settings(signup_enabled=True))
    assert (closed.status, closed.detail) == ("ok", "by invitation and sign-in link only")
    assert is_open.status == "warning"
    assert is_open.detail.startswith("strangers can request an account")


def test_root() -> None:
    assert describe_user(0)[0] == "warning"
    assert describe_user(10001) == ("ok", "user id 10001, not root")


@pytest.mark.parametrize(
    ("descriptors", "status", "words"),
    [(65_536, "ok", "2000 at once"), (1024, "warning", "512 at once instead of 2000")],
)
def test_connections(descriptors: int, status: str, words: str) -> None:
    check = check_connections(Settings(), descriptors)
    assert (check.status, words in check.detail) == (status, True)


def test_the_limit_of_files_is_raised() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, hard), hard))
    try:
        assert raise_descriptor_limit() == hard
        assert descriptor_limit() == hard
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_bucket_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with bucket() as kept:
        for name, value in kept.variables.items():
            monkeypatch.setenv(name, value)
        settings = Settings(data_dir=tmp_path, storage_url=kept.address)
        found = await check_storage(settings)
        assert (found.status, found.detail) == ("ok", kept.address)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x" * 40)
        found = await check_storage(settings)
        assert (found.status, found.detail.partition(".")[0]) == ("failed", "File storage rejected this server")


async def test_the_folder_on_this_machine_is_named(tmp_path: Path) -> None:
    found = await check_storage(Settings(data_dir=tmp_path))
    assert (found.status, found.detail) == ("ok", 'the folder "files" of the data folder')


async def test_a_bucket_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setattr(storage, "TIMEOUT_S", 1)
    found = await check_storage(Settings(data_dir=tmp_path, storage_url="s3://bucket"))
    assert found.status == "failed"


class TestTurnDetector:
    """A file that is not the one that was named stops a start, before anything else begins."""

    @pytest.mark.parametrize(
        ("sha256", "why"),
        [
            ("0" * 64, "OFFHOOK_TURN_DETECTOR_SHA256 is 0000"),
            ("", "OFFHOOK_TURN_DETECTOR_SHA256 is '': String should match pattern"),
        ],
    )
    def test_another_file_starts_nothing(self, offhook: Offhook, tmp_path: Path, sha256: str, why: str) -> None:
        write_detector(tmp_path / "a.onnx")
        variables = {
            "OFFHOOK_TURN_DETECTOR_FILE": str(tmp_path / "a.onnx"),
            "OFFHOOK_TURN_DETECTOR_SHA256": sha256,
        }
        done = offhook.run("serve", "--port", "0", **variables)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert done.stderr.startswith("offhook: ")
        assert why in done.stderr
        assert not (offhook.data_dir / "postgres").exists()
