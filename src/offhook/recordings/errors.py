"""What can be wrong with a recording."""

from offhook.errors import Conflict, DomainError, NotFound, UnprocessableRequest


class RecordingNotFound(NotFound):
    """Recording not found."""

    code = "recording_not_found"


class RecordingUploadNotFound(NotFound):
    """Nothing was uploaded under this storage_key: get an upload_url, PUT the file, then create the recording."""

    code = "recording_upload_not_found"


class RecordingIdTaken(Conflict):
    """This recording_id is in use."""

    code = "recording_id_taken"


class RecordingExists(Conflict):
    """A recording was made of this upload already."""

    code = "recording_exists"


class WorkflowOfRecordingNotFound(NotFound):
    """Workflow not found."""

    code = "workflow_not_found"


class RecordingTooLarge(DomainError):
    """A recording may have 5 MB."""

    code = "file_too_large"
    status = 413


class NotAudio(DomainError):
    """This file cannot be played: send WAV, FLAC, Ogg or MP3."""

    code = "audio_not_supported"
    status = 415


class AudioUnusable(UnprocessableRequest):
    """This recording cannot be used."""

    code = "audio_unusable"


class CannotTranscribe(Conflict):
    """The built-in recognizer only knows expected phrases: configure a speech-to-text vendor to have files transcribed."""

    code = "stt_cannot_transcribe"


class TranscriptionFailed(DomainError):
    """The speech-to-text vendor failed."""

    code = "transcription_failed"
    status = 502
