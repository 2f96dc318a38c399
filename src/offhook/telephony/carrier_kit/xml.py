"""Builds XML answers to carriers from elements, so that caller and user input can never become markup."""

import re
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from offhook.telephony.ports import CarrierDocument

CONTENT_TYPE: Final = "text/xml"
# Characters that XML 1.0 forbids, even as references.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape_text(content: str) -> str:
    return escape(_FORBIDDEN.sub("", content))


def build_element(name: str, *children: str, **attributes: str | int) -> str:
    """Returns the element's markup. ``children`` are already markup (:func:`build_element`, :func:`escape_text`); an
    attribute ``from_`` is written ``from``."""
    written = "".join(
        f" {key.rstrip('_')}={quoteattr(_FORBIDDEN.sub('', str(value)))}" for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def build_response(*verbs: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>{build_element("Response", *verbs)}'


def build_document(*verbs: str, content_type: str = CONTENT_TYPE) -> CarrierDocument:
    return CarrierDocument(content_type, build_response(*verbs).encode())
