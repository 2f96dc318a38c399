"""``offhook replay``: a call played again from its journal, with its own version or another one."""

import json
from typing import Annotated

import typer

from offhook.commands.console import EXIT_FAILED, load_settings, run_with_database
from offhook.commands.encryption import load_keyring
from offhook.kit.clock import SystemClock
from offhook.kit.database.database import Database
from offhook.orgs.data_keys.keys import DataKeys
from offhook.runs.journals.call_journals import CallJournals
from offhook.scenarios.replays.service import RunReplay, load_replayable, replay_run

VersionOption = Annotated[int | None, typer.Option(help="Play it with the version of this number.", min=1)]
DraftOption = Annotated[bool, typer.Option("--draft", help="Play it with the draft.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print only one JSON object.")]


def register(app: typer.Typer) -> None:
    @app.command()
    def replay(
        run_id: Annotated[int, typer.Argument(metavar="RUN", help="The run of the call.")],
        version: VersionOption = None,
        draft: DraftOption = False,
        is_json: JsonOption = False,
    ) -> None:
        """Play a call again from its journal, without models and tools. Nothing is stored.

        With its own version it must be the same, byte for byte; with another one, the first difference is printed.
        Exit codes: 0 the same call, 1 a difference, or no replay is possible, 2 bad input.
        """
        if draft and version is not None:
            raise typer.BadParameter("provide either --draft or --version")
        settings = load_settings()

        async def play(database: Database) -> RunReplay:
            keys = DataKeys(load_keyring(settings))
            journals = CallJournals(database, keys, SystemClock(), max_kb=settings.call_journal_kb)
            async with database.transaction() as session:
                replayable = await load_replayable(session, journals, run_id, number=version, is_draft=draft)
            return await replay_run(replayable)

        result = run_with_database(play)
        typer.echo(json.dumps(result.as_json(), ensure_ascii=False) if is_json else "\n".join(replay_lines(result)))
        if result.difference is not None:
            raise typer.Exit(EXIT_FAILED)


def replay_lines(result: RunReplay) -> list[str]:
    """Returns a replay for people."""
    version = f"version {result.version_number}"
    difference = result.difference
    if difference is None:
        return [f"Run {result.run_id} is the same with {version}: {result.events} events, {result.hash}."]
    if result.is_exact:
        head = f"Run {result.run_id} differs with {version}"
    else:
        head = f"Run {result.run_id} differs with the version that it was held with"
    return [
        f"{head} at turn {difference.turn}, step {difference.node!r}, {difference.at_ms / 1000:.3f} s: {difference.what}",
        f"  expected: {difference.expected}",
        f"  came:     {difference.came}",
    ]
