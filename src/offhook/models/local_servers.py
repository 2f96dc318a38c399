"""Model servers on this machine: known programs and ports, detection, and who may use them."""

import asyncio
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import httpx2

from offhook.kit.egress import EgressPolicy
from offhook.models.vendors import Kind
from offhook.settings import Settings

PROBE_TIMEOUT_S: Final = 0.6
_MAX_LISTED_MODELS: Final = 50
_LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A program that serves OpenAI's format, and its default port."""

    title: str
    port: int
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class DetectedServer:
    """A server that answered; ``kind`` is its purpose. A program may serve several kinds at one address."""

    title: str
    kind: Kind
    base_url: str
    models: tuple[str, ...]


# Ports from each program's documentation. Several share 8000 and 8080: the models they list tell them apart.
KNOWN_SERVERS: Final = (
    LocalServer("Ollama", 11434, ("llm",)),
    LocalServer("LM Studio", 1234, ("llm",)),
    LocalServer("llama.cpp or whisper.cpp", 8080, ("llm", "stt")),
    LocalServer("vLLM or speaches", 8000, ("llm", "stt", "tts")),
    LocalServer("Kokoro-FastAPI", 8880, ("tts",)),
)
_STT_MODEL_NAMES: Final = ("whisper", "parakeet", "moonshine", "canary")
_TTS_MODEL_NAMES: Final = ("kokoro", "tts", "piper", "orpheus", "chatterbox", "xtts")


def kind_of_model(model: str) -> Kind:
    """Returns the kind of a model by its name: these servers list all kinds together."""
    name = model.lower()
    if any(word in name for word in _STT_MODEL_NAMES):
        return "stt"
    return "tts" if any(word in name for word in _TTS_MODEL_NAMES) else "llm"


def are_allowed(settings: Settings) -> bool:
    """Returns True when organizations may use model servers on this machine.

    ``auto``: only while Offhook is reachable from this machine alone, that is when it listens on loopback, has no public
    address, trusts no proxy and takes no requests for accounts. Otherwise an unknown organization could reach the
    services next to the server.
    """
    if settings.local_models != "auto":
        return settings.local_models == "on"
    try:
        is_loopback = settings.host == "localhost" or ipaddress.ip_address(settings.host).is_loopback
    except ValueError:
        is_loopback = False
    is_private = settings.public_url is None and not settings.trusted_proxies.strip() and not settings.signup_enabled
    return is_loopback and is_private


def model_egress_policy(settings: Settings, known: Sequence[LocalServer] = KNOWN_SERVERS) -> EgressPolicy:
    """Returns the egress policy for models: the operator's allowances and, where safe, the known loopback ports."""
    allowed = EgressPolicy.parse(settings.egress_allow)
    if not are_allowed(settings):
        return allowed
    local = {(name, server.port) for server in known for name in _LOOPBACK_NAMES}
    return EgressPolicy(allowed.hosts | local, allowed.networks)


async def detect_servers(known: Sequence[LocalServer] = KNOWN_SERVERS) -> list[DetectedServer]:
    """Returns the servers that answer on loopback now; tries all ports at once for at most 0.6 s."""
    async with httpx2.AsyncClient(timeout=PROBE_TIMEOUT_S, trust_env=False) as client:
        answers = await asyncio.gather(*(_probe_server(client, server) for server in known))
    return [found for answer in answers for found in answer]


async def _probe_server(client: httpx2.AsyncClient, server: LocalServer) -> list[DetectedServer]:
    base_url = f"http://127.0.0.1:{server.port}/v1"
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_S):
            answer = await client.get(f"{base_url}/models")
        body = answer.json() if answer.is_success else None
    except (httpx2.HTTPError, TimeoutError, ValueError, OSError):
        return []
    listed = body.get("data") if isinstance(body, dict) else None
    if not isinstance(listed, list):
        return []
    models = [entry["id"] for entry in listed if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
    by_kind: dict[Kind, list[str]] = {}
    for model in models[:_MAX_LISTED_MODELS]:
        kind = server.kinds[0] if len(server.kinds) == 1 else kind_of_model(model)
        if kind in server.kinds:
            by_kind.setdefault(kind, []).append(model)
    return [DetectedServer(server.title, kind, base_url, tuple(names)) for kind, names in by_kind.items()]
