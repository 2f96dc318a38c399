"""``offhook sign-in-link``, ``offhook signups`` and ``offhook reset-second-factor``: letting people in without mail."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from offhook.commands.console import load_settings, report_errors, run_with_database
from offhook.commands.serve import base_url
from offhook.kit.database.database import Database
from offhook.kit.files.data_folder import DataFolder
from offhook.orgs.second_factor import administration
from offhook.orgs.sign_in import signups


def register(app: typer.Typer) -> None:
    @app.command("sign-in-link")
    def sign_in_link(
        email: Annotated[str, typer.Argument(help="Email address of a user, or of a person who requested an account.")],
        reset_password: Annotated[
            bool, typer.Option("--reset-password", help="The person chooses a new password; other sessions end.")
        ] = False,
    ) -> None:
        """Print a link that signs a person in once, within 24 hours. Their earlier links stop working."""

        async def create_link(database: Database) -> str:
            async with database.transaction() as session:
                link = await signups.create_personal_link(
                    session, email, datetime.now(UTC), sets_password=reset_password
                )
                return link.token

        token = run_with_database(create_link)
        with report_errors():
            settings = load_settings()
            running = DataFolder(settings.data_dir).running_server()
            base = running.url if running is not None and running.url else base_url(settings)
            typer.echo(f"{base}/sign-in?token={token}")

    @app.command("reset-second-factor")
    def reset_second_factor(email: Annotated[str, typer.Argument(help="Email address of a user.")]) -> None:
        """Turn off two-step sign-in for a person who lost their device and recovery codes. Their sessions end."""

        async def reset(database: Database) -> str:
            async with database.transaction() as session:
                return (await administration.reset_by_command(session, email, datetime.now(UTC))).email

        typer.echo(f"{run_with_database(reset)} can sign in without a second step until they set it up again.")

    @app.command("signups")
    def list_signups() -> None:
        """List account requests. Approve one with `offhook sign-in-link EMAIL`."""

        async def list_requests(database: Database) -> list[str]:
            async with database.transaction() as session:
                found = await signups.list_requests(session)
                return [f"{row.created_at:%Y-%m-%d %H:%M} {row.email} {row.name or ''} {row.ip or ''}" for row in found]

        for line in run_with_database(list_requests):
            typer.echo(line)
