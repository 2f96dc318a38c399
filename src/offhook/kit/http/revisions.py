"""Edit conflicts: the revision that a client has read, sent as a header, and the response's own revision."""

import re
from typing import Annotated

from fastapi import Depends, Header, Response

from offhook.errors import UnprocessableRequest

_ETAG = re.compile(r'(?:W/)?"?([0-9]{1,9})"?')


class RevisionInvalid(UnprocessableRequest):
    """If-Match is not a revision. Send the ETag of the version that you read."""

    code = "revision_invalid"


def _expected_revision(
    if_match: Annotated[str | None, Header(description="The ETag of the version that you read")] = None,
) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    match = _ETAG.fullmatch(if_match.strip())
    if match is None:
        raise RevisionInvalid
    return int(match[1])


# None if the client did not send one: then the last writer wins.
IfMatch = Annotated[int | None, Depends(_expected_revision)]


def set_revision(response: Response, revision: int) -> None:
    """Sets the revision as ``ETag``, which clients send back as ``If-Match``."""
    response.headers["ETag"] = f'"{revision}"'
