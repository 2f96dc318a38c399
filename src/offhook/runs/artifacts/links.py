"""URLs that a run exposes: signed links to its recording and transcript, and its media socket URL."""

from typing import Final, Literal

from offhook.kit.clock import Clock
from offhook.kit.crypto import Keyring

Artifact = Literal["recording", "transcript"]

_LINK_TTL_S: Final = 24 * 3600
_EXPIRY_ROUNDING_S: Final = 3600
_PURPOSE: Final = "run"
BROWSER: Final = "browser"


class RunLinks:
    """Signs and verifies a process's artifact links; created per request by ``runs.services.links_of``."""

    def __init__(self, base: str, keyring: Keyring, clock: Clock) -> None:
        self._base = base
        self._keyring = keyring
        self._clock = clock

    def sign_artifact_link(self, artifact: Artifact, workflow_id: int, run_id: int) -> str:
        """Returns a link that works without credentials for a day. The expiry is rounded to the hour so that a page
        reload keeps its player."""
        now = int(self._clock.now().timestamp())
        expires_at = now - now % _EXPIRY_ROUNDING_S + _EXPIRY_ROUNDING_S + _LINK_TTL_S
        link = self._keyring.sign_link(_PURPOSE, _link_payload(artifact, run_id), expires_at)
        return f"{self._base}/api/v1/workflow/{workflow_id}/runs/{run_id}/{artifact}?link={link}"

    def is_valid_for(self, link: str, artifact: Artifact, run_id: int) -> bool:
        """Returns whether a link opens this artifact; raises kit.crypto.LinkRefused (401) when it is forged,
        expired or of another purpose."""
        payload = self._keyring.verify_link(_PURPOSE, link, self._clock.now().timestamp())
        return payload == _link_payload(artifact, run_id)

    def media_socket_url(self, mode: str, run_id: int, token: str) -> str:
        """Returns a run's media socket URL: for a browser call, or for the carrier named by ``mode``."""
        base = "ws" + self._base.removeprefix("http")
        if mode == BROWSER:
            return f"{base}/api/v1/browser/media/{run_id}?token={token}"
        return f"{base}/api/v1/telephony/media/{mode}/{run_id}/{token}"


def _link_payload(artifact: Artifact, run_id: int) -> str:
    return f"{run_id}:{artifact}"
