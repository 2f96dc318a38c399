"""What model configuration is in effect; changing it over HTTP comes with the vendors."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from offhook.models.registry import ModelRegistry
from offhook.orgs import CurrentOrg
from offhook.root import use

router = APIRouter(prefix="/organizations/model-configurations/v2", tags=["models"])


class ModelConfigurationResponse(BaseModel):
    """``effective`` is what calls use; ``builtin`` is the offline demonstration."""

    version: Literal[2] = 2
    configuration: dict[str, Any] = {}
    effective: dict[str, dict[str, str]]
    source: Literal["organization", "default"] = "default"


@router.get("", response_model=ModelConfigurationResponse, operation_id="get_model_configurations")
async def get_model_configurations(
    caller: CurrentOrg, registry: Annotated[ModelRegistry, Depends(use(ModelRegistry))]
) -> ModelConfigurationResponse:
    """The models that calls of this organisation use."""
    return ModelConfigurationResponse(effective=registry.effective())
