"""``offhook migrate`` brings the database to this version's schema, ``offhook restored`` beyond the numbers of a lost time."""

from functools import partial
from typing import Annotated, Final

import typer

from offhook.commands.console import CommandError, run_with_database
from offhook.kit.clock import SystemClock
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.nodes import superuser_queries as numbers
from offhook.nodes.superuser_queries import NumberSequence
from offhook.runs.partitions.run_partitions import RunPartitions
from offhook.webhooks.superuser_queries import advance_deliveries

# More than an installation of thousands of calls at once makes in a day.
AHEAD: Final = 1_000_000
_RUNS: Final = "runs_id_seq"


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

    @app.command()
    def restored(
        ahead: Annotated[
            int,
            typer.Option(min=1, help="How many numbers to leave out: more than were given out after the backup."),
        ] = AHEAD,
    ) -> None:
        """Continue the numbers of a restored database beyond those that were given out after its backup.

        Run it before the first process starts on the restored database. Carriers, receivers of webhooks and the bucket
        know the numbers of the runs and events that were lost.
        """

        runs = run_with_database(partial(move_numbers, ahead=ahead))
        typer.echo(
            f"The next run is number {runs.last + ahead + 1}; {runs.last + 1} to {runs.last + ahead} stay unused. All "
            f"other numbers skip {ahead} as well."
        )


async def move_numbers(database: Database, ahead: int) -> NumberSequence:
    """Leaves out ``ahead`` numbers of everything; returns the numbers of runs as they were."""
    async with database.transaction() as session:
        sequences = await numbers.list_sequences(session)
    for sequence in sequences:
        if sequence.last + 2 * ahead > sequence.highest:
            raise CommandError(
                f"{sequence.short_name} has too few numbers left for --ahead {ahead}. Nothing was changed."
            )
    runs = next(sequence for sequence in sequences if sequence.short_name == _RUNS)
    if not await RunPartitions(database, SystemClock()).extend_beyond(runs.last, runs.last + ahead):
        raise CommandError("The tables of calls are in use: stop all processes, then run the command again.")
    async with database.transaction() as session:
        for sequence in sequences:
            await numbers.advance_sequence(session, sequence, sequence.last + ahead)
        await advance_deliveries(session, ahead)
    return runs
