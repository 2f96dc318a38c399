"""``offhook jobs``: background jobs that failed for good, and another try for them."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from offhook import jobs
from offhook.commands.console import CommandError, run_with_database
from offhook.jobs.queue import FailedJob
from offhook.kit.database.database import Database

# An error's message can be a page long.
MAX_ERROR_LENGTH = 120


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="List and retry background jobs that used up their attempts.", no_args_is_help=True)
    app.add_typer(group, name="jobs")

    @group.command("failed")
    def list_failed(
        limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many to list, newest first.")] = 100,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
    ) -> None:
        """List failed jobs, newest first. They are kept for a month."""

        async def read_failed(database: Database) -> list[FailedJob]:
            async with database.transaction() as session:
                return await jobs.failed_jobs(session, limit=limit)

        failed = run_with_database(read_failed)
        for job in failed:
            if as_json:
                typer.echo(json.dumps(asdict(job), default=str))
                continue
            error = " ".join((job.error or "no error is on record").split())[:MAX_ERROR_LENGTH]
            when = f"{job.created_at:%Y-%m-%d %H:%M}"
            typer.echo(f"{job.id}  {job.name}  {when}  {job.attempts} attempts  {error}")
        if not failed and not as_json:
            typer.echo("No job has failed.")

    @group.command("retry")
    def retry_failed(
        job_ids: Annotated[
            list[int] | None, typer.Argument(metavar="[JOB]...", help="The numbers of failed jobs.")
        ] = None,
        every: Annotated[bool, typer.Option("--all", help="Every failed job.")] = False,
    ) -> None:
        """Retry failed jobs, from their first attempt."""

        async def requeue_jobs(database: Database) -> int:
            if bool(job_ids) == every:
                raise CommandError("Give job numbers, or use --all.")
            async with database.transaction() as session:
                if every:
                    return await jobs.requeue_failed_jobs(session)
                unknown = [job_id for job_id in job_ids or () if not await jobs.requeue_failed_job(session, job_id)]
                if unknown:
                    numbers = ", ".join(map(str, unknown))
                    raise CommandError(f"No failed job has the number {numbers}. Nothing was retried.")
            return len(job_ids or ())

        count = run_with_database(requeue_jobs)
        typer.echo(f"{count} {'job' if count == 1 else 'jobs'} retried.")
