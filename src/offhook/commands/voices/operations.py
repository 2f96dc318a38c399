"""What the commands below ``offhook voices`` do."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from offhook.commands.console import CommandError, load_settings, report_errors
from offhook.errors import DomainError
from offhook.models.voice_packs.errors import VoicesManifestInvalid, VoicesSourceMissing
from offhook.models.voice_packs.installer import (
    InstallProgress,
    PackInstaller,
    check_manifest,
    describe_size,
    fetch_manifest,
)
from offhook.models.voice_packs.manifest import MAX_MANIFEST_BYTES, PackManifest
from offhook.models.voice_packs.mirrors import MirrorSet
from offhook.models.voice_packs.packing import PackOrder, make_manifest, write_manifest
from offhook.models.voice_packs.store import InstalledPack, PackStore
from offhook.settings import Settings

_STEP_PERCENT: Final = 10
_AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def install_voices(
    source: Annotated[
        list[str] | None,
        typer.Option("--from", help="A mirror (https://…) or a folder (repeatable; tried in order)."),
    ] = None,
    manifest: Annotated[
        str | None, typer.Option(help="The manifest: a file or an address. Default: voices.json of the mirror.")
    ] = None,
    sha256: Annotated[str | None, typer.Option(help="The expected SHA-256 of the manifest.")] = None,
    is_confirmed: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for another installation to finish.")] = 0,
    as_json: _AsJson = False,
) -> None:
    """Download a pack, check it and install it. After an interruption, run it again to continue."""
    with _report_pack_errors(as_json):
        settings = load_settings()
        addresses = source or [part.strip() for part in settings.voices_url.split(",") if part.strip()]
        if not addresses and manifest is not None:
            addresses = [manifest.rpartition("/")[0] or "."]
        if not addresses:
            raise VoicesSourceMissing
        pack = asyncio.run(_install(settings, addresses, manifest, sha256, wait, is_confirmed, as_json))
        typer.echo(json.dumps(_describe_pack(pack)) if as_json else f"Installed: {_summarize_pack(pack)}")


def list_voices(as_json: _AsJson = False) -> None:
    """List installed packs."""
    with _report_pack_errors(as_json):
        packs = _open_store(load_settings()).list_packs()
        if as_json:
            typer.echo(json.dumps({"packs": [_describe_pack(pack) for pack in packs]}))
            return
        for pack in packs:
            typer.echo(_summarize_pack(pack))
        if not packs:
            typer.echo("No voice pack is installed. Run `offhook voices install --help` to learn how.")


def verify_voices(
    name: Annotated[str | None, typer.Argument(help="The pack to check; all by default.")] = None,
) -> None:
    """Check every file. A damaged pack is no longer used; installing it again downloads the damaged files."""
    with _report_pack_errors():
        store = _open_store(load_settings())
        with store.hold_lock("verifying"):
            packs = [store.find_pack(name)] if name else store.list_packs()
            for pack in packs:
                store.verify_pack(pack)
                typer.echo(f"{pack.name}: {len(pack.manifest.files)} files are intact.")
        if not packs:
            typer.echo("No voice pack is installed.")


def remove_voices(name: Annotated[str, typer.Argument(help="The name that `list` shows.")]) -> None:
    """Remove a pack and its downloaded files."""
    with _report_pack_errors():
        store = _open_store(load_settings())
        with store.hold_lock(f"removing {name}"):
            freed = store.remove_pack(name)
        typer.echo(f"Removed {name}. Freed {describe_size(freed)}.")


def pack_voices(
    folder: Annotated[Path, typer.Argument(help="A folder with stt/ (a recognizer), tts/ (a voice), or both.")],
    name: Annotated[str, typer.Option(help="Name of the pack: lowercase letters, digits and hyphens.")],
    title: Annotated[str | None, typer.Option(help="Title that people see; the name by default.")] = None,
    stt_license: Annotated[str | None, typer.Option(help="As shown on the model's page, e.g. Apache-2.0.")] = None,
    tts_license: Annotated[str | None, typer.Option(help="As shown on the model's page, e.g. MIT.")] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Language that it speaks and understands; en by default.")
    ] = None,
    speaker: Annotated[list[str] | None, typer.Option(help="A voice within the model: NAME=NUMBER.")] = None,
) -> None:
    """Create a manifest for files that you downloaded. The folder is then a mirror: install from it, or serve it."""
    with _report_pack_errors():
        if not folder.is_dir():
            raise CommandError(f"{folder} is not a folder.")
        speakers = tuple(_parse_speaker(each) for each in speaker or ())
        order = PackOrder(name, title or name, stt_license, tts_license, tuple(language or ["en"]), speakers)
        manifest = make_manifest(folder, order)
        path = write_manifest(folder, manifest)
        typer.echo(f"{path}: {_summarize_manifest(manifest)}")
        typer.echo(f"Install it with: offhook voices install --from {folder}")


async def _install(
    settings: Settings,
    addresses: list[str],
    manifest_at: str | None,
    sha256: str | None,
    wait_s: float,
    is_confirmed: bool,
    as_json: bool,
) -> InstalledPack:
    async with MirrorSet(addresses, settings.egress_allow) as mirrors:
        manifest = await _load_manifest(settings, mirrors, manifest_at, sha256)
        if not as_json:
            typer.echo(_summarize_manifest(manifest))
        store = _open_store(settings)
        if not is_confirmed and not any(pack.manifest.digest == manifest.digest for pack in store.list_packs()):
            _confirm(manifest)
        installer = PackInstaller(store, mirrors, min_free_bytes=settings.min_free_disk_mb * 10**6)
        line = _ProgressLine(is_shown=not as_json)
        try:
            return await installer.install_pack(manifest, line.show, wait_s=wait_s)
        finally:
            line.end()


async def _load_manifest(
    settings: Settings, mirrors: MirrorSet, manifest_at: str | None, sha256: str | None
) -> PackManifest:
    if manifest_at is None:
        return await fetch_manifest(mirrors, sha256=sha256)
    if "://" in manifest_at:
        folder, _, name = manifest_at.rpartition("/")
        async with MirrorSet([folder], settings.egress_allow) as source:
            return await fetch_manifest(source, name, sha256=sha256)
    return check_manifest(_read_file(Path(manifest_at)), sha256)


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_MANIFEST_BYTES)
    except OSError as error:
        raise VoicesManifestInvalid(f"The manifest {path} cannot be read: {error.strerror}.") from None


def _confirm(manifest: PackManifest) -> None:
    if not sys.stdin.isatty():
        raise CommandError("Confirmation needs a terminal. Add --yes to accept the download and its licenses.")
    typer.confirm(f"Download {describe_size(manifest.size)} under {', '.join(manifest.licenses)}?", abort=True)


class _ProgressLine:
    """One line that is written over on a terminal; elsewhere a line for every tenth."""

    def __init__(self, *, is_shown: bool) -> None:
        self._is_shown = is_shown
        self._is_terminal = sys.stderr.isatty()
        self._shown = -1

    def show(self, progress: InstallProgress) -> None:
        percent = 100 * progress.done_bytes // max(progress.total_bytes, 1)
        step = percent if self._is_terminal else percent // _STEP_PERCENT * _STEP_PERCENT
        if not self._is_shown or step == self._shown:
            return
        self._shown = step
        total = describe_size(progress.total_bytes)
        text = f"{percent:3} % of {total}  {progress.file:.60}"
        typer.echo(f"\r{text:<80}" if self._is_terminal else text, nl=not self._is_terminal, err=True)

    def end(self) -> None:
        if self._is_shown and self._is_terminal and self._shown >= 0:
            typer.echo(err=True)


@contextmanager
def _report_pack_errors(as_json: bool = False) -> Iterator[None]:
    """Ends the command with the sentence of an error and its code, which scripts can rely on."""
    with report_errors():
        try:
            yield
        except DomainError as error:
            if as_json:
                typer.echo(json.dumps({"code": error.code, "detail": error.message}))
            raise CommandError(f"{error.message} ({error.code})") from None


def _open_store(settings: Settings) -> PackStore:
    return PackStore(settings.data_dir / "voices")


def _parse_speaker(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not number.isdecimal():
        raise CommandError(f"--speaker must be NAME=NUMBER, not {text!r}.")
    return name, int(number)


def _summarize_manifest(manifest: PackManifest) -> str:
    parts = [title for title, part in (("recognizer", manifest.stt), ("voice", manifest.tts)) if part is not None]
    licenses = ", ".join(manifest.licenses)
    return f"{manifest.name} ({manifest.title}): {' and '.join(parts)}, {describe_size(manifest.size)}, {licenses}"


def _summarize_pack(pack: InstalledPack) -> str:
    return f"{_summarize_manifest(pack.manifest)}, installed {pack.installed_at:%Y-%m-%d}"


def _describe_pack(pack: InstalledPack) -> dict[str, object]:
    manifest = pack.manifest
    return {
        "name": manifest.name,
        "title": manifest.title,
        "bytes": manifest.size,
        "licenses": manifest.licenses,
        "stt": manifest.stt.type if manifest.stt else None,
        "tts": manifest.tts.type if manifest.tts else None,
        "folder": str(pack.folder),
        "installed_at": pack.installed_at.isoformat(),
    }
