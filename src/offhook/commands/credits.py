"""``offhook credits``: money for an organization, for the operator of the installation."""

import json
from typing import Annotated

import typer

from offhook.commands.console import CommandError, report_errors, run_with_database
from offhook.kit.database.database import Database
from offhook.orgs import service as orgs
from offhook.usage import service as usage


def register(app: typer.Typer) -> None:
    credit = typer.Typer(help="Manage an organization's prepaid balance.", no_args_is_help=True)
    app.add_typer(credit, name="credits")

    @credit.command()
    def add(
        cents: Annotated[int, typer.Option(help="The amount; a negative one reduces the balance.")],
        org: Annotated[str, typer.Option(help="The organization, by number or name.")] = orgs.DEFAULT_ORGANIZATION,
        note: Annotated[str | None, typer.Option(help="What it is for.")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    ) -> None:
        """Add to a balance and print it."""
        with report_errors():
            if not 0 < abs(cents) <= 10**12:
                raise CommandError(
                    "--cents must be a whole number other than zero, up to 1,000,000,000,000 either way."
                )

        async def add_credit(database: Database) -> dict[str, object]:
            async with database.transaction() as session:
                organization = await orgs.find_organization(session, org)
                entry = await usage.add_credit(session, organization.id, cents, note=note[:500] if note else None)
                return {
                    "id": entry.id,
                    "organization_id": organization.id,
                    "organization": organization.name,
                    "kind": entry.kind,
                    "amount_cents": entry.amount_cents,
                    "balance_cents": entry.balance_cents,
                }

        added = run_with_database(add_credit)
        typer.echo(json.dumps(added) if as_json else f"{added['organization']}: {added['balance_cents']} cents.")
