"""``offhook``: every module in ``commands`` that has ``register(app)`` is a command."""

from importlib import import_module
from pkgutil import iter_modules

import typer

from offhook import commands


def build() -> typer.Typer:
    app = typer.Typer(
        name="offhook",
        help="Offhook: voice agents that answer and place phone calls. Settings are OFFHOOK_* variables.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for module in iter_modules(commands.__path__):
        register = getattr(import_module(f"{commands.__name__}.{module.name}"), "register", None)
        if register is not None:
            register(app)
    return app


def main() -> None:
    build()()


if __name__ == "__main__":
    main()
