"""The services of models, built once per process by ``register`` and passed to requests by one dependency."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from offhook.models.configuration.vendor_offers import ModelSettingsService
from offhook.models.registry import ModelRegistry
from offhook.models.service import ModelConfigurationStore
from offhook.models.voice_packs.pack_service import VoicePackService
from offhook.root import use_service


@dataclass(frozen=True, slots=True)
class ModelServices:
    """The services that the endpoints of models use."""

    registry: ModelRegistry
    configurations: ModelConfigurationStore
    settings: ModelSettingsService
    voice_packs: VoicePackService


Services = Annotated[ModelServices, Depends(use_service(ModelServices))]
