"""``offhook replay``: calls played again from their journals, with their own version or another one."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, TypeVar

import typer

from offhook.commands.console import EXIT_FAILED, EXIT_WRONG_USE, load_settings, run_with_database
from offhook.commands.encryption import load_keyring
from offhook.commands.replay.periods import WantedPeriod, period_lines, read_period, replay_period
from offhook.errors import DomainError
from offhook.kit.clock import SystemClock
from offhook.kit.database.database import Database
from offhook.orgs import service as orgs
from offhook.orgs.data_keys.keys import DataKeys
from offhook.runs.journals.call_journals import CallJournals
from offhook.scenarios.replays.orders import RunReplay
from offhook.scenarios.replays.period import PeriodReplay
from offhook.scenarios.replays.service import load_replayable, replay_run

T = TypeVar("T")
TargetArgument = Annotated[
    str, typer.Argument(metavar="RUN|AGENT", help="The run of a call; with --since, an agent's id or name.")
]
VersionOption = Annotated[int | None, typer.Option(help="Replay with this version number.", min=1)]
DraftOption = Annotated[bool, typer.Option("--draft", help="Replay with the draft.")]
SinceOption = Annotated[
    str | None,
    typer.Option(help="Replay an agent's runs that began after this: a duration, such as 7d or 12h, or a date."),
]
UntilOption = Annotated[
    str | None, typer.Option(help="Only runs that began before this: a duration or a date. Default: now.")
]
LimitOption = Annotated[int | None, typer.Option(help="At most this many runs, the newest ones.", min=1)]
OrganizationOption = Annotated[str, typer.Option("--org", help="The agent's organization, by number or name.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print only one JSON object.")]


def register(app: typer.Typer) -> None:
    @app.command()
    def replay(
        target: TargetArgument,
        version: VersionOption = None,
        draft: DraftOption = False,
        since: SinceOption = None,
        until: UntilOption = None,
        limit: LimitOption = None,
        org: OrganizationOption = orgs.DEFAULT_ORGANIZATION,
        is_json: JsonOption = False,
    ) -> None:
        """Replay calls from their journals, without calling models or tools. Nothing is stored.

        With its own version a call must be the same, byte for byte; with another one, the first difference is printed.
        Exit codes: 0 all are the same, 1 a difference, no replay is possible, or interrupted, 2 bad input.
        """
        if draft and version is not None:
            raise typer.BadParameter("provide either --draft or --version")
        if since is not None:
            begin, end = read_period(since, until, datetime.now(UTC))
            _replay_period(WantedPeriod(target, org, begin, end, limit, version, draft), is_json=is_json)
        elif until is not None or limit is not None:
            raise typer.BadParameter("--until and --limit need --since")
        else:
            _replay_run(_read_run_id(target), number=version, is_draft=draft, is_json=is_json)


def _read_run_id(target: str) -> int:
    if not (target.isascii() and target.isdigit()):
        raise typer.BadParameter(
            f"{target[:40]!r} is not the number of a run; to replay an agent's runs, add --since 7d"
        )
    return int(target)


def _with_journals(work: Callable[[Database, CallJournals], Awaitable[T]]) -> T:
    settings = load_settings()

    async def run_work(database: Database) -> T:
        keys = DataKeys(load_keyring(settings))
        return await work(database, CallJournals(database, keys, SystemClock(), max_kb=settings.call_journal_kb))

    return run_with_database(run_work)


def _replay_run(run_id: int, *, number: int | None, is_draft: bool, is_json: bool) -> None:
    async def play(database: Database, journals: CallJournals) -> RunReplay:
        async with database.transaction() as session:
            replayable = await load_replayable(session, journals, run_id, number=number, is_draft=is_draft)
        return await replay_run(replayable)

    result = _with_journals(play)
    typer.echo(json.dumps(result.as_json(), ensure_ascii=False) if is_json else "\n".join(replay_lines(result)))
    if result.difference is not None:
        raise typer.Exit(EXIT_FAILED)


def _replay_period(wanted: WantedPeriod, *, is_json: bool) -> None:
    async def play(database: Database, journals: CallJournals) -> PeriodReplay | DomainError:
        try:
            return await replay_period(database, journals, wanted, is_quiet=is_json)
        except DomainError as error:
            return error

    result = _with_journals(play)
    if isinstance(result, DomainError):
        typer.echo(f"offhook: {result.message}", err=True)
        raise typer.Exit(EXIT_WRONG_USE)
    typer.echo(json.dumps(result.as_json(), ensure_ascii=False) if is_json else "\n".join(period_lines(result)))
    if not result.is_same:
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
