"""XML answers to carriers, built from elements so that nothing a caller or a user writes can become markup."""

import re
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from offhook.telephony.ports import Document

CONTENT_TYPE: Final = "text/xml"
# Characters that XML 1.0 does not have, however they are written.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(content: str) -> str:
    return escape(_FORBIDDEN.sub("", content))


def element(name: str, *children: str, **attributes: str | int) -> str:
    """``children`` are markup already (:func:`element`, :func:`text`); an attribute ``from_`` is written ``from``."""
    written = "".join(
        f" {key.rstrip('_')}={quoteattr(_FORBIDDEN.sub('', str(value)))}" for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def response(*verbs: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>{element("Response", *verbs)}'


def document(*verbs: str, content_type: str = CONTENT_TYPE) -> Document:
    return Document(content_type, response(*verbs).encode())
