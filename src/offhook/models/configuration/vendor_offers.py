"""Services behind the configuration's endpoints beyond the table: vendors' offers, live checks, local servers."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from offhook.errors import Forbidden
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.http.rate_limits import RateLimiter
from offhook.models import local_servers
from offhook.models.configuration.embeddings import EMBEDDING_MODELS, resolve_embedding_choice
from offhook.models.configuration.live_checks import AccessCheckResult, check_all
from offhook.models.configuration.resolution import services_from_settings
from offhook.models.configuration.voice_previews import render_preview
from offhook.models.errors import KeyMissing, UnknownModel
from offhook.models.local_servers import DetectedServer
from offhook.models.ports import Tts
from offhook.models.prices import BillingPolicy
from offhook.models.registry import BUILTIN, ModelRegistry
from offhook.models.schemas import ModelDefaultsResponse
from offhook.models.service import ADMIN_ONLY_FIELDS, ModelConfigurationStore, describe_choice
from offhook.models.vendors import ALL_KINDS, AnyVendor, Kind
from offhook.orgs import ADMINS, Caller
from offhook.settings import Settings

LOCAL_SERVERS_TTL_S: Final = 30.0
# Each preview costs a vendor's price for 200 characters; a person comparing voices stays below this rate.
MAX_PREVIEWS_PER_MINUTE: Final = 20


class ModelSettingsService:
    """Vendors' offers, live checks and previews. One per process; only ``configurations`` needs a session."""

    def __init__(
        self,
        *,
        settings: Settings,
        registry: ModelRegistry,
        configurations: ModelConfigurationStore,
        db: Database,
        clock: Clock,
        billing: Callable[[], BillingPolicy],
    ) -> None:
        self._billing = billing
        self.configurations = configurations
        self._settings = settings
        self._registry = registry
        self._db = db
        self._clock = clock
        self._limiter = RateLimiter(clock, limit=20, window_s=60)
        self._previews = RateLimiter(clock, limit=MAX_PREVIEWS_PER_MINUTE, window_s=60)
        self._known_servers: list[DetectedServer] = []
        self._known_servers_at = float("-inf")

    def describe_effective(self, services: Mapping[str, Any]) -> dict[str, object]:
        """Describes the models that calls use, kind by kind, with their fallbacks."""
        try:
            chosen = self.configurations.resolve_models(services)
        except UnknownModel:  # stored earlier and since withdrawn: calls use the installation's choice
            chosen = self._registry.installed_models()
        shown = {
            kind: [describe_choice(choice) for choice in self._registry.with_offline(choices, kind)]
            for kind, choices in chosen.by_kind.items()
        }
        first: dict[str, object] = {kind: listed[0] for kind, listed in shown.items()}
        if chosen.realtime is not None:
            first |= {"realtime": describe_choice(chosen.realtime), "is_realtime": True}
        fallbacks = {kind: listed[1:] for kind, listed in shown.items()}
        return {**first, "embeddings": _describe_embeddings(services), "fallbacks": fallbacks}

    async def installation_defaults(self) -> ModelDefaultsResponse:
        catalog = self._registry.catalog
        installed = self._registry.installed_models()
        # without the operator's keys and addresses, which users must not see
        public = {
            kind: {name: value for name, value in service.items() if name not in ("api_key", "base_url")}
            for kind, service in services_from_settings(self._settings).items()
        }
        return ModelDefaultsResponse.model_validate(
            {
                "configuration": public,
                "effective": self.describe_effective({}),
                "providers": {
                    kind: [_describe_vendor(vendor) for vendor in catalog.list_vendors(kind) if vendor.models]
                    for kind in ALL_KINDS
                },
                "default_providers": {
                    **{kind: choices[0].provider for kind, choices in installed.by_kind.items()},
                    "embeddings": BUILTIN,
                },
                "embeddings": {provider: list(models) for provider, models in EMBEDDING_MODELS.items()},
                "local_servers": [_describe_local_server(found) for found in await self._probe_local_servers()],
            }
        )

    async def check_services(
        self, caller: Caller, sent: Mapping[str, Any] | None
    ) -> Mapping[Kind, list[AccessCheckResult]]:
        """Asks the vendors with no transaction open. Raises TooManyRequests (429) and the errors of ``put``."""
        self._limiter.spend(str(caller.organization_id))
        async with self._db.transaction() as session:
            stored = await self.configurations.load_configuration(session, caller.organization_id)
        services: Mapping[str, Any] = stored.services
        if sent is not None:
            services = self.configurations.complete_services(sent, services)
            await self.configurations.check_addresses(services)
        return await check_all(self._registry.catalog, self.configurations.resolve_models(services))

    async def preview_voice(self, caller: Caller, service: Mapping[str, Any], text: str) -> bytes:
        """Returns a WAV of ``text`` in the voice of ``service``; see ``ModelConfigurationStore.resolve_voice``.

        No transaction is open during synthesis. Raises Forbidden (403) for an own key or address from a user who may
        not configure any; OutOfCredit and DailySpendLimitReached (402), TooManyRequests (429), VoiceFailed (502), VoiceTimedOut (504) and the errors of ``put``.
        """
        if caller.role not in ADMINS and not ADMIN_ONLY_FIELDS.isdisjoint(service):
            raise Forbidden("Only admins can test a voice with a different key or address.")
        self._previews.spend(str(caller.organization_id))
        async with self._db.transaction() as session:
            stored = await self.configurations.load_configuration(session, caller.organization_id)
        choice = self.configurations.resolve_voice(service, stored.services)
        if "base_url" in service:
            await self.configurations.check_addresses({"tts": service})
        async with self._db.transaction() as session:
            await self._billing().charge_request(session, caller.organization_id, "Voice preview")
        return await render_preview(cast(Tts, self._registry.port_for(choice)), text)

    async def _probe_local_servers(self) -> list[DetectedServer]:
        now = self._clock.now().timestamp()
        if local_servers.are_allowed(self._settings) and now - self._known_servers_at > LOCAL_SERVERS_TTL_S:
            self._known_servers, self._known_servers_at = await local_servers.detect_servers(), now
        return self._known_servers


def _describe_embeddings(services: Mapping[str, Any]) -> dict[str, object]:
    try:
        choice = resolve_embedding_choice(services)
    except (UnknownModel, KeyMissing):
        choice = resolve_embedding_choice({})
    shown = {"provider": choice.provider, "model": choice.model, "has_key": bool(choice.api_key)}
    return {**shown, "base_url": choice.base_url} if choice.base_url else shown


def _describe_vendor(vendor: AnyVendor) -> dict[str, object]:
    return {
        "provider": vendor.provider,
        "title": vendor.title,
        "models": [{"id": model.id, "context_tokens": model.context_tokens or None} for model in vendor.models],
        "voices": [
            {"id": voice.id, "title": voice.title, "languages": list(voice.languages)}
            # Several packs may have a speaker of one name.
            for voice in {each.id: each for each in vendor.voices}.values()
        ],
        "takes_other_voices": vendor.accepts_voice is not None,
        "languages": list(vendor.languages),
        "speed_range": vendor.speeds,
        "needs_key": vendor.needs_key,
        "takes_base_url": vendor.takes_base_url,
        "takes_any_model": vendor.takes_any_model,
        "needs_access_key_id": vendor.needs_access_key_id,
        "regions": list(vendor.regions),
    }


def _describe_local_server(found: DetectedServer) -> dict[str, object]:
    service = {"provider": "openai", "base_url": found.base_url, "model": found.models[0]}
    return {
        "title": found.title,
        "kind": found.kind,
        "base_url": found.base_url,
        "models": list(found.models),
        "service": service,
    }
