"""``offhook superuser``: superusers of the whole installation."""

from typing import Annotated

import typer

from offhook.commands.console import any_database, load_settings, report_errors, run_async
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.orgs import service as orgs


def register(app: typer.Typer) -> None:
    superuser = typer.Typer(help="People who look after the whole installation.", no_args_is_help=True)
    app.add_typer(superuser, name="superuser")

    @superuser.command()
    def grant(email: Annotated[str, typer.Argument(help="Address of an existing user.")]) -> None:
        """Make a user superuser."""
        with report_errors():
            settings = load_settings()
            with any_database(settings) as url:
                granted = run_async(_grant_superuser(url, email))
        typer.echo(f"{granted} is superuser.")


async def _grant_superuser(url: str, email: str) -> str:
    database = Database(url)
    try:
        await migrations.require_current(database)
        async with database.transaction() as session:
            return (await orgs.grant_superuser(session, email)).email
    finally:
        await database.dispose()
