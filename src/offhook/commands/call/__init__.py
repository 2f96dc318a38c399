"""``offhook call``: a call with an agent from the command line, to a simulated phone or with a WAV file as the caller."""

import asyncio
import json
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import httpx2
import typer
from rich.console import Console

from offhook.commands.call.client import CallClient, play_caller, wait_ready
from offhook.commands.call.report import ReportedCall, as_json, live_line, print_report
from offhook.commands.call.server import any_server, short_lived_key
from offhook.commands.console import EXIT_WRONG_USE, CommandError, load_settings, report_errors
from offhook.kit.phone_numbers import is_e164
from offhook.orgs.service import DEFAULT_ORGANIZATION
from offhook.telephony.media.sound_files import SoundFileError, read_as_mulaw

# For scripts, a run without one of these outcomes has failed.
EXIT_FAILED: Final = 6
EXIT_CODES: Final = {
    "answered": 0, "transferred": 0, "completed": 0, "not_understood": 0, "busy": 3, "no_answer": 4, "voicemail": 5,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _CallOptions:
    workflow_id: int
    number: str | None
    sound: bytes | None
    waits_for_greeting: bool
    limit_s: float
    organization: str
    is_json: bool
    save_to: Path | None


def register(app: typer.Typer) -> None:
    @app.command()
    def call(
        workflow: Annotated[int, typer.Option(help="The id of the agent.", min=1)],
        to: Annotated[str | None, typer.Option(help="Call this number, e.g. +12015550101 (a sandbox phone).")] = None,
        audio: Annotated[
            Path | None, typer.Option(help="Speak as the caller: a WAV file with any sample rate.")
        ] = None,
        no_wait: Annotated[
            bool, typer.Option("--no-wait", help="With --audio: start immediately instead of after the greeting.")
        ] = False,
        limit: Annotated[float, typer.Option(help="With --audio: hang up after this many seconds.", min=1)] = 120,
        org: Annotated[str, typer.Option(help="The organization, by id or name.")] = DEFAULT_ORGANIZATION,
        is_json: Annotated[bool, typer.Option("--json", help="Print only one JSON object.")] = False,
        save: Annotated[
            Path | None, typer.Option(help="Write the stereo recording (caller left, agent right) to this file.")
        ] = None,
    ) -> None:
        """Place a call, follow the conversation, and print the transcript, outcome and latency.

        Uses the server running on this data folder, or starts one for the duration of the call. Ctrl-C hangs up.

        Exit codes: 0 answered, 1 no server or rejected, 2 invalid usage, 3 busy, 4 no answer, 5 voicemail, 6 failed or canceled.
        """
        if (to is None) == (audio is None):
            raise typer.BadParameter("provide either --to or --audio")
        if to is not None and not is_e164(to):
            raise typer.BadParameter("--to must be a phone number in E.164 format, such as +12015550101")
        try:
            sound = read_as_mulaw(audio) if audio is not None else None
        except SoundFileError as error:
            typer.echo(f"offhook: {error}", err=True)
            raise typer.Exit(EXIT_WRONG_USE) from None
        options = _CallOptions(workflow, to, sound, not no_wait, limit, org, is_json, save)
        with report_errors():
            settings = load_settings()
            with any_server(settings) as (url, database_url):
                run = asyncio.run(_place_call(options, url, database_url))
        raise typer.Exit(EXIT_CODES.get(run["outcome"] or run["status"], EXIT_FAILED))


async def _place_call(options: _CallOptions, url: str, database_url: str) -> ReportedCall:
    await wait_ready(url)
    async with short_lived_key(database_url, options.organization) as key:
        client = CallClient(url, key)
        try:
            run = await _carry_call(client, options)
            if options.is_json:
                typer.echo(json.dumps(as_json(run), ensure_ascii=False))
            else:
                print_report(Console(), run)
            if options.save_to is not None:
                await client.save_recording(options.workflow_id, run["workflow_run_id"], options.save_to)
        except httpx2.TransportError as error:
            raise CommandError(f"Lost the connection to the server: {type(error).__name__}.") from None
        finally:
            await client.close()
    return run


async def _carry_call(client: CallClient, options: _CallOptions) -> ReportedCall:
    """Carries the call to its end and shows it live; Ctrl-C hangs up and waits for the end."""
    hang_up = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, hang_up.set)
    tasks = []
    if options.number is not None:
        run_id = await client.place_call(options.workflow_id, options.number)
        tasks.append(asyncio.create_task(client.hang_up_when(hang_up, run_id)))
    else:
        assert options.sound is not None
        run_id, media_url = await client.open_stream(options.workflow_id)
        caller = play_caller(
            media_url,
            options.sound,
            waits_for_greeting=options.waits_for_greeting,
            hang_up=hang_up,
            limit_s=options.limit_s,
        )
        tasks.append(asyncio.create_task(caller))
    try:
        await _watch_run(client, options, run_id, tasks[0])
        return await client.finished_run(options.workflow_id, run_id)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _watch_run(client: CallClient, options: _CallOptions, run_id: int, carrying: "asyncio.Task[None]") -> None:
    """Shows the events until the run is over; raises the error of a caller that could not connect."""
    showing = asyncio.create_task(_show(client, options, run_id))
    try:
        await asyncio.wait({showing, carrying}, return_when=asyncio.FIRST_COMPLETED)
        if carrying.done() and not showing.done():
            carrying.result()
        await showing
    finally:
        showing.cancel()


async def _show(client: CallClient, options: _CallOptions, run_id: int) -> None:
    console = Console()
    async for event in client.iter_events(options.workflow_id, run_id):
        line = None if options.is_json else live_line(event)
        if line is not None:
            console.print(line)
