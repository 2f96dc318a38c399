"""Public addresses: the ones given to carriers, and the one that a carrier has requested."""

import hmac
import json
from collections.abc import Callable
from typing import Final

from starlette.requests import HTTPConnection

from offhook.errors import Conflict
from offhook.kit.crypto import Keyring
from offhook.root import base_url
from offhook.settings import Settings
from offhook.telephony.ports import CallLinks, CarrierWebhook

PREFIX: Final = "/api/v1/telephony"
_FORWARD: Final = "forward"


class PublicAddressMissing(Conflict):
    """Carriers cannot reach this server. Set OFFHOOK_PUBLIC_URL to its public https address."""

    code = "public_url_missing"


class PublicAddress:
    """Our addresses as the outside world reaches them. All but :attr:`base` raise PublicAddressMissing (409)."""

    def __init__(
        self, settings: Settings, keyring: Keyring, find_media_url: Callable[[], str | None] = lambda: None
    ) -> None:
        """``find_media_url`` returns the address of a process with room for the audio of one call, None for the common
        one."""
        self.base = settings.public_url.rstrip("/") if settings.public_url else None
        self._find_media_url = find_media_url
        self._keyring = keyring

    def url_for(self, path: str) -> str:
        """Returns the public URL of ``path``, which begins with a slash and is relative to ``/api/v1/telephony``."""
        if self.base is None:
            raise PublicAddressMissing
        return f"{self.base}{PREFIX}{path}"

    @property
    def inbound_url(self) -> str:
        return self.url_for("/inbound/run")

    def call_links(self, provider: str, run_id: int, media_token: str, *, attempt: int = 0) -> CallLinks:
        """Returns the URLs of a call; ``attempt`` counts how often its media was connected again."""
        secret = self.run_secret(run_id)
        path = f"/media/{provider}/{run_id}/{media_token}"
        node = self._find_media_url()
        media = f"{node}{PREFIX}{path}" if node else self.url_for(path)
        return CallLinks(
            run_id=run_id,
            answer_url=self.url_for(f"/answer/{provider}/{run_id}?token={secret}"),
            media_url=f"ws{media.removeprefix('http')}",
            media_token=media_token,
            callbacks=self.url_for(f"/{provider}"),
            secret=secret,
            resume_url=self.url_for(f"/resume/{provider}/{run_id}/{attempt + 1}?token={secret}"),
        )

    def run_secret(self, run_id: int) -> str:
        return self._keyring.derive_token(f"callbacks of run {run_id}")

    def is_run_secret(self, run_id: int, token: str) -> bool:
        return self._keyring.is_derived(f"callbacks of run {run_id}", token)

    def forward_url(self, provider: str, to_number: str, from_number: str, timeout_s: float, expires_at: int) -> str:
        """Returns the signed URL of the document that forwards a caller to another number."""
        payload = json.dumps([to_number, from_number, timeout_s])
        return self.url_for(f"/forward/{provider}/{self._keyring.sign_link(_FORWARD, payload, expires_at)}")

    def parse_forward_token(self, token: str, now_s: float) -> tuple[str, str, float]:
        """Returns the numbers and the seconds encoded by :meth:`forward_url`. Raises LinkRefused (401)."""
        payload = self._keyring.verify_link(_FORWARD, token, now_s, older_start="[")
        to_number, from_number, timeout_s = json.loads(payload)
        return str(to_number), str(from_number), float(timeout_s)

    def media_token(self, run_id: int, attempt: int = 0) -> str:
        """Returns the token of the stream that a run's answer document names; it is the same at every fetch.

        ``attempt`` counts how often the media was connected again: each time has a token of its own.
        """
        return self._keyring.derive_token(f"media of run {run_id}" + (f", attempt {attempt}" if attempt else ""))

    def media_attempt(self, run_id: int, media_url: str, most: int) -> int:
        """Returns how often the media was connected again, ``most`` times at most, when a stream had this address."""
        token = media_url.rpartition("/")[2]
        return next((n for n in range(1, most + 1) if hmac.compare_digest(self.media_token(run_id, n), token)), 0)


def read_webhook(connection: HTTPConnection, method: str, body: bytes, *, has_secret: bool = False) -> CarrierWebhook:
    """Returns the request as its sender signed it: the public URL with the path byte for byte and the query as sent."""
    scope = connection.scope
    raw = scope.get("raw_path") or scope["path"].encode()
    path = raw.partition(b"?")[0].decode("latin-1")
    query = scope.get("query_string", b"").decode("latin-1")
    headers: dict[str, str] = {}
    for name, value in connection.headers.items():
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    url = f"{base_url(connection)}{path}" + (f"?{query}" if query else "")
    return CarrierWebhook(method, url, headers, body, has_secret)
