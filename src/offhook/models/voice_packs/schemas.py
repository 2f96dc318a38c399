"""Requests and responses of voice packs."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from offhook.kit.schema import Schema
from offhook.models.voice_packs.manifest import PackManifest
from offhook.models.voice_packs.pack_service import PackInstallation, PackOverview

MirrorAddress = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500, pattern=r"^[^\x00]*$")
]
PackDigest = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{64}$")]


class PackContent(Schema):
    """The contents of a pack. ``digest`` identifies its manifest."""

    name: str
    title: str
    size_bytes: int
    licenses: list[str]
    digest: str
    stt: str | None = Field(description="The kind of its recognizer: `transducer` or `moonshine`")
    tts: str | None = Field(description="The kind of its voice: `vits` or `kokoro`")
    languages: list[str]
    file_count: int

    @classmethod
    def of(cls, manifest: PackManifest) -> "PackContent":
        parts = [part for part in (manifest.stt, manifest.tts) if part is not None]
        return cls(
            name=manifest.name,
            title=manifest.title,
            size_bytes=manifest.size,
            licenses=manifest.licenses,
            digest=manifest.digest,
            stt=manifest.stt.type if manifest.stt else None,
            tts=manifest.tts.type if manifest.tts else None,
            languages=sorted({language for part in parts for language in part.languages}),
            file_count=len(manifest.files),
        )


class InstalledPackItem(PackContent):
    """``organization_count`` organizations chose it; ``is_default`` where the installation's settings do."""

    installed_at: datetime
    organization_count: int
    is_default: bool


class UnfinishedPackItem(Schema):
    """An installation that is running or was interrupted. Installing again continues from ``fetched_bytes``."""

    name: str
    title: str
    fetched_bytes: int
    size_bytes: int | None


class PackInstallationItem(Schema):
    """The installation that this process runs, or its last one. ``code`` and ``message`` say why it failed."""

    state: Literal["running", "done", "failed", "canceled"]
    name: str
    title: str
    done_bytes: int
    size_bytes: int
    file: str
    code: str | None
    message: str | None
    started_at: datetime
    ended_at: datetime | None

    @classmethod
    def of(cls, installation: PackInstallation) -> "PackInstallationItem":
        manifest, error = installation.manifest, installation.error
        return cls(
            state=installation.state,
            name=manifest.name,
            title=manifest.title,
            done_bytes=installation.done_bytes,
            size_bytes=manifest.size,
            file=installation.file,
            code=error.code if error else None,
            message=error.message if error else None,
            started_at=installation.started_at,
            ended_at=installation.ended_at,
        )


class MirrorsItem(Schema):
    """Where packs come from, in order. ``source`` is ``stored`` (by a superuser), ``environment`` (OFFHOOK_VOICES_URL) or
    ``none``."""

    addresses: list[str]
    source: Literal["stored", "environment", "none"]


class VoicePacksResponse(Schema):
    """The packs on the machine of the process that answers."""

    mirrors: MirrorsItem
    packs: list[InstalledPackItem]
    unfinished: list[UnfinishedPackItem]
    installation: PackInstallationItem | None
    free_bytes: int

    @classmethod
    def of(cls, found: PackOverview) -> "VoicePacksResponse":
        return cls(
            mirrors=MirrorsItem(addresses=list(found.mirrors.addresses), source=found.mirrors.source),
            packs=[
                InstalledPackItem(
                    **PackContent.of(pack.manifest).model_dump(),
                    installed_at=pack.installed_at,
                    organization_count=found.users.get(pack.name, 0),
                    is_default=pack.name in found.defaults,
                )
                for pack in found.installed
            ],
            unfinished=[
                UnfinishedPackItem(
                    name=part.name,
                    title=part.manifest.title if part.manifest else part.name,
                    fetched_bytes=part.fetched_bytes,
                    size_bytes=part.manifest.size if part.manifest else None,
                )
                for part in found.unfinished
            ],
            installation=PackInstallationItem.of(found.installation) if found.installation else None,
            free_bytes=found.free_bytes,
        )


class PutMirrorsRequest(Schema):
    """https:// addresses, tried in order (http:// for this machine only). None: those of OFFHOOK_VOICES_URL."""

    addresses: list[MirrorAddress] = Field(max_length=8)


class InstallPackRequest(Schema):
    """``digest`` is the one of the offer; a different pack is refused."""

    digest: PackDigest | None = None


class PackRemoved(Schema):
    name: str
    freed_bytes: int
