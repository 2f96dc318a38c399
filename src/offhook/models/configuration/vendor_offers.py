"""What the configuration's endpoints ask for that is more than the table: vendors' offers, live checks, local servers."""

from collections.abc import Mapping
from typing import Any, Final, cast

from offhook.errors import Forbidden
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.http.rate_limits import RateLimiter
from offhook.models import local_servers
from offhook.models.configuration.embeddings import EMBEDDING_MODELS
from offhook.models.configuration.embeddings import chosen as chosen_embeddings
from offhook.models.configuration.live_checks import Checked, check_all
from offhook.models.configuration.resolution import of_settings
from offhook.models.configuration.voice_previews import preview
from offhook.models.errors import KeyMissing, UnknownModel
from offhook.models.local_servers import Found
from offhook.models.ports import Tts
from offhook.models.registry import BUILTIN, ModelRegistry
from offhook.models.schemas import ModelDefaultsResponse
from offhook.models.service import OWN, ModelConfigurations, effective
from offhook.models.vendors import KINDS, AnyVendor, Kind
from offhook.orgs import ADMINS, Caller
from offhook.settings import Settings

FRESH_S: Final = 30.0
# A vendor's price for two hundred characters each; nobody compares voices faster.
PREVIEWS_PER_MINUTE: Final = 20


class Configuring:
    """One a process. ``configurations`` is the part that needs a session."""

    def __init__(
        self,
        *,
        settings: Settings,
        registry: ModelRegistry,
        configurations: ModelConfigurations,
        db: Database,
        clock: Clock,
    ) -> None:
        self.configurations = configurations
        self._settings = settings
        self._registry = registry
        self._db = db
        self._clock = clock
        self._limiter = RateLimiter(clock, limit=20, window_s=60)
        self._previews = RateLimiter(clock, limit=PREVIEWS_PER_MINUTE, window_s=60)
        self._found: list[Found] = []
        self._found_at = float("-inf")

    def effective(self, services: Mapping[str, Any]) -> dict[str, Any]:
        """What calls use, kind by kind, with who takes over."""
        try:
            chosen = self.configurations.chosen(services)
        except UnknownModel:  # stored long ago and withdrawn since: calls are answered by the installation's choice
            chosen = self._registry.installed()
        shown = {
            kind: [effective(choice) for choice in self._registry.with_offline(choices, kind)]
            for kind, choices in chosen.by_kind.items()
        }
        first: dict[str, Any] = {kind: listed[0] for kind, listed in shown.items()}
        fallbacks = {kind: listed[1:] for kind, listed in shown.items()}
        return {**first, "embeddings": _embeddings(services), "fallbacks": fallbacks}

    async def defaults(self) -> ModelDefaultsResponse:
        catalogue = self._registry.catalogue
        installed = self._registry.installed()
        return ModelDefaultsResponse.model_validate(
            {
                "configuration": {kind: _public(part) for kind, part in of_settings(self._settings).items()},
                "effective": self.effective({}),
                "providers": {kind: [_offer(vendor) for vendor in catalogue.all(kind)] for kind in KINDS},
                "default_providers": {
                    **{kind: choices[0].provider for kind, choices in installed.by_kind.items()},
                    "embeddings": BUILTIN,
                },
                "embeddings": {provider: list(models) for provider, models in EMBEDDING_MODELS.items()},
                "local_servers": [_local(found) for found in await self._local_servers()],
            }
        )

    async def check(self, caller: Caller, sent: Mapping[str, Any] | None) -> Mapping[Kind, list[Checked]]:
        """Ask the vendors; no transaction is open meanwhile. TooManyRequests (429), errors as of ``put``."""
        self._limiter.spend(str(caller.organization_id))
        async with self._db.transaction() as session:
            stored = await self.configurations.stored(session, caller.organization_id)
        services: Mapping[str, Any] = stored.services
        if sent is not None:
            services = self.configurations.completed(sent, services)
            await self.configurations.check_addresses(services)
        return await check_all(self._registry.catalogue, self.configurations.chosen(services))

    async def preview(self, caller: Caller, service: Mapping[str, Any], text: str) -> bytes:
        """A WAV of ``text`` in the voice of ``service``; see ``ModelConfigurations.voice``.

        No transaction is open meanwhile. Forbidden (403) for an own key or address of who may not configure any;
        TooManyRequests (429), VoiceFailed (502), VoiceTimedOut (504), errors as of ``put``.
        """
        if caller.role not in ADMINS and not OWN.isdisjoint(service):
            raise Forbidden("Only an admin may try a voice with another key or address.")
        self._previews.spend(str(caller.organization_id))
        async with self._db.transaction() as session:
            stored = await self.configurations.stored(session, caller.organization_id)
        choice = self.configurations.voice(service, stored.services)
        if "base_url" in service:
            await self.configurations.check_addresses({"tts": service})
        return await preview(cast(Tts, self._registry.port(choice)), text)

    async def _local_servers(self) -> list[Found]:
        now = self._clock.now().timestamp()
        if local_servers.are_allowed(self._settings) and now - self._found_at > FRESH_S:
            self._found, self._found_at = await local_servers.find(), now
        return self._found


def _embeddings(services: Mapping[str, Any]) -> dict[str, Any]:
    try:
        choice = chosen_embeddings(services)
    except (UnknownModel, KeyMissing):
        choice = chosen_embeddings({})
    shown = {"provider": choice.provider, "model": choice.model, "has_key": bool(choice.api_key)}
    return {**shown, "base_url": choice.base_url} if choice.base_url else shown


def _public(service: Mapping[str, Any]) -> dict[str, Any]:
    """The operator's keys and addresses are nobody else's business."""
    return {name: value for name, value in service.items() if name not in ("api_key", "base_url")}


def _offer(vendor: AnyVendor) -> dict[str, Any]:
    return {
        "provider": vendor.provider,
        "title": vendor.title,
        "models": [{"id": model.id, "context_tokens": model.context_tokens or None} for model in vendor.models],
        "voices": [
            {"id": voice.id, "title": voice.title, "languages": list(voice.languages)} for voice in vendor.voices
        ],
        "takes_other_voices": vendor.accepts_voice is not None,
        "languages": list(vendor.languages),
        "speed_range": vendor.speeds,
        "needs_key": vendor.needs_key,
        "takes_base_url": vendor.takes_base_url,
        "takes_any_model": vendor.takes_any_model,
    }


def _local(found: Found) -> dict[str, Any]:
    service = {"provider": "openai", "base_url": found.base_url, "model": found.models[0]}
    return {
        "title": found.title,
        "kind": found.kind,
        "base_url": found.base_url,
        "models": list(found.models),
        "service": service,
    }
