"""``offhook doctor``: checks configuration and operation, and says how to fix problems."""

import asyncio
import ctypes.util
import importlib.util
import json
import os
import platform
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

import typer
from sqlalchemy.exc import SQLAlchemyError

from offhook import __version__, jobs
from offhook.commands.console import load_settings, report_errors
from offhook.commands.database import any_database, configured_url, open_database
from offhook.commands.serve import base_url
from offhook.commands.serve.privileges import describe_user
from offhook.commands.storage import find_storage_problem
from offhook.errors import DomainError
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.kit.database.migrations import MigrationError
from offhook.kit.database.postgres_program import PostgresError
from offhook.kit.database.server_tls import DatabaseTlsError
from offhook.kit.database.server_version import server_version
from offhook.kit.files.data_folder import DataFolder, DataFolderError
from offhook.kit.http.connection_limits import possible_connections
from offhook.kit.http.server import PortInUse, bind_socket, find_socket_unit
from offhook.kit.processes.descriptors import raise_descriptor_limit
from offhook.kit.processes.limited_programs import find_sandbox_gaps, reader_user_id
from offhook.knowledge.offline.model import MODEL as SENTENCE_MODEL
from offhook.knowledge.offline.model import OfflineModel
from offhook.models import local_servers
from offhook.models.configuration.live_checks import AccessCheckResult, check_all
from offhook.models.errors import UnknownModel
from offhook.models.registry import BUILTIN, ModelRegistry
from offhook.models.speed_measurement import SpeedResult, measure_local_speech, measure_sentences
from offhook.models.vendors import ModelChoice
from offhook.nodes.installation import OtherInstallation, describe_storage, name_storage, require_installation
from offhook.orgs import keyring_of
from offhook.settings import Settings, SettingsError
from offhook.voice.input.silero_vad_engine import VadModelMissing, model_path
from offhook.voice.turn_detector.onnx_detector import describe_detector

Status = Literal["ok", "warning", "failed"]
UI_INDEX = Path(__file__).parents[1] / "_ui" / "index.html"
MIN_FREE_MB = 500
_MODEL_TITLES: Final = {"llm": "language model", "tts": "voice", "stt": "recognition"}
_SPEED_TITLES: Final = {"tts": "voice", "stt": "recognizer", "sentences": "sentence model"}
_SPEED_WAITS: Final = {
    "tts": "first sound after {:.0f} ms",
    "stt": "words {:.0f} ms after the last one",
    "sentences": "{:.1f} ms a sentence",
}
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_MARKS = {"ok": "✓", "warning": "!", "failed": "✗"}


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """The result of one check. ``warning``: something is missing but Offhook runs; ``failed``: Offhook does not run."""

    name: str
    status: Status
    detail: str


def register(app: typer.Typer) -> None:
    @app.command()
    def doctor(
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
        is_bench: Annotated[
            bool, typer.Option("--bench", help="Measure the voices and recognizers on this machine instead.")
        ] = False,
    ) -> None:
        """Check this installation. The exit code is 0 if Offhook can run and 1 if something it needs is missing."""
        with report_errors():
            settings = load_settings()
        if is_bench:
            raise typer.Exit(asyncio.run(_print_speed(settings, as_json=as_json)))
        checks = run_checks(settings)
        is_well = all(check.status != "failed" for check in checks)
        if as_json:
            typer.echo(json.dumps({"version": __version__, "ok": is_well, "checks": [asdict(c) for c in checks]}))
        else:
            width = max(len(check.name) for check in checks)
            for check in checks:
                typer.echo(f"{_MARKS[check.status]} {check.name:<{width}}  {check.detail}")
        raise typer.Exit(0 if is_well else 1)


async def _print_speed(settings: Settings, *, as_json: bool) -> int:
    """Prints the speed of the models on this machine as it is measured; returns 1 when one of them fails."""
    registry, sentences = ModelRegistry(settings), OfflineModel(settings.data_dir / "models")
    results = []
    try:
        async for result in measure_local_speech(registry):
            results.append(result)
            if not as_json:
                typer.echo(describe_speed(result))
        try:
            results.append(await measure_sentences(sentences.embed_query, SENTENCE_MODEL.model))
        except DomainError as error:
            failed = SpeedResult("sentences", BUILTIN, SENTENCE_MODEL.model, code=error.code, message=error.message)
            results.append(failed)
    finally:
        await registry.close()
        await sentences.aclose()
    if as_json:
        machine = {"cpus": os.cpu_count(), "architecture": platform.machine()}
        typer.echo(json.dumps({"version": __version__, "machine": machine, "bench": [asdict(one) for one in results]}))
    else:
        typer.echo(describe_speed(results[-1]))
    return 1 if any(result.code for result in results) else 0


def describe_speed(result: SpeedResult) -> str:
    """Returns one line for people."""
    name = result.model if result.provider == BUILTIN else f"{result.model} (voice pack)"
    head = f"{_SPEED_TITLES[result.kind]:<15} {name:<28}"
    if result.code is not None:
        return f"{head} {result.message} ({result.code})"
    waits = _SPEED_WAITS[result.kind].format(result.answer_ms)
    if result.real_time_factor is None:
        return f"{head} {waits}"
    hint = "" if result.real_time_factor < 1 else ": too slow for calls"
    return f"{head} {waits}, {result.real_time_factor:.3f} of real time{hint}"


def run_checks(settings: Settings) -> list[DoctorCheck]:
    """Runs every check in the order in which a start needs them. Call it from the main thread."""
    checks = [_check_data_folder(settings), check_server(settings), DoctorCheck("user", *describe_user())]
    if checks[0].status != "failed" or settings.database_url:
        checks += _check_database(settings)
    checks += [asyncio.run(check_storage(settings)), check_address(settings), check_proxies(settings)]
    checks += [check_signup(settings), check_connections(settings, raise_descriptor_limit())]
    checks += [asyncio.run(check_file_readers()), *_check_offline_speech()]
    checks += [DoctorCheck("turn detector", *describe_detector(settings))]
    checks += [*asyncio.run(check_models(settings)), asyncio.run(_check_local_models(settings))]
    has_page = UI_INDEX.is_file()
    hint = "not built. The API works without it; build it with `make web`."
    checks.append(DoctorCheck("web UI", "ok" if has_page else "warning", "built" if has_page else hint))
    return checks


def check_address(settings: Settings) -> DoctorCheck:
    """Says whether passwords and calls can cross a network unencrypted."""
    public = urlsplit(settings.public_url or "")
    is_local = settings.host in _LOOPBACK and (settings.public_url is None or public.hostname in _LOOPBACK)
    if is_local or public.scheme == "https":
        return DoctorCheck("address", "ok", settings.public_url or f"{settings.host}, this machine only")
    hint = (
        f"{settings.public_url or settings.host} is reached without TLS: passwords and calls can be read on the way. Put a "
        "reverse proxy with a certificate in front, and set OFFHOOK_PUBLIC_URL to its https:// address."
    )
    return DoctorCheck("address", "warning", hint)


def check_proxies(settings: Settings) -> DoctorCheck:
    """Says which proxies are trusted about a client's address."""
    if settings.trusted_proxies.strip():
        trusts_all = {"*", "0.0.0.0/0", "::/0"} & {part.strip() for part in settings.trusted_proxies.split(",")}
        detail = (
            f"X-Forwarded-* is trusted from {settings.trusted_proxies}. They must append to X-Forwarded-For and overwrite "
            "X-Forwarded-Proto and X-Forwarded-Host."
        )
        return DoctorCheck("proxies", "warning" if trusts_all else "ok", detail)
    if settings.public_url is not None and settings.host in _LOOPBACK:
        hint = "No proxy is trusted, so all clients behind one share its address. Set OFFHOOK_TRUSTED_PROXIES to the reverse proxy's address."
        return DoctorCheck("proxies", "warning", hint)
    return DoctorCheck("proxies", "ok", "none is trusted")


def check_signup(settings: Settings) -> DoctorCheck:
    """Says whether strangers can ask for an account."""
    if settings.signup_enabled:
        return DoctorCheck("sign-up", "warning", "strangers can request an account (OFFHOOK_SIGNUP_ENABLED)")
    return DoctorCheck("sign-up", "ok", "by invitation and sign-in link only")


async def check_file_readers() -> DoctorCheck:
    """Says what protects the server from the programs that read files of strangers."""
    user_id = reader_user_id()
    gaps = await find_sandbox_gaps()
    if gaps:
        hint = (
            "read documents, sounds and contact lists of strangers with more rights than they need. Run Offhook on a kernel "
            "with Landlock and seccomp (Linux 5.13 or newer), in a container that allows them."
        )
        return DoctorCheck("file readers", "warning", f"without {', '.join(gaps)}: they {hint}")
    user = "the server's user" if user_id is None else f"user {user_id}"
    return DoctorCheck("file readers", "ok", f"Landlock, seccomp, as {user}")


def check_connections(settings: Settings, descriptors: int) -> DoctorCheck:
    """Says whether the process may open as many files and sockets as its connections and calls need."""
    possible = possible_connections(settings, descriptors)
    if possible == settings.max_connections:
        return DoctorCheck("connections", "ok", f"{possible} at once, with {descriptors} file descriptors")
    hint = (
        f"{possible} at once instead of {settings.max_connections}: a process may open {descriptors} files. Raise the limit "
        "(LimitNOFILE= of systemd, ulimit -Hn), or lower OFFHOOK_MAX_CONNECTIONS."
    )
    return DoctorCheck("connections", "warning", hint)


def _check_data_folder(settings: Settings) -> DoctorCheck:
    name = "data folder"
    try:
        DataFolder(settings.data_dir).prepare()
    except DataFolderError as error:
        return DoctorCheck(name, "failed", str(error))
    free_mb = shutil.disk_usage(settings.data_dir).free // 2**20
    if free_mb < MIN_FREE_MB:
        return DoctorCheck(name, "warning", f"{settings.data_dir}: only {free_mb} MB free; recordings need more.")
    return DoctorCheck(name, "ok", f"{settings.data_dir}, {free_mb} MB free")


def check_server(settings: Settings, find_unit: Callable[[int], str | None] = find_socket_unit) -> DoctorCheck:
    """Checks whether the server runs or could run: its port is free, or systemd holds it for the server."""
    running = DataFolder(settings.data_dir).running_server() if settings.data_dir.is_dir() else None
    if running is not None and running.url:
        return DoctorCheck("server", "ok", f"runs at {running.url} (process {running.pid})")
    try:
        with bind_socket(settings.host, settings.port):
            return DoctorCheck("server", "ok", f"not running; {base_url(settings)} is available")
    except PortInUse as error:
        if (unit := find_unit(settings.port)) is not None:
            return DoctorCheck("server", "ok", f"not running; systemd ({unit}) holds port {settings.port} for it")
        return DoctorCheck("server", "failed", str(error))


def _check_database(settings: Settings) -> list[DoctorCheck]:
    try:
        kind = "OFFHOOK_DATABASE_URL" if configured_url(settings) else "embedded"
        with any_database(settings, wait_s=5) as url:
            return asyncio.run(_ask_database(settings, open_database(settings, url), kind))
    except (PostgresError, DataFolderError, SettingsError) as error:
        return [DoctorCheck("database", "failed", str(error))]


async def _ask_database(settings: Settings, database: Database, kind: str) -> list[DoctorCheck]:
    checks = [await _run_check("database", lambda: _check_version(database, kind))]
    if checks[0].status == "ok":
        checks.append(await _run_check("migrations", lambda: _check_migrations(database)))
        if checks[1].status == "ok":
            checks.append(await _run_check("jobs", lambda: _check_jobs(database)))
        if checks[1].status != "failed":
            checks.append(await _run_check("installation", lambda: _check_installation(database, settings)))
        if database.pooler_url is not None:
            checks.append(await _run_check("pooler", lambda: _check_pooler(database)))
    await database.dispose()
    return checks


async def _run_check(name: str, check: Callable[[], Awaitable[DoctorCheck]]) -> DoctorCheck:
    try:
        async with asyncio.timeout(10):
            return await check()
    except DatabaseTlsError as error:
        return DoctorCheck(name, "failed", str(error))
    except (SQLAlchemyError, OSError, TimeoutError) as error:
        original = getattr(error, "orig", None) or error
        reason = str(original).partition("\n")[0] or type(original).__name__
        return DoctorCheck(name, "failed", f"No response: {reason}")


async def _check_pooler(database: Database) -> DoctorCheck:
    if await database.is_pooler_elsewhere():
        return DoctorCheck("pooler", "failed", "leads to another database than OFFHOOK_DATABASE_URL")
    return DoctorCheck("pooler", "ok", "OFFHOOK_DATABASE_POOLER_URL")


async def _check_version(database: Database, kind: str) -> DoctorCheck:
    async with database.transaction() as session:
        version, number = await server_version(session)
    if number < 150000:
        return DoctorCheck(
            "database", "failed", f"PostgreSQL {version} is too old; PostgreSQL 15 or newer is required."
        )
    return DoctorCheck("database", "ok", f"PostgreSQL {version}, {kind}")


async def _check_installation(database: Database, settings: Settings) -> DoctorCheck:
    if await migrations.current_revision(database) != migrations.head_revision():
        return DoctorCheck("installation", "warning", "not checked until the database is migrated")
    try:
        await require_installation(database, keyring_of(settings), settings.storage_url)
    except OtherInstallation as error:
        return DoctorCheck("installation", "failed", str(error))
    return DoctorCheck("installation", "ok", "secret key and storage match the other processes")


async def check_storage(settings: Settings) -> DoctorCheck:
    """Says whether the bucket responds to this machine."""
    problem = await find_storage_problem(settings)
    where = describe_storage(name_storage(settings.storage_url))
    return DoctorCheck("storage", "failed" if problem else "ok", problem or where)


async def _check_migrations(database: Database) -> DoctorCheck:
    at = await migrations.current_revision(database)
    if at == migrations.head_revision():
        return DoctorCheck("migrations", "ok", f"at {at}, the latest")
    try:
        await migrations.require_current(database)
    except MigrationError as error:
        is_foreign = at is not None and at not in migrations.list_revisions()
        return DoctorCheck("migrations", "failed" if is_foreign else "warning", str(error))
    return DoctorCheck("migrations", "ok", f"at {at}")


async def _check_jobs(database: Database) -> DoctorCheck:
    async with database.transaction() as session:
        failed = await jobs.failed_jobs(session)
    if not await jobs.is_healthy(database):
        return DoctorCheck(
            "jobs", "warning", "Jobs are waiting and no worker is running. Start one with `offhook worker`."
        )
    if failed:
        names = ", ".join(sorted({job.name for job in failed}))
        return DoctorCheck(
            "jobs", "warning", f"{len(failed)} jobs failed permanently ({names}). `offhook jobs failed` shows them."
        )
    return DoctorCheck("jobs", "ok", "no overdue or failed jobs")


def _check_offline_speech() -> list[DoctorCheck]:
    """Checks the parts of a call that need no vendor: voice activity, voice and recognition."""
    try:
        checks = [DoctorCheck("voice activity model", "ok", model_path().name)]
    except VadModelMissing as error:
        checks = [DoctorCheck("voice activity model", "failed", str(error))]
    package = importlib.util.find_spec("espeakng_loader")
    libraries = list(Path(package.origin).parent.glob("libespeak-ng*")) if package and package.origin else []
    found = libraries[0].name if libraries else ctypes.util.find_library("espeak-ng")
    hint = "espeak-ng is missing. Install espeakng-loader or configure another voice."
    checks.append(DoctorCheck("offline voice", "ok" if found else "warning", f"espeak-ng ({found})" if found else hint))
    package = importlib.util.find_spec("pocketsphinx")
    folders = (package.submodule_search_locations or []) if package else []
    has_model = any((Path(folder) / "model" / "en-us" / "en-us").is_dir() for folder in folders)
    hint = "pocketsphinx or its model is missing. Install pocketsphinx."
    detail = "pocketsphinx, en-us" if has_model else hint
    checks.append(DoctorCheck("offline recognition", "ok" if has_model else "warning", detail))
    return checks


async def check_models(settings: Settings) -> list[DoctorCheck]:
    """Checks the installation's default models with their vendors."""
    registry = ModelRegistry(settings)
    try:
        chosen = registry.installed_models()
        results = await check_all(registry.catalog, chosen)
    except UnknownModel as error:
        return [DoctorCheck("models", "failed", f"OFFHOOK_LLM_*, _TTS_* and _STT_* are invalid: {error.message}")]
    finally:
        await registry.close()
    asked = [_model_check(choices[0], results[kind][0]) for kind, choices in chosen.by_kind.items()]
    return [check for check in asked if check is not None]


def _model_check(choice: ModelChoice, result: AccessCheckResult) -> DoctorCheck | None:
    """Returns None for an offline voice and recognizer, which have their own checks."""
    if choice.provider == BUILTIN:
        detail = "built-in rules; set OFFHOOK_LLM_PROVIDER to use a language model"
        return DoctorCheck(_MODEL_TITLES["llm"], "ok", detail) if choice.kind == "llm" else None
    name = f"{choice.model} of {choice.provider}" + (f" at {choice.base_url}" if choice.base_url else "")
    if result.code is None:
        return DoctorCheck(_MODEL_TITLES[choice.kind], "ok", name)
    is_refused = result.code.endswith(("_unauthorized", "_forbidden"))
    wrong = "API_KEY" if is_refused or not (choice.api_key or choice.base_url) else "MODEL"
    if choice.base_url and not is_refused:
        wrong = "BASE_URL"
    hint = f"check OFFHOOK_{choice.kind.upper()}_{wrong}"
    return DoctorCheck(
        _MODEL_TITLES[choice.kind], "failed", f"{name} does not work: {result.message} ({result.code}); {hint}."
    )


async def _check_local_models(settings: Settings) -> DoctorCheck:
    """Lists the model servers on this machine; they are optional."""
    name = "local model servers"
    found = await local_servers.detect_servers()
    if not found:
        return DoctorCheck(
            name, "ok", f"none found ({', '.join(server.title for server in local_servers.KNOWN_SERVERS)})"
        )
    listed = "; ".join(f"{one.title} ({one.kind}) at {one.base_url}: {', '.join(one.models[:3])}" for one in found)
    may_use = (
        ""
        if local_servers.are_allowed(settings)
        else ". Set OFFHOOK_LOCAL_MODELS=on to allow organizations to use them"
    )
    return DoctorCheck(name, "ok", listed + may_use)
