"""``offhook lab``: the outside world in a process, for developing without an account."""

import asyncio
import signal
from typing import Annotated

import numpy as np
import typer

from offhook.commands.console import CommandError, one_sentence, run
from offhook.kit.audio import Resampler, Samples
from offhook.lab.speech.every import DEFAULT_SCRIPT, AnyServer, Say, every_server
from offhook.models.ports import ModelError
from offhook.models.providers.builtin.speech_program import SpeechProgram
from offhook.models.providers.builtin.tts import DEFAULT_VOICE, BuiltinTts


def register(app: typer.Typer) -> None:
    lab = typer.Typer(help="Emulators of vendors, for developing without an account.", no_args_is_help=True)
    app.add_typer(lab, name="lab")

    @lab.callback()
    def group() -> None:
        """Without it a group of one command would not take that command's name."""

    @lab.command()
    def vendors(
        host: Annotated[str, typer.Option(help="Where they listen.")] = "127.0.0.1",
        first_port: Annotated[int, typer.Option(min=0, max=65000, help="Ten ports from here on; 0: free ones.")] = 9701,
        script: Annotated[
            list[str] | None, typer.Option(help="What recognisers understand, utterance by utterance (repeatable).")
        ] = None,
        has_tones: Annotated[bool, typer.Option("--tones", help="Voices say tones instead of words.")] = False,
    ) -> None:
        """Run an emulator of every speech vendor until Ctrl-C, and print how to use them."""
        with one_sentence():
            try:
                run(_vendors(host, first_port, tuple(script or DEFAULT_SCRIPT), has_tones=has_tones))
            except OSError as error:
                raise CommandError(f"The emulators cannot listen: {error.strerror or error}.") from None


async def _vendors(host: str, first_port: int, script: tuple[str, ...], *, has_tones: bool) -> None:
    program = SpeechProgram()
    try:
        say = None if has_tones else _offline_voice(program)
        async with every_server(host=host, first_port=first_port, script=script, say=say) as servers:
            _explain(servers)
            over, loop = asyncio.Event(), asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, over.set)
            await over.wait()
    finally:
        await program.close()


def _offline_voice(program: SpeechProgram) -> Say:
    voice = BuiltinTts(program, voice=DEFAULT_VOICE, speed=1.0)

    async def say(text: str, rate: int) -> Samples:
        resampler = Resampler(voice.sample_rate, rate)
        try:
            parts = [resampler.push(piece) async for piece in voice.speak(text)]
        except ModelError as error:
            raise CommandError(f"The offline voice failed ({error}); try --tones.") from error
        return np.concatenate([*parts, resampler.push(b"", is_last=True)])

    return say


def _explain(servers: list[tuple[str, AnyServer]]) -> None:
    typer.echo("Emulators of speech vendors, until Ctrl-C. Their key is lab-key.")
    for name, server in servers:
        typer.echo(f"  {name:40} {server.base_url}")
    urls = {name: server.base_url for name, server in servers}
    typer.echo(
        "\nFor example:\n"
        f"  OFFHOOK_TTS_PROVIDER=elevenlabs OFFHOOK_TTS_BASE_URL={urls['tts elevenlabs']} OFFHOOK_TTS_API_KEY=lab-key \\\n"
        f"  OFFHOOK_STT_PROVIDER=deepgram OFFHOOK_STT_BASE_URL={urls['stt deepgram']} OFFHOOK_STT_API_KEY=lab-key \\\n"
        "  offhook serve\n"
        "Recognisers hear when somebody speaks, not what: they answer with the sentences of --script in turn."
    )
