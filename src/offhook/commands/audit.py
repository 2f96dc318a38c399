"""``offhook audit``: the chains of the audit log."""

import json
from typing import Annotated

import typer

from offhook.commands.console import EXIT_FAILED, CommandError, report_errors, run_with_database
from offhook.kit.database.database import Database
from offhook.orgs.audit_trail.chain import INSTALLATION, AuditChain, ChainReport, ExpectedHead
from offhook.orgs.audit_trail.exported_entries import ExportedFileInvalid, verify_lines
from offhook.orgs.audit_trail.verification import verify_chains


def register(app: typer.Typer) -> None:
    audit = typer.Typer(help="Check the audit log and its hash chains.", no_args_is_help=True)
    app.add_typer(audit, name="audit")

    @audit.callback()
    def audit_group() -> None:
        """Makes Typer keep the command's name in a group of one command."""

    @audit.command()
    def verify(
        organization: Annotated[
            str | None, typer.Option(help=f"One organization, by number, or {INSTALLATION!r}.")
        ] = None,
        file: Annotated[
            typer.FileBinaryRead | None, typer.Option(help="An export (NDJSON) instead of the database; - for stdin.")
        ] = None,
        expect_head: Annotated[
            list[str] | None,
            typer.Option(metavar="CHAIN:POSITION:SEAL", help="A chain head that you stored elsewhere (repeatable)."),
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    ) -> None:
        """Check every seal. If a chain is broken, print the first broken position and exit with 1."""
        chain = _parse_chain(organization)
        expected = [_parse_head(text) for text in expect_head or ()]
        if file is None:
            reports = _verify_database(chain, expected)
        else:
            with report_errors():
                try:
                    reports = verify_lines(file, chain, expected)
                except ExportedFileInvalid as error:
                    raise CommandError(str(error)) from None
        is_broken = any(report.broken for report in reports)
        if as_json:
            typer.echo(json.dumps({"is_intact": not is_broken, "chains": [report.to_json() for report in reports]}))
        else:
            for report in reports:
                typer.echo(_format_report(report))
        if is_broken:
            raise typer.Exit(EXIT_FAILED)


def _verify_database(chain: AuditChain | None, expected: list[ExpectedHead]) -> list[ChainReport]:
    async def verify_database(database: Database) -> list[ChainReport]:
        async with database.snapshot_transaction() as session:
            return await verify_chains(session, chain, expected)

    return run_with_database(verify_database)


def _parse_chain(organization: str | None) -> AuditChain | None:
    if organization is None:
        return None
    try:
        return AuditChain.parse(organization)
    except ValueError:
        raise typer.BadParameter(f"{organization!r} is neither a number nor {INSTALLATION!r}.") from None


def _parse_head(text: str) -> ExpectedHead:
    try:
        return ExpectedHead.parse(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not CHAIN:POSITION:SEAL, such as 3:120:<64 hex digits>.") from None


def _format_report(report: ChainReport) -> str:
    name = report.chain.name
    title = name.capitalize() if report.chain.organization_id is None else f"Organization {name}"
    lines = [f"{title}: {report.entries} entries, {report.sealed} sealed, {report.unsealed} not yet sealed"]
    if report.removed_until:
        lines.append(f"  removed up to position {report.removed_until}, as the organization keeps its log no longer")
    if report.first_position is not None and report.first_position > 1:
        lines.append(f"  begins at position {report.first_position}")
    if report.sealed:
        lines.append(f"  head    {name}:{report.head.position}:{report.head.seal.hex()}")
    found = report.broken
    lines.append(f"  BROKEN  at position {found.position}: {found.message}" if found else "  intact")
    return "\n".join(lines)
