"""Errors of documents and of questions about them."""

from offhook.errors import DomainError, NotFound, UnprocessableRequest
from offhook.knowledge.limits import MAX_FILE_MB


class DocumentNotFound(NotFound):
    """Document not found."""

    code = "document_not_found"


class DocumentTooLarge(DomainError):
    __doc__ = f"Documents are limited to {MAX_FILE_MB} MB."

    code = "file_too_large"
    status = 413


class DocumentKindUnknown(DomainError):
    """This file type is not supported. Upload a PDF, DOCX, TXT, Markdown, HTML or CSV file."""

    code = "document_not_supported"
    status = 415


class DocumentDamaged(UnprocessableRequest):
    """This file cannot be read. It may be damaged, or not be what its name says. Export it again, then upload it."""

    code = "document_unreadable"


class DocumentEmpty(UnprocessableRequest):
    """The file is empty."""

    code = "document_empty"


class DocumentNameInvalid(UnprocessableRequest):
    """A document name must have 1 to 255 characters."""

    code = "document_name_invalid"


class EmbeddingFailed(Exception):
    """Embedding texts failed; the message is a sentence for people. ``retryable`` means that it may work later."""

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.retryable = retryable


class ModelMissing(EmbeddingFailed):
    """The offline embedding model is not installed; documents are found by their words until it is."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)
