"""``offhook lab``: the emulators, available when the distribution ``offhook-lab`` is installed."""

from importlib.metadata import entry_points

import typer

from offhook.commands.console import CommandError, report_errors

INSTALL = (
    "The emulators are not installed. Run: pip install 'offhook[lab]' (in a checkout: scripts/bootstrap.sh --dev)."
)


def register(app: typer.Typer) -> None:
    for plugin in entry_points(group="offhook.commands", name="lab"):
        plugin.load()(app)
        return

    @app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
    def lab() -> None:
        """Emulators of vendors and carriers (not installed)."""
        with report_errors():
            raise CommandError(INSTALL)
