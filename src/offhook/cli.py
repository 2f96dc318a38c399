"""``offhook``: every module in ``commands`` with ``register(app)`` is the command of its name."""

import gc
import sys
from importlib import import_module
from pkgutil import iter_modules

import typer

from offhook import commands


def build_cli(wanted: str | None = None) -> typer.Typer:
    """Returns the command line; with only the command ``wanted`` if it exists, as the others
    cost a second to import.
    """
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

    names = [module.name for module in iter_modules(commands.__path__)]
    for name in [wanted] if wanted in names else names:
        register = getattr(import_module(f"{commands.__name__}.{name}"), "register", None)
        if register is not None:
            register(app)
    return app


def main() -> None:
    # What is imported stays: looking through it for garbage again and again takes a quarter of the start.
    gc.disable()
    command_line = build_cli(sys.argv[1] if len(sys.argv) > 1 else None)
    gc.freeze()
    gc.enable()
    command_line()


if __name__ == "__main__":
    main()
