"""Model configurations over HTTP."""

from typing import Any, cast

from fastapi.responses import Response

from offhook.kit.database.database import Session
from offhook.kit.http.openapi import error_responses
from offhook.kit.http.routing import Router
from offhook.kit.json_values import JsonObject
from offhook.models.configuration import configuration_formats
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
from offhook.models.services import ModelServices, Services
from offhook.orgs import CurrentOrg, RequireAdmin, RequireMember

router = Router(prefix="/organizations/model-configurations/v2", tags=["models"])


@router.get("/defaults", response_model=ModelDefaultsResponse, operation_id="get_model_configuration_defaults")
async def get_defaults(caller: CurrentOrg, models: Services) -> ModelDefaultsResponse:
    """Returns the installation's defaults, every provider with its models, and model servers found on this machine."""
    return await models.settings.installation_defaults()


@router.get("", response_model=ModelConfigurationResponse, operation_id="get_model_configurations")
async def get_model_configurations(
    caller: CurrentOrg, session: Session, models: Services
) -> ModelConfigurationResponse:
    """Returns the organization's configuration with masked keys, and the models that its calls use."""
    return _configuration_response(
        models, await models.configurations.load_configuration(session, caller.organization_id)
    )


@router.put("", response_model=ModelConfigurationResponse, operation_id="put_model_configurations")
async def put_model_configurations(
    body: ModelConfigurationBody, caller: RequireAdmin, session: Session, models: Services
) -> ModelConfigurationResponse:
    """Replaces the configuration. An omitted or masked key keeps its value; `null` removes it."""
    sent = _body_services(body)
    await models.configurations.check_addresses(sent)
    return _configuration_response(models, await models.configurations.replace_configuration(session, caller, sent))


@router.post("/check", response_model=ModelCheckResponse, operation_id="check_model_configurations")
async def check_model_configurations(
    caller: RequireAdmin, models: Services, body: ModelConfigurationBody | None = None
) -> ModelCheckResponse:
    """Checks the keys with every vendor: those of the body, which is not stored, or the stored ones."""
    results = await models.settings.check_services(caller, None if body is None else _body_services(body))
    by_kind = {
        kind: [CheckResponse.model_validate(one, from_attributes=True) for one in some]
        for kind, some in results.items()
    }
    return ModelCheckResponse(
        ok=all(one.ok for some in by_kind.values() for one in some),
        **{kind: some[0] for kind, some in by_kind.items()},
        fallbacks={kind: some[1:] for kind, some in by_kind.items() if kind != "realtime"},
    )


@router.post(
    "/voice-preview",
    response_class=Response,
    responses={
        200: {"content": {"audio/wav": {}}, "description": "The text in this voice"},
        **error_responses(502, 504),
    },
    operation_id="preview_voice",
)
async def preview_voice(body: VoicePreviewRequest, caller: RequireMember, models: Services) -> Response:
    """Speaks a short text in a voice: WAV, mono. Keys and addresses that are not stored require the admin role."""
    sound = await models.settings.preview_voice(caller, body.voice_service(), body.text)
    return Response(sound, media_type="audio/wav", headers={"Cache-Control": "no-store"})


@router.get("/migration-preview", response_model=MigrationPreviewResponse, operation_id="preview_model_migration")
async def migration_preview(caller: CurrentOrg, session: Session, models: Services) -> MigrationPreviewResponse:
    """Returns what a migration would change; nothing at version 2."""
    preview = await models.configurations.preview_migration(session, caller.organization_id)
    return MigrationPreviewResponse(
        current_version=preview.current_version,
        changes=[ChangeResponse.model_validate(change) for change in preview.changes],
        configuration=configuration_formats.mask_keys(preview.services),
    )


@router.post("/migrate", response_model=ModelConfigurationResponse, operation_id="migrate_model_configurations")
async def migrate(caller: RequireAdmin, session: Session, models: Services) -> ModelConfigurationResponse:
    """Migrates the stored configuration to version 2; does nothing at version 2."""
    return _configuration_response(models, await models.configurations.migrate(session, caller))


def _body_services(body: Any) -> JsonObject:
    ours = body.to_native() if isinstance(body, ByokConfiguration) else body
    return cast(JsonObject, ours.to_services())


def _configuration_response(models: ModelServices, stored: StoredConfiguration) -> ModelConfigurationResponse:
    return ModelConfigurationResponse(
        configuration=configuration_formats.mask_keys(stored.services),
        effective=EffectiveModels.model_validate(models.settings.describe_effective(stored.services)),
        source=stored.source,
    )
