"""Models: what thinks, speaks and listens on a call, and what it costs."""

from offhook.models.endpoints import router
from offhook.models.errors import UnknownModel
from offhook.models.ports import ModelSource
from offhook.models.prices import router as prices_router
from offhook.models.registry import ModelRegistry
from offhook.root import Root
from offhook.settings import SettingsError

__all__ = ["ModelRegistry", "register"]


def register(root: Root) -> None:
    """Add the registry and the configuration's read side to the process."""
    registry = ModelRegistry(root.settings)
    try:
        registry.effective()
    except UnknownModel as error:
        raise SettingsError(f"The model settings (OFFHOOK_LLM_*, _TTS_*, _STT_*) do not fit: {error.message}") from None
    root.provide(ModelRegistry, registry)
    root.provide(ModelSource, registry)  # type: ignore[type-abstract]  # found by its port
    root.on_stop.append(registry.close)
    root.api.include_router(router)
    root.api.include_router(prices_router)
