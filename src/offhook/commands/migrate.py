"""``offhook migrate``: brings the database to this version's schema."""

from functools import partial

import typer

from offhook.commands.console import run_with_database
from offhook.kit.database import migrations


def register(app: typer.Typer) -> None:
    @app.command()
    def migrate() -> None:
        """Update the database to this version's schema.

        `serve` and `worker` do this on their own for the embedded database, and for another one with
        OFFHOOK_MIGRATE_AT_START=on.
        """
        applied = run_with_database(partial(migrations.upgrade_database, say=typer.echo), requires_current=False)
        typer.echo(
            f"Applied {len(applied)} migrations."
            if applied
            else f"Nothing to do: at migration {migrations.head_revision()}."
        )
