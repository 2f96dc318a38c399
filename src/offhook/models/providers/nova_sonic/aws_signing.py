"""AWS Signature Version 4 for one request and for the messages of its event stream.

A stream's messages are signed one after another: each signature covers the one before, the first one the request's.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from offhook.models.providers.nova_sonic.event_stream import encode_headers, encode_message

SERVICE: Final = "bedrock"
# The request's payload is not hashed: it is signed message by message.
STREAMING_PAYLOAD: Final = "STREAMING-AWS4-HMAC-SHA256-EVENTS"


@dataclass(frozen=True, slots=True)
class AwsKey:
    """An access key and the region that it is used in."""

    access_key_id: str
    secret: str
    region: str

    def scope(self, moment: datetime) -> str:
        return f"{moment:%Y%m%d}/{self.region}/{SERVICE}/aws4_request"

    def sign_text(self, moment: datetime, text: str) -> str:
        """Returns the signature of a string to sign, in hexadecimal digits."""
        key = f"AWS4{self.secret}".encode()
        for part in self.scope(moment).split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        return hmac.digest(key, text.encode(), "sha256").hex()


def sign_request(
    key: AwsKey, moment: datetime, *, host: str, path: str, headers: Mapping[str, str]
) -> tuple[dict[str, str], str]:
    """Returns the headers of a signed POST, and its signature, from which the stream's signatures go on.

    ``path`` is the one that is sent, with its escapes.
    """
    stamp = f"{moment:%Y%m%dT%H%M%SZ}"
    signed = {**headers, "host": host, "x-amz-content-sha256": STREAMING_PAYLOAD, "x-amz-date": stamp}
    names = sorted(signed)
    # every service but S3 has the sent path escaped once more
    lines = ["POST", quote(path, safe="/"), "", *(f"{name}:{signed[name].strip()}" for name in names)]
    canonical = "\n".join([*lines, "", ";".join(names), STREAMING_PAYLOAD])
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, key.scope(moment), hashlib.sha256(canonical.encode()).hexdigest()])
    signature = key.sign_text(moment, text)
    credential = f"{key.access_key_id}/{key.scope(moment)}"
    signed["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={';'.join(names)}, Signature={signature}"
    )
    return signed, signature


class EventSigner:
    """Signs the messages of one stream."""

    def __init__(self, key: AwsKey, request_signature: str) -> None:
        self._key = key
        self._before = request_signature

    def sign_message(self, message: bytes, moment: datetime | None = None) -> bytes:
        """Wraps an encoded message in a signed one; an empty message ends the stream."""
        moment = moment or datetime.now(UTC)
        date = {":date": moment}
        text = "\n".join(
            [
                "AWS4-HMAC-SHA256-PAYLOAD",
                f"{moment:%Y%m%dT%H%M%SZ}",
                self._key.scope(moment),
                self._before,
                hashlib.sha256(encode_headers(date)).hexdigest(),
                hashlib.sha256(message).hexdigest(),
            ]
        )
        self._before = self._key.sign_text(moment, text)
        return encode_message({**date, ":chunk-signature": bytes.fromhex(self._before)}, message)
