"""``offhook replay AGENT --since``: the calls of some days against a version, and a table of what would change."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import typer

from offhook.kit.database.database import Database
from offhook.orgs import service as orgs
from offhook.runs.journals.call_journals import CallJournals
from offhook.scenarios.agents import find_workflow_id
from offhook.scenarios.replays.orders import RunReplay
from offhook.scenarios.replays.period import PeriodReplay, PeriodReplayer, ReplayPeriod

MAX_PROCESSES: Final = 8
_UNITS: Final = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_COLUMNS: Final = "{:<10} {:<5} {:<24} {:>9}  {}"
_MAX_STEP: Final = 24
_MAX_SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class WantedPeriod:
    """Which runs of which agent, and what to play them with."""

    agent: str
    organization: str
    since: datetime
    until: datetime
    limit: int | None
    number: int | None
    is_draft: bool


def read_moment(text: str, now: datetime, option: str) -> datetime:
    """Returns the moment of ``7d``, ``12h``, ``30m`` or ``2w`` ago, or of a date or time in ISO format (UTC without an
    offset)."""
    try:
        if ago := re.fullmatch(r"([1-9][0-9]{0,5})([mhdw])", text):
            return now - int(ago[1]) * _UNITS[ago[2]]
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{option} takes a duration, such as 7d, 12h or 30m, or a date, such as 2026-11-19; not {text[:40]!r}"
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def read_period(since: str, until: str | None, now: datetime) -> tuple[datetime, datetime]:
    begin = read_moment(since, now, "--since")
    end = now if until is None else read_moment(until, now, "--until")
    if begin >= end:
        raise typer.BadParameter(
            "--since must be before --until" if until is not None else "--since must be in the past"
        )
    return begin, end


async def replay_period(
    database: Database, journals: CallJournals, wanted: WantedPeriod, *, is_quiet: bool
) -> PeriodReplay:
    """Replays until all runs are done, or the command is interrupted."""
    stop, progress = asyncio.Event(), _Progress(is_shown=not is_quiet and sys.stderr.isatty())
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
    async with database.transaction() as session:
        organization = await orgs.find_organization(session, wanted.organization)
        workflow_id = await find_workflow_id(session, organization.id, wanted.agent)
    processes = min(os.cpu_count() or 1, MAX_PROCESSES)
    replayer = PeriodReplayer(database, journals, processes, on_progress=progress.show)
    period = ReplayPeriod(organization.id, workflow_id, wanted.since, wanted.until, wanted.limit)
    try:
        return await replayer.replay(period, number=wanted.number, is_draft=wanted.is_draft, stop=stop)
    finally:
        progress.end()


class _Progress:
    """One line that is written over on a terminal."""

    def __init__(self, *, is_shown: bool) -> None:
        self._is_shown = is_shown

    def show(self, done: int, total: int) -> None:
        if self._is_shown:
            typer.echo(f"\r{done} of {total} runs", nl=False, err=True)

    def end(self) -> None:
        if self._is_shown:
            typer.echo("\r" + " " * 40 + "\r", nl=False, err=True)


def period_lines(result: PeriodReplay) -> Iterator[str]:
    """Yields a table with a line for each run, and what is different how often."""
    if result.replays:
        yield _COLUMNS.format("run", "turn", "step", "time", "first difference")
    for replay in result.replays:
        yield from _run_lines(replay)
    yield from _count_lines("First difference", result.count_by_kind().most_common())
    steps = [
        (node or node_id or "(before the first step)", count)
        for (node_id, node), count in result.count_by_step().most_common()
    ]
    yield from _count_lines("Step of the first difference", steps)
    yield from _count_lines(
        "Not replayed", [(sentence, count) for (_, sentence), count in result.skipped.most_common()]
    )
    if result.replays:
        yield ""
    yield _sum_line(result)


def _run_lines(replay: RunReplay) -> Iterator[str]:
    difference = replay.difference
    if difference is None:
        yield _COLUMNS.format(replay.run_id, "", "", "", "same")
        return
    what = difference.what if replay.is_exact else f"{difference.what} (with its own version)"
    step, at = difference.node[:_MAX_STEP], f"{difference.at_ms / 1000:.3f} s"
    yield _COLUMNS.format(replay.run_id, difference.turn, step, at, what)
    yield f"{'':<10} expected: {_shorten(difference.expected)}"
    yield f"{'':<10} came:     {_shorten(difference.came)}"


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def _count_lines(title: str, counts: list[tuple[str, int]]) -> Iterator[str]:
    if counts:
        yield ""
        yield title
    for name, count in counts:
        yield f"{count:>6}  {name}"


def _sum_line(result: PeriodReplay) -> str:
    version = "the version of each call" if result.version is None else f"version {result.version}"
    parts = [f"{result.same} the same", f"{result.different} different"]
    if result.inexact:
        parts.append(f"{result.inexact} different with the version that they were held with")
    skipped = sum(result.skipped.values())
    if skipped:
        parts.append(f"{skipped} not replayed")
    text = f"{result.agent} with {version}: {', '.join(parts)}."
    return text if result.is_complete else f"{text} Stopped after {result.done} of {result.total} runs."
