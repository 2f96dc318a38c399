"""``offhook``: every module in ``commands`` with ``register(app)`` adds a command, or several."""

import gc
import sys
from importlib import import_module
from pkgutil import iter_modules

import typer

from offhook import commands
from offhook.commands.overview import COMMANDS
from offhook.kit.processes.child_process import obey_stop_signals


def build_cli(wanted: str | None = None) -> typer.Typer:
    """Returns the command line; of ``wanted``, only that command's module, as the others cost a second to import."""
    app = _new_app()
    names = [module.name for module in iter_modules(commands.__path__)]
    for name in [COMMANDS[wanted].module] if wanted in COMMANDS else names:
        getattr(import_module(f"{commands.__name__}.{name}"), "register", lambda _: None)(app)
    return app


def build_overview() -> typer.Typer:
    """Returns the command line for its ``--help`` and for commands that do not exist: no command is imported."""
    app = _new_app()
    for name, command in COMMANDS.items():
        app.command(name, help=command.help)(lambda: None)
    return app


def _new_app() -> typer.Typer:
    app = typer.Typer(
        name="offhook",
        help="Voice agents that answer and place phone calls. Settings are OFFHOOK_* variables.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def group() -> None:
        """Makes Typer keep the command's name in a command line of one command."""

    return app


def main() -> None:
    obey_stop_signals()
    wanted = sys.argv[1] if len(sys.argv) > 1 else None
    # What is imported stays: looking through it for garbage again and again takes a quarter of the start.
    gc.disable()
    command_line = build_cli(wanted) if wanted in COMMANDS else build_overview()
    gc.freeze()
    gc.enable()
    command_line()


if __name__ == "__main__":
    main()
