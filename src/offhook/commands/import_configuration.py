"""``offhook import FILE``: imports an organization's model configuration, in any past or present format."""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from offhook.bootstrap import build_root, stop_domains
from offhook.commands.console import CommandError, load_settings, report_errors
from offhook.commands.database import any_database, open_database
from offhook.kit.database import migrations
from offhook.kit.json_values import JsonObject
from offhook.models import ModelConfigurationStore
from offhook.models.configuration.configuration_formats import FLAT_FIELDS
from offhook.models.schemas import ByokConfiguration, ModelConfigurationBody
from offhook.orgs import Caller
from offhook.orgs import service as orgs
from offhook.settings import Settings

_BODY: TypeAdapter[Any] = TypeAdapter(ModelConfigurationBody)
MAX_FILE_BYTES = 1_000_000


def register(app: typer.Typer) -> None:
    @app.command("import")
    def import_(
        file: Annotated[
            Path, typer.Argument(help="A JSON file with the settings at its top level or in `model_configuration`.")
        ],
        org: Annotated[str, typer.Option(help="The organization, by number or name.")] = orgs.DEFAULT_ORGANIZATION,
    ) -> None:
        """Import a model configuration. Flat keys (format 1) are stored as they are until they are migrated."""
        with report_errors():
            configuration = _read_configuration(file)
            settings = load_settings()
            with any_database(settings) as url:
                version = asyncio.run(_import_configuration(settings, url, org, configuration))
        typer.echo(f"Imported the model configuration of {org!r} (format {version}).")


def _read_configuration(file: Path) -> JsonObject:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise CommandError(f"{file} is larger than {MAX_FILE_BYTES // 1_000_000} MB.")
        content = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise CommandError(f"Cannot read {file}: {error.strerror or error}.") from None
    except ValueError as error:
        raise CommandError(f"{file} is not valid JSON: {error}.") from None
    configuration = content.get("model_configuration", content) if isinstance(content, dict) else None
    if not isinstance(configuration, dict) or not configuration:
        raise CommandError(f"{file} contains no model configuration.")
    return configuration


async def _import_configuration(settings: Settings, url: str, org: str, configuration: JsonObject) -> int:
    root = build_root(settings, open_database(settings, url))
    try:
        await migrations.require_current(root.db)
        models = root.get(ModelConfigurationStore)
        async with root.db.transaction() as session:
            organization = await orgs.find_organization(session, org)
            caller = Caller.system(organization.id, role="owner")
            if configuration.get("version") == 1 or any(name in FLAT_FIELDS for name in configuration):
                return (await models.put_flat(session, caller, _validate_flat(configuration))).version
            return (
                await models.replace_configuration(
                    session, caller, _validate_services(configuration), action="models.imported"
                )
            ).version
    finally:
        await stop_domains(root)
        await root.db.dispose()


def _validate_flat(configuration: JsonObject) -> JsonObject:
    flat = {name: value for name, value in configuration.items() if name != "version"}
    wrong = [
        name
        for name, value in flat.items()
        if name not in FLAT_FIELDS or not isinstance(value, str | int | float | None)
    ]
    if wrong:
        raise CommandError(
            f"Format 1 does not support {', '.join(sorted(wrong))}. Supported fields: {', '.join(FLAT_FIELDS)}."
        )
    return flat


def _validate_services(configuration: JsonObject) -> JsonObject:
    try:
        body = _BODY.validate_python(configuration)
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(part) for part in first["loc"])
        raise CommandError(f"The model configuration is invalid at {at}: {first['msg']}.") from None
    ours = body.to_native() if isinstance(body, ByokConfiguration) else body
    services: JsonObject = ours.to_services()
    return services
