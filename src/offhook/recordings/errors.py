"""Errors of recordings."""

from offhook.errors import Conflict, DomainError, NotFound, UnprocessableRequest


class RecordingNotFound(NotFound):
    """Recording not found."""

    code = "recording_not_found"


class RecordingUploadNotFound(NotFound):
    """No file was uploaded under this storage_key. Get an upload_url, PUT the file, then create the recording."""

    code = "recording_upload_not_found"


class RecordingIdTaken(Conflict):
    """This recording_id is already in use."""

    code = "recording_id_taken"


class RecordingExists(Conflict):
    """A recording of this upload already exists."""

    code = "recording_exists"


class WorkflowOfRecordingNotFound(NotFound):
    """Workflow not found."""

    code = "workflow_not_found"


class RecordingTooLarge(DomainError):
    """Recordings are limited to 5 MB."""

    code = "file_too_large"
    status = 413


class NotAudio(DomainError):
    """This audio format is not supported. Upload a WAV, FLAC, Ogg or MP3 file."""

    code = "audio_not_supported"
    status = 415


class AudioUnusable(UnprocessableRequest):
    """This recording cannot be used."""

    code = "audio_unusable"


class CannotTranscribe(Conflict):
    """The built-in recognizer only understands expected phrases. Configure a speech-to-text vendor to transcribe files."""

    code = "stt_cannot_transcribe"


class TranscriptionFailed(DomainError):
    """The speech-to-text vendor failed."""

    code = "transcription_failed"
    status = 502
