"""``offhook superuser``: superusers of the installation."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from offhook.commands.console import run_with_database
from offhook.kit.database.database import Database
from offhook.orgs.people import superusers


def register(app: typer.Typer) -> None:
    superuser = typer.Typer(help="Manage the people who administer this installation.", no_args_is_help=True)
    app.add_typer(superuser, name="superuser")

    @superuser.command()
    def grant(email: Annotated[str, typer.Argument(help="Email address of an existing user.")]) -> None:
        """Make a user a superuser."""

        async def grant_superuser(database: Database) -> str:
            async with database.transaction() as session:
                return (await superusers.grant_superuser(session, email)).email

        typer.echo(f"{run_with_database(grant_superuser)} is a superuser.")

    @superuser.command()
    def revoke(email: Annotated[str, typer.Argument(help="Email address of a superuser.")]) -> None:
        """End a superuser's access and the impersonated sessions that they opened."""

        async def revoke_superuser(database: Database) -> str:
            async with database.transaction() as session:
                return (await superusers.revoke_superuser(session, email, datetime.now(UTC))).email

        typer.echo(f"{run_with_database(revoke_superuser)} is no longer a superuser.")

    @superuser.command("list")
    def list_addresses() -> None:
        """List the superusers."""

        async def list_superusers(database: Database) -> list[str]:
            async with database.transaction() as session:
                return [user.email for user in await superusers.list_superusers(session)]

        for address in run_with_database(list_superusers):
            typer.echo(address)
