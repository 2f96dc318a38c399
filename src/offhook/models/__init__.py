"""Models: the language models, voices and recognizers of a call, and their prices."""

from offhook.kit.crypto import Keyring
from offhook.kit.egress import EgressClient
from offhook.models import local_servers
from offhook.models.configuration.vendor_offers import ModelSettingsService
from offhook.models.edge_reading import EdgeReader
from offhook.models.endpoints import router
from offhook.models.errors import UnknownModel
from offhook.models.organization_models import OrganizationModels
from offhook.models.ports import ModelSource
from offhook.models.prices import BillingPolicy, InstallationBillingPolicy
from offhook.models.prices import router as prices_router
from offhook.models.registry import ModelRegistry
from offhook.models.sentence_encoder import SentenceEncoder
from offhook.models.service import ModelConfigurationStore
from offhook.models.services import ModelServices
from offhook.models.voice_packs.endpoints import router as voice_packs_router
from offhook.models.voice_packs.pack_service import VoicePackService
from offhook.root import Root
from offhook.settings import SettingsError

__all__ = ["EdgeReader", "ModelConfigurationStore", "ModelRegistry", "SentenceEncoder", "register"]


def register(root: Root) -> None:
    """Registers vendors, model configurations and the models of calls with the process."""
    settings = root.settings
    egress = root.get(EgressClient)
    if local_servers.are_allowed(settings):
        egress = EgressClient(local_servers.model_egress_policy(settings))
        root.on_stop.append(egress.aclose)
    sentences, edges = SentenceEncoder(), EdgeReader()
    root.provide(SentenceEncoder, sentences)
    root.provide(EdgeReader, edges)
    registry = ModelRegistry(settings, egress=egress, embed_sentences=sentences, read_edges=edges)
    try:
        registry.installed_models()
    except UnknownModel as error:
        raise SettingsError(
            f"The model settings (OFFHOOK_LLM_*, _TTS_*, _STT_*) are invalid: {error.message}"
        ) from None
    configurations = ModelConfigurationStore(registry, root.get(Keyring), egress)
    configuring = ModelSettingsService(
        settings=settings,
        registry=registry,
        configurations=configurations,
        db=root.db,
        clock=root.clock,
        billing=lambda: root.get(BillingPolicy),  # type: ignore[type-abstract]  # found by its port
    )
    packs = VoicePackService(settings, root.db, root.clock)
    root.on_stop.append(packs.close)
    root.provide(ModelServices, ModelServices(registry, configurations, configuring, packs))
    # for other domains
    root.provide(ModelConfigurationStore, configurations)
    source = OrganizationModels(
        registry,
        configurations,
        root.db,
        lambda: root.get(BillingPolicy),  # type: ignore[type-abstract]  # replaced by the runs domain
    )
    root.provide(OrganizationModels, source)
    root.provide(ModelSource, source)  # type: ignore[type-abstract]  # found by its port
    root.on_stop.append(registry.close)
    root.provide(BillingPolicy, InstallationBillingPolicy())  # type: ignore[type-abstract]  # found by its port
    root.api.include_router(router)
    root.api.include_router(prices_router)
    root.api.include_router(voice_packs_router)
