"""``offhook lab``: emulators of vendors and carriers, for developing without accounts."""

import asyncio
import signal
from typing import Annotated

import numpy as np
import typer

from offhook.commands.console import CommandError, report_errors
from offhook.kit.audio import MULAW_8K, Resampler, Samples
from offhook.models.ports import ModelError
from offhook.models.providers.builtin.tts import DEFAULT_VOICE, BuiltinTts
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess
from offhook_lab.carriers import CarrierEmulator
from offhook_lab.carriers.all_carriers import CARRIERS, NUMBER, every_carrier
from offhook_lab.speech.all_servers import DEFAULT_SCRIPT, AnyServer, Say, every_server


def register(app: typer.Typer) -> None:
    lab = typer.Typer(help="Emulators of vendors, for developing without an account.", no_args_is_help=True)
    app.add_typer(lab, name="lab")

    @lab.command()
    def vendors(
        host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
        first_port: Annotated[
            int, typer.Option(min=0, max=65000, help="The first of eleven ports; 0 picks free ones.")
        ] = 9701,
        script: Annotated[
            list[str] | None, typer.Option(help="What recognizers understand, utterance by utterance (repeatable).")
        ] = None,
        has_tones: Annotated[bool, typer.Option("--tones", help="Voices say tones instead of words.")] = False,
    ) -> None:
        """Run an emulator of every speech vendor until Ctrl-C, and print how to use them."""
        with report_errors():
            try:
                asyncio.run(_run_vendors(host, first_port, tuple(script or DEFAULT_SCRIPT), has_tones=has_tones))
            except OSError as error:
                raise CommandError(f"The emulators cannot listen: {error.strerror or error}.") from None

    @lab.command()
    def carriers(
        host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
        port: Annotated[
            int, typer.Option(min=0, max=65000, help="The first carrier's port; the others follow. 0 picks free ones.")
        ] = 9801,
        only: Annotated[list[str] | None, typer.Option(help="Only this carrier (repeatable).")] = None,
        answer_url: Annotated[str, typer.Option(help="Where calls to the account's number are answered.")] = "",
        has_tones: Annotated[bool, typer.Option("--tones", help="Phones hum instead of talking.")] = False,
    ) -> None:
        """Run an emulator of every telephone carrier until Ctrl-C, and print their accounts."""
        unknown = sorted(set(only or ()) - set(CARRIERS))
        with report_errors():
            if unknown:
                raise CommandError(f"There is no carrier {unknown[0]}: choose of {', '.join(CARRIERS)}.")
            try:
                asyncio.run(_run_carriers(host, port, only or list(CARRIERS), answer_url, has_tones=has_tones))
            except OSError as error:
                raise CommandError(f"The emulators cannot listen: {error.strerror or error}.") from None


async def _run_carriers(host: str, port: int, names: list[str], answer_url: str, *, has_tones: bool) -> None:
    program = SynthesizerProcess()
    say = _offline_voice(program)

    async def speak_mulaw(text: str) -> bytes:
        return MULAW_8K.encode(await say(text, MULAW_8K.sample_rate))

    try:
        options = {} if has_tones else {"voice": speak_mulaw}
        async with every_carrier(names, host=host, first_port=port, answer_url=answer_url, **options) as found:
            _print_accounts(found)
            await _until_stopped()
    finally:
        await program.close()


def _print_accounts(carriers: list[CarrierEmulator]) -> None:
    typer.echo(f"Emulators of carriers, until Ctrl-C. Each account has the number {NUMBER}.")
    for carrier in carriers:
        typer.echo(f"\n{carrier.name}: {carrier.base_url}")
        for name, value in carrier.credentials.items():
            typer.echo(f"  {name:20} {value}")
    example = carriers[0].base_url
    typer.echo(
        "\nPhones +1 201 555 0101 to 0109 talk, are busy, do not answer, are a voicemail, hang up, are silent, interrupt,\n"
        "press keys and decline; all others talk. Somebody calls the account's number with\n"
        f"  curl -X POST {example}/lab/call-in -d '{{}}'\n"
        f"and {example}/lab/calls says how calls went. More in docs/lab.md."
    )


async def _until_stopped() -> None:
    over, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    await over.wait()


async def _run_vendors(host: str, first_port: int, script: tuple[str, ...], *, has_tones: bool) -> None:
    program = SynthesizerProcess()
    try:
        say = None if has_tones else _offline_voice(program)
        async with every_server(host=host, first_port=first_port, script=script, say=say) as servers:
            _print_usage(servers)
            await _until_stopped()
    finally:
        await program.close()


def _offline_voice(program: SynthesizerProcess) -> Say:
    voice = BuiltinTts(program, voice=DEFAULT_VOICE, speed=1.0)

    async def speak_samples(text: str, rate: int) -> Samples:
        resampler = Resampler(voice.sample_rate, rate)
        try:
            parts = [resampler.push(piece) async for piece in voice.speak(text)]
        except ModelError as error:
            raise CommandError(f"The offline voice failed ({error}); try --tones.") from error
        return np.concatenate([*parts, resampler.push(b"", is_last=True)])

    return speak_samples


def _print_usage(servers: list[tuple[str, AnyServer]]) -> None:
    typer.echo("Emulators of speech vendors, until Ctrl-C. Their key is lab-key.")
    for name, server in servers:
        typer.echo(f"  {name:40} {server.base_url}")
    urls = {name: server.base_url for name, server in servers}
    typer.echo(
        "\nFor example:\n"
        f"  OFFHOOK_TTS_PROVIDER=elevenlabs OFFHOOK_TTS_BASE_URL={urls['tts elevenlabs']} OFFHOOK_TTS_API_KEY=lab-key \\\n"
        f"  OFFHOOK_STT_PROVIDER=deepgram OFFHOOK_STT_BASE_URL={urls['stt deepgram']} OFFHOOK_STT_API_KEY=lab-key \\\n"
        "  offhook serve\n"
        "Recognizers hear when somebody speaks, not what: they answer with the sentences of --script in turn."
    )
