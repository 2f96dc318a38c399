"""The organization's choice of models over HTTP (section 4.7)."""

from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from offhook.kit.database.database import Session
from offhook.kit.http.openapi import error_responses
from offhook.models.configuration import configuration_formats
from offhook.models.configuration.vendor_offers import ModelSettingsService
from offhook.models.schemas import (
    ByokConfiguration,
    ChangeResponse,
    CheckResponse,
    EffectiveModels,
    MigrationPreviewResponse,
    ModelCheckResponse,
    ModelConfigurationBody,
    ModelConfigurationResponse,
    ModelDefaultsResponse,
    VoicePreviewRequest,
)
from offhook.models.service import StoredConfiguration
from offhook.orgs import CurrentOrg, RequireAdmin, RequireMember
from offhook.root import use_service

Models = Annotated[ModelSettingsService, Depends(use_service(ModelSettingsService))]

router = APIRouter(prefix="/organizations/model-configurations/v2", tags=["models"])


@router.get("/defaults", response_model=ModelDefaultsResponse, operation_id="get_model_configuration_defaults")
async def get_defaults(caller: CurrentOrg, models: Models) -> ModelDefaultsResponse:
    """The installation's own choice, every provider with its models, and model servers found on this machine."""
    return await models.installation_defaults()


@router.get("", response_model=ModelConfigurationResponse, operation_id="get_model_configurations")
async def get_model_configurations(caller: CurrentOrg, session: Session, models: Models) -> ModelConfigurationResponse:
    """What the organization has set, keys masked, and what its calls use."""
    return _configuration_response(
        models, await models.configurations.load_configuration(session, caller.organization_id)
    )


@router.put("", response_model=ModelConfigurationResponse, operation_id="put_model_configurations")
async def put_model_configurations(
    body: ModelConfigurationBody, caller: RequireAdmin, session: Session, models: Models
) -> ModelConfigurationResponse:
    """Replaces the configuration. A key that is left out or sent as its mask stays; `null` removes it."""
    sent = _body_services(body)
    await models.configurations.check_addresses(sent)
    return _configuration_response(models, await models.configurations.replace_configuration(session, caller, sent))


@router.post("/check", response_model=ModelCheckResponse, operation_id="check_model_configurations")
async def check_model_configurations(
    caller: RequireAdmin, models: Models, body: ModelConfigurationBody | None = None
) -> ModelCheckResponse:
    """Asks every vendor whether its key works: of the body, which is not stored, or of what is stored."""
    results = await models.check_services(caller, None if body is None else _body_services(body))
    by_kind = {
        kind: [CheckResponse.model_validate(one, from_attributes=True) for one in some]
        for kind, some in results.items()
    }
    return ModelCheckResponse(
        ok=all(one.ok for some in by_kind.values() for one in some),
        **{kind: some[0] for kind, some in by_kind.items()},
        fallbacks={kind: some[1:] for kind, some in by_kind.items()},
    )


@router.post(
    "/voice-preview",
    response_class=Response,
    responses={
        200: {"content": {"audio/wav": {}}, "description": "The sentence in this voice"},
        **error_responses(502, 504),
    },
    operation_id="preview_voice",
)
async def preview_voice(body: VoicePreviewRequest, caller: RequireMember, models: Models) -> Response:
    """A short text in a voice, before it is chosen: WAV, mono. A key or address that is not stored needs an admin."""
    sound = await models.preview_voice(caller, body.voice_service(), body.text)
    return Response(sound, media_type="audio/wav", headers={"Cache-Control": "no-store"})


@router.get("/migration-preview", response_model=MigrationPreviewResponse, operation_id="preview_model_migration")
async def migration_preview(caller: CurrentOrg, session: Session, models: Models) -> MigrationPreviewResponse:
    """What a migration would change; nothing at version 2."""
    preview = await models.configurations.preview_migration(session, caller.organization_id)
    return MigrationPreviewResponse(
        current_version=preview.current_version,
        changes=[ChangeResponse.model_validate(change) for change in preview.changes],
        configuration=configuration_formats.mask_keys(preview.services),
    )


@router.post("/migrate", response_model=ModelConfigurationResponse, operation_id="migrate_model_configurations")
async def migrate(caller: RequireAdmin, session: Session, models: Models) -> ModelConfigurationResponse:
    """Brings the stored configuration to version 2, all or nothing; at version 2 it does nothing."""
    return _configuration_response(models, await models.configurations.migrate(session, caller))


def _body_services(body: Any) -> dict[str, Any]:
    ours = body.to_native() if isinstance(body, ByokConfiguration) else body
    return cast(dict[str, Any], ours.to_services())


def _configuration_response(models: ModelSettingsService, stored: StoredConfiguration) -> ModelConfigurationResponse:
    return ModelConfigurationResponse(
        configuration=configuration_formats.mask_keys(stored.services),
        effective=EffectiveModels.model_validate(models.describe_effective(stored.services)),
        source=stored.source,
    )
