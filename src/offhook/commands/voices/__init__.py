"""``offhook voices``: packs of a recognizer and a voice for this machine."""

import typer

from offhook.commands.voices.operations import (
    install_voices,
    list_voices,
    pack_voices,
    remove_voices,
    verify_voices,
)


def register(app: typer.Typer) -> None:
    voices = typer.Typer(
        help="Manage voice packs: recognizers and voices that run on this machine.", no_args_is_help=True
    )
    app.add_typer(voices, name="voices")
    voices.command("install")(install_voices)
    voices.command("list")(list_voices)
    voices.command("verify")(verify_voices)
    voices.command("remove")(remove_voices)
    voices.command("pack")(pack_voices)
