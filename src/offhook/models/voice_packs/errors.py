"""Errors of voice packs: each says what the operator does next. What was fetched before an error is kept."""

from offhook.errors import DomainError


class VoicePackError(DomainError):
    """The voice pack cannot be used."""

    code = "voices_failed"


class VoicesSourceMissing(VoicePackError):
    """No voice pack address is set; Offhook ships none. Name a mirror or a folder with --from or OFFHOOK_VOICES_URL, or
    make a manifest of files that you downloaded with `offhook voices pack FOLDER`."""

    code = "voices_source_missing"
    status = 422


class VoicesAddressInvalid(VoicePackError):
    """This is neither an existing folder nor an https:// address (http:// is for this machine only)."""

    code = "voices_address_invalid"
    status = 422


class VoicesManifestInvalid(VoicePackError):
    """The manifest is not a voice pack manifest."""

    code = "voices_manifest_invalid"
    status = 422


class VoicesManifestUnavailable(VoicePackError):
    """No mirror serves the manifest. Check the address; it names the folder that holds voices.json."""

    code = "voices_manifest_unavailable"
    status = 502


class VoicesManifestMismatch(VoicePackError):
    """The manifest does not match the pinned SHA-256."""

    code = "voices_manifest_mismatch"
    status = 409


class VoicesFolderInvalid(VoicePackError):
    """The folder does not contain the files of a recognizer or a voice."""

    code = "voices_folder_invalid"
    status = 422


class VoicesDiskFull(VoicePackError):
    """The disk has too little free space. Free some space and install again; downloaded files are kept."""

    code = "voices_disk_full"
    status = 507


class VoicesDiskFailed(VoicePackError):
    """The voices folder cannot be written to. Check its permissions."""

    code = "voices_disk_failed"
    status = 507


class VoicesInstallRunning(VoicePackError):
    """Another voice pack installation is running. Wait until it has finished."""

    code = "voices_install_running"
    status = 409


class VoicesInstallNotRunning(VoicePackError):
    """No voice pack installation is running."""

    code = "voices_install_not_running"
    status = 409


class VoicesDownloadFailed(VoicePackError):
    """A file could not be downloaded from any mirror. Install again later; downloaded files are kept."""

    code = "voices_download_failed"
    status = 502


class VoicesFileMismatch(VoicePackError):
    """The mirrors' files do not match the manifest: they are damaged, or the manifest is out of date."""

    code = "voices_file_mismatch"
    status = 502


class VoicesNotInstalled(VoicePackError):
    """No voice pack with this name is installed."""

    code = "voices_not_installed"
    status = 404


class VoicesDamaged(VoicePackError):
    """Files of the pack have changed on disk, so it is no longer used. Install it again; only those files are
    downloaded."""

    code = "voices_damaged"
    status = 409
