"""What can be wrong with documents and questions about them."""

from offhook.errors import DomainError, NotFound, UnprocessableRequest
from offhook.knowledge.limits import MAX_FILE_MB


class DocumentNotFound(NotFound):
    """Document not found."""

    code = "document_not_found"


class DocumentTooLarge(DomainError):
    __doc__ = f"A document may have {MAX_FILE_MB} MB."

    code = "file_too_large"
    status = 413


class DocumentKindUnknown(DomainError):
    """This file cannot be read: send PDF, DOCX, TXT, Markdown, HTML or CSV."""

    code = "document_not_supported"
    status = 415


class DocumentEmpty(UnprocessableRequest):
    """The file is empty."""

    code = "document_empty"


class DocumentNameInvalid(UnprocessableRequest):
    """A document's name has 1 to 255 characters."""

    code = "document_name_invalid"


class EmbeddingFailed(Exception):
    """A model could not embed texts: one sentence for people. ``retryable``: the same may work a little later."""

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.retryable = retryable


class ModelMissing(EmbeddingFailed):
    """This installation has no offline model: documents are found by their words until it has one."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)
