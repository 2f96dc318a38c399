"""Errors of web pages: those of requests, and the codes that say why a page was not read."""

from typing import Final, Literal

from offhook.errors import Conflict, UnprocessableRequest

PageErrorCode = Literal[
    "page_unreachable",
    "page_refused",
    "page_too_large",
    "page_not_text",
    "page_empty",
    "page_not_processed",
    "storage_full",
    "page_interrupted",
]
MAX_PAGE_MB: Final = 10


class PageAddressInvalid(UnprocessableRequest):
    """The address of a web page must begin with https://."""

    code = "page_address_invalid"


class NotAPage(Conflict):
    """This document is an uploaded file. Only web pages can be read again."""

    code = "document_not_a_page"


class PageBeingRead(Conflict):
    """This page is already being read. Wait until that is finished."""

    code = "page_being_read"


class DocumentArchived(Conflict):
    """This document is archived. Unarchive it first."""

    code = "document_archived"


class PageUnreadable(Exception):
    """The page was not read; the message is a sentence for people."""

    def __init__(self, code: PageErrorCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
