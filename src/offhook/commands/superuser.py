"""``offhook superuser``: superusers of the whole installation."""

from typing import Annotated

import typer

from offhook.commands.console import run_with_database
from offhook.kit.database.database import Database
from offhook.orgs import service as orgs


def register(app: typer.Typer) -> None:
    superuser = typer.Typer(help="People who look after the whole installation.", no_args_is_help=True)
    app.add_typer(superuser, name="superuser")

    @superuser.command()
    def grant(email: Annotated[str, typer.Argument(help="Address of an existing user.")]) -> None:
        """Make a user superuser."""

        async def grant_superuser(database: Database) -> str:
            async with database.transaction() as session:
                return (await orgs.grant_superuser(session, email)).email

        typer.echo(f"{run_with_database(grant_superuser)} is superuser.")
