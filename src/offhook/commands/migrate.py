"""``offhook migrate``: brings the database to this version's schema."""

import typer

from offhook.commands.console import any_database, load_settings, one_sentence, run
from offhook.kit.database import migrations
from offhook.kit.database.database import Database


def register(app: typer.Typer) -> None:
    @app.command()
    def migrate() -> None:
        """Bring the database to this version's schema. `serve` and `worker` do it by themselves at start."""
        with one_sentence():
            settings = load_settings()
            with any_database(settings) as url:
                applied = run(_migrate(url))
        typer.echo(
            f"Applied {len(applied)} migrations." if applied else f"Nothing to do: at migration {migrations.head()}."
        )


async def _migrate(url: str) -> list[str]:
    database = Database(url)
    try:
        return await migrations.upgrade(database, typer.echo)
    finally:
        await database.dispose()
