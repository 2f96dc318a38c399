"""The file name that a browser uses for a download."""

import re
from typing import Final, Literal
from urllib.parse import quote

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9 ._()-]+")


def content_disposition(filename: str, *, kind: Literal["inline", "attachment"] = "inline") -> str:
    """Returns ``Content-Disposition`` for any name, although a header takes only Latin-1 without line breaks."""
    if _PLAIN_NAME.fullmatch(filename):
        return f'{kind}; filename="{filename}"'
    return f"{kind}; filename*=utf-8''{quote(filename, safe='', errors='replace')}"
