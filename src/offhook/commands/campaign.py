"""``offhook campaign``: campaigns from the command line."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer

from offhook.campaigns import service
from offhook.campaigns.reports.invariants import CampaignAudit, audit_campaign
from offhook.commands.console import run_with_database
from offhook.kit.database.database import Database

EXIT_VIOLATED = 3


def register(app: typer.Typer) -> None:
    campaign = typer.Typer(help="Check campaigns.", no_args_is_help=True)
    app.add_typer(campaign, name="campaign")

    @campaign.callback()
    def campaign_group() -> None:
        """Makes Typer keep the command's name in a group of one command."""

    @campaign.command()
    def verify(
        campaign_id: Annotated[int, typer.Argument(metavar="ID", help="The campaign.")],
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    ) -> None:
        """Check that the campaign kept every promise. If it did not, print the evidence and exit with 3."""

        async def verify_campaign(database: Database) -> CampaignAudit:
            async with database.snapshot_transaction() as session:
                found = await service.get_any_campaign(session, campaign_id)
                return await audit_campaign(session, found, datetime.now(UTC))

        audit = run_with_database(verify_campaign)
        typer.echo(json.dumps(asdict(audit)) if as_json else _format_audit(audit))
        if audit.violations:
            raise typer.Exit(EXIT_VIOLATED)


def _format_audit(found: CampaignAudit) -> str:
    lines = [f"Campaign {found.campaign_id} ({found.status}): {found.contacts} contacts, {found.attempts} dials."]
    for rule in found.checks:
        broken = [violation.evidence for violation in found.violations if violation.rule == rule]
        lines.append(f"  {'BROKEN' if broken else 'ok    '}  {rule}")
        lines += [f"            {evidence}" for evidence in broken]
    lines.append(f"{len(found.violations)} violations.")
    return "\n".join(lines)
