"""What Bedrock checks of a request and of the messages of its event stream: signatures, chained one to the next.

Written from the description of AWS Signature Version 4, apart from the client's code.
"""

import hashlib
import hmac
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

_AUTHORIZATION: Final = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/bedrock/aws4_request, SignedHeaders=([^,]+), Signature=(\w{64})"
)
# The vendor refuses requests whose clock is further away.
MAX_SKEW_S: Final = 300.0
_NEEDED: Final = {"host", "x-amz-date"}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class SignatureChain:
    """Checks a request by :meth:`check_request`, then its messages by :meth:`open_message`. Answers are complaints."""

    def __init__(self, access_key_id: str, secret: str) -> None:
        self._access_key_id = access_key_id
        self._secret = secret
        self._scope: tuple[str, ...] = ()
        self._before = ""

    def _sign(self, text: str) -> str:
        key = b"AWS4" + self._secret.encode()
        for part in self._scope:
            key = hmac.new(key, part.encode(), "sha256").digest()
        return hmac.new(key, text.encode(), "sha256").hexdigest()

    def check_request(self, headers: Mapping[str, str]) -> str:
        found = _AUTHORIZATION.fullmatch(headers.get("authorization", ""))
        if found is None:
            return "MissingAuthenticationTokenException"
        key_id, day, region, names, signature = found.groups()
        if key_id != self._access_key_id:
            return "UnrecognizedClientException"
        signed, stamp = names.split(";"), headers["x-amz-date"]
        sent = {**headers, "host": headers[":authority"]}
        moment = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        is_late = abs((datetime.now(UTC) - moment).total_seconds()) > MAX_SKEW_S
        if is_late or not stamp.startswith(day) or not set(signed) >= _NEEDED or signed != sorted(signed):
            return "InvalidSignatureException"
        self._scope = (day, region, "bedrock", "aws4_request")
        head = "".join(f"{name}:{sent[name]}\n" for name in signed)
        payload = headers.get("x-amz-content-sha256", "")
        if payload != "STREAMING-AWS4-HMAC-SHA256-EVENTS":
            return "InvalidSignatureException"
        canonical = f"POST\n{quote(headers[':path'], safe='/')}\n\n{head}\n{names}\n{payload}"
        self._before = self._sign(f"AWS4-HMAC-SHA256\n{stamp}\n{'/'.join(self._scope)}\n{_sha256(canonical.encode())}")
        return "" if self._before == signature else "InvalidSignatureException"

    def open_message(self, raw: bytes) -> bytes | None:
        """Returns the message inside of a signed one, None when the signature does not follow the one before."""
        headers_end = 12 + int.from_bytes(raw[4:8])
        headers, inner = raw[12:headers_end], raw[headers_end:-4]
        # one header of eight bytes (a time), then one of bytes, in this order
        date = headers[:15]
        name, signature = headers[15:33], headers[35:]
        if date[:7] != b"\x05:date\x08" or name != b"\x10:chunk-signature\x06" or len(signature) != 32:
            return None
        moment = datetime.fromtimestamp(struct.unpack(">q", date[7:])[0] / 1000, UTC)
        scope = "/".join(self._scope)
        text = f"AWS4-HMAC-SHA256-PAYLOAD\n{moment:%Y%m%dT%H%M%SZ}\n{scope}\n{self._before}\n{_sha256(date)}\n{_sha256(inner)}"
        self._before = self._sign(text)
        return inner if self._before == signature.hex() else None


def split_messages(pending: bytearray) -> Iterator[bytes]:
    """Yields the whole messages of what has come, and removes them. Raises ValueError for wrong checksums."""
    while len(pending) >= 16:
        total = int.from_bytes(pending[:4])
        if zlib.crc32(pending[:8]) != int.from_bytes(pending[8:12]):
            raise ValueError("the checksum of the lengths")
        if len(pending) < total:
            return
        raw = bytes(pending[:total])
        del pending[:total]
        if zlib.crc32(raw[:-4]) != int.from_bytes(raw[-4:]):
            raise ValueError("the checksum of a message")
        yield raw


def payload_of(message: bytes) -> bytes:
    return message[12 + int.from_bytes(message[4:8]) : -4]


def make_message(kind: str, name: str, payload: bytes) -> bytes:
    """Returns a message of the vendor; ``kind`` is ``event`` or ``exception``."""
    headers = b"".join(
        bytes([len(key)]) + key.encode() + struct.pack(">BH", 7, len(value)) + value.encode()
        for key, value in (
            (f":{kind}-type", name),
            (":content-type", "application/json"),
            (":message-type", kind),
        )
    )
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    start = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return start + struct.pack(">I", zlib.crc32(start))
