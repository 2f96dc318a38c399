"""``offhook keys``: API keys without a browser."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from offhook.commands.console import load_settings, run_with_database
from offhook.kit.database.database import Database
from offhook.nodes import installation
from offhook.orgs import keyring_of
from offhook.orgs import service as orgs
from offhook.orgs.api_keys.keys import create_key_by_command


class ApiKeyRole(StrEnum):
    admin = "admin"
    member = "member"
    viewer = "viewer"


def register(app: typer.Typer) -> None:
    keys = typer.Typer(help="Manage an organization's API keys.", no_args_is_help=True)
    app.add_typer(keys, name="keys")

    @keys.command()
    def create(
        org: Annotated[str, typer.Option(help="The organization, by number or name.")] = orgs.DEFAULT_ORGANIZATION,
        role: Annotated[ApiKeyRole, typer.Option(help="The role of the key.")] = ApiKeyRole.admin,
        name: Annotated[str, typer.Option(help="What the key is for.")] = "Command line",
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    ) -> None:
        """Create an API key and print it. It is never shown again."""

        async def create_key(database: Database) -> dict[str, object]:
            async with database.transaction() as session:
                organization = await orgs.find_organization(session, org)
                new = await create_key_by_command(session, organization.id, name, role.value)
                return {
                    "id": new.record.id,
                    "organization_id": organization.id,
                    "name": new.record.name,
                    "role": new.record.role,
                    "prefix": new.record.prefix,
                    "key": new.key,
                }

        made = run_with_database(create_key)
        typer.echo(json.dumps(made) if as_json else made["key"])

    @keys.command()
    def adopt() -> None:
        """Use this process's secret key instead of one that was lost. Secrets sealed with the old key must be entered
        again."""
        keyring = keyring_of(load_settings())

        async def accept_key(database: Database) -> bool:
            return await installation.accept_secret_key(database, keyring)

        changed = run_with_database(accept_key)
        typer.echo(
            "This secret key is the installation's now. Enter stored credentials again: the old key sealed them."
            if changed
            else "This secret key is the installation's already."
        )
