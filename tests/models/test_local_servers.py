"""Model servers on this machine: found by their ports, told apart by their models, allowed where that is safe."""

from typing import Any

import pytest

from offhook.kit.egress import AddressRefused, EgressClient
from offhook.models.local_servers import (
    KNOWN_SERVERS,
    LocalServer,
    are_allowed,
    detect_servers,
    kind_of_model,
    model_egress_policy,
)
from offhook.models.vendors import Kind
from offhook.settings import Settings
from offhook_lab.openai_server import ScriptedAnswer, serve_openai


def port_of(base_url: str) -> int:
    return int(base_url.rpartition(":")[2].partition("/")[0])


async def test_who_answers_is_found_with_what_its_models_are_for() -> None:
    models = ("qwen3-8b", "Systran/faster-whisper-small", "hexgrad/Kokoro-82M")
    async with (
        serve_openai([ScriptedAnswer("Hi.")], models=models) as server,
        serve_openai([], models=("llama3.2",)) as ollama,
    ):
        speaches = LocalServer("speaches", port_of(server.base_url), ("stt", "tts"))
        found = await detect_servers([LocalServer("Ollama", port_of(ollama.base_url), ("llm",)), speaches])
    assert [(one.title, one.kind, one.models) for one in found] == [
        ("Ollama", "llm", ("llama3.2",)),
        ("speaches", "stt", ("Systran/faster-whisper-small",)),
        ("speaches", "tts", ("hexgrad/Kokoro-82M",)),
    ]
    assert found[0].base_url == ollama.base_url


async def test_nobody_there_and_somebody_else_there() -> None:
    async with serve_openai([], api_key="secret") as other:
        assert (
            await detect_servers(
                [LocalServer("None", 1, ("llm",)), LocalServer("Other", port_of(other.base_url), ("llm",))]
            )
            == []
        )


@pytest.mark.parametrize(
    ("model", "kind"), [("llama3.2", "llm"), ("whisper-1", "stt"), ("kokoro", "tts"), ("piper-de", "tts")]
)
def test_what_a_model_is_for(model: str, kind: Kind) -> None:
    assert kind_of_model(model) == kind


@pytest.mark.parametrize(
    ("settings", "is_allowed"),
    [
        ({}, True),
        ({"host": "::1"}, True),
        ({"host": "localhost"}, True),
        ({"host": "0.0.0.0"}, False),
        ({"host": "offhook.internal"}, False),
        ({"public_url": "https://calls.example.com"}, False),
        ({"public_url": "https://calls.example.com", "local_models": "on"}, True),
        ({"trusted_proxies": "127.0.0.1"}, False),
        ({"signup_enabled": True}, False),
        ({"local_models": "off"}, False),
    ],
)
def test_only_where_nobody_else_reaches_offhook(settings: dict[str, Any], is_allowed: bool) -> None:
    assert are_allowed(Settings(**settings)) is is_allowed


async def test_the_known_ports_of_loopback_and_nothing_else() -> None:
    egress = EgressClient(model_egress_policy(Settings()))
    for server in KNOWN_SERVERS:
        await egress.check_url(f"http://127.0.0.1:{server.port}/v1")
        await egress.check_url(f"http://localhost:{server.port}/v1")
    for refused in (
        "http://127.0.0.1:8480/",
        "http://127.0.0.1:5432/",
        "http://10.0.0.1:11434/",
        "http://169.254.169.254/",
    ):
        with pytest.raises(AddressRefused):
            await egress.check_url(refused)
    with pytest.raises(AddressRefused):
        await EgressClient(model_egress_policy(Settings(local_models="off"))).check_url("http://127.0.0.1:11434/v1")
