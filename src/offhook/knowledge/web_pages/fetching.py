"""Fetches a web page within limits, and names the file after its type."""

import asyncio
import codecs
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

import httpx2

from offhook.kit.egress import (
    AddressRefused,
    EgressClient,
    EgressError,
    EgressResponse,
    MediaTypeRefused,
    RedirectRefused,
    ResponseTooLarge,
    UrlInvalid,
)
from offhook.kit.json_values import sanitize_text
from offhook.knowledge.web_pages.page_errors import MAX_PAGE_MB, PageErrorCode, PageUnreadable

TIMEOUT_S: Final = 30.0
MAX_REDIRECTS: Final = 5
_ENDINGS: Final = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/plain": ".txt",
}
_ACCEPT: Final = "text/html, application/xhtml+xml, application/pdf, text/markdown, text/plain;q=0.9"
# Others could take long for a large page: it is decoded here, outside the limits of the readers.
_CHARSETS: Final = re.compile(
    r"ascii|utf-(?:8|16|16-le|16-be)|iso8859-\d+|cp\d+|koi8-[ru]|mac-\w+|shift_jis|euc_(?:jp|kr)|gb\w+|big5|tis-620"
)
_TOO_LARGE: Final = f"The page is larger than {MAX_PAGE_MB} MB. Upload it as a file instead."
_NOT_TEXT: Final = "Web pages, PDF, Markdown, and plain text can be read from an address."


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """``filename`` ends as files of the page's type do."""

    content: bytes
    filename: str


class PageFetcher:
    """Fetches the pages that users add. ``egress`` checks each address, redirects included."""

    def __init__(self, egress: EgressClient) -> None:
        self._egress = egress

    async def fetch(self, address: str) -> FetchedPage:
        """Raises PageUnreadable."""
        try:
            response = await self._egress.request(
                "GET",
                address,
                headers={"accept": _ACCEPT},
                timeout_s=TIMEOUT_S,
                max_bytes=MAX_PAGE_MB * 1024 * 1024,
                max_redirects=MAX_REDIRECTS,
                media_types=_ENDINGS,
            )
        except MediaTypeRefused as error:
            _require_success(error.remote_status)
            raise PageUnreadable("page_not_text", f"{error.message} {_NOT_TEXT}") from None
        except ResponseTooLarge:
            raise PageUnreadable("page_too_large", _TOO_LARGE) from None
        except EgressError as error:
            raise PageUnreadable(_code_of(error), error.message) from None
        _require_success(response.status)
        if not response.content.strip():
            raise PageUnreadable("page_empty", "The page is empty.")
        content = await asyncio.to_thread(_as_unicode, response)
        return FetchedPage(content, _filename(address, response.media_type))


def filename_of(address: str) -> str:
    """Returns the last part of an address's path, or its host."""
    parts = urlsplit(address)
    return _as_label(parts.path.rstrip("/").rpartition("/")[2] or parts.netloc)[:250] or "page"


def name_of(address: str) -> str:
    """Returns the host and the path of an address."""
    return _as_label(address.removeprefix("https://").partition("?")[0].rstrip("/"))[:255]


def _as_label(part: str) -> str:
    return " ".join(sanitize_text(unquote(part)).split())


def _code_of(error: EgressError) -> PageErrorCode:
    return "page_refused" if isinstance(error, AddressRefused | RedirectRefused | UrlInvalid) else "page_unreachable"


def _require_success(status: int) -> None:
    if not 200 <= status < 300:
        reason = httpx2.codes.get_reason_phrase(status)
        said = f"{status} ({reason})" if reason else str(status)
        raise PageUnreadable("page_unreachable", f"The web server responded with status {said}.")


def _filename(address: str, media_type: str) -> str:
    """Plain text whose address ends in .md is Markdown: repositories of code serve it so."""
    name, ending = filename_of(address), _ENDINGS[media_type]
    is_named = name.lower().endswith(ending) or (ending == ".txt" and name.lower().endswith(".md"))
    return name if is_named else f"{name}{ending}"


def _as_unicode(response: EgressResponse) -> bytes:
    """Returns text in the encoding that its response declares as UTF-8 with a mark: readers see only the bytes."""
    if response.media_type == "application/pdf" or response.content.startswith(b"%PDF-"):
        return response.content
    declared = re.search(r"charset\s*=\s*[\"']?([\w-]{2,40})", str(response.headers.get("content-type", "")))
    try:
        charset = codecs.lookup(declared[1]).name if declared else ""
        if not _CHARSETS.fullmatch(charset):
            return response.content
        return codecs.BOM_UTF8 + response.content.decode(charset, "replace").lstrip("\ufeff").encode()
    except (LookupError, UnicodeError):
        return response.content
