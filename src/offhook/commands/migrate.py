"""``offhook migrate``: brings the database to this version's schema."""

import typer

from offhook.commands.console import any_database, load_settings, report_errors, run_async
from offhook.kit.database import migrations
from offhook.kit.database.database import Database


def register(app: typer.Typer) -> None:
    @app.command()
    def migrate() -> None:
        """Bring the database to this version's schema. `serve` and `worker` do it by themselves at start."""
        with report_errors():
            settings = load_settings()
            with any_database(settings) as url:
                applied = run_async(_migrate(url))
        typer.echo(
            f"Applied {len(applied)} migrations."
            if applied
            else f"Nothing to do: at migration {migrations.head_revision()}."
        )


async def _migrate(url: str) -> list[str]:
    database = Database(url)
    try:
        return await migrations.upgrade_database(database, typer.echo)
    finally:
        await database.dispose()
