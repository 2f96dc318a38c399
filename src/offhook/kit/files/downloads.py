"""The name under which a browser stores what it was sent."""

import re
from typing import Final, Literal
from urllib.parse import quote

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9 ._()-]+")


def content_disposition(filename: str, *, kind: Literal["inline", "attachment"] = "inline") -> str:
    """``Content-Disposition`` for a name of any characters: people name runs, and a header takes Latin-1 without breaks."""
    if _PLAIN_NAME.fullmatch(filename):
        return f'{kind}; filename="{filename}"'
    return f"{kind}; filename*=utf-8''{quote(filename, safe='', errors='replace')}"
