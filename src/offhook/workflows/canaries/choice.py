"""Which version a call gets while a canary takes a share of them: the same one for the same caller."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.phone_numbers import is_e164
from offhook.workflows import service
from offhook.workflows.canaries import queries
from offhook.workflows.service import VersionToRun

_KEY_BITS: Final = 63


@dataclass(frozen=True, slots=True)
class CanaryDraw:
    """The version drawn for one call. ``caller_key`` is None for a call without a number."""

    canary_id: int
    is_new: bool
    caller_key: int | None


@dataclass(frozen=True, slots=True)
class RunningCanary:
    """A canary that takes ``share`` percent of calls with its version."""

    id: int
    share: int
    salt: bytes
    version: VersionToRun

    def draw_call(self, number: str | None) -> CanaryDraw:
        """Draws by a keyed hash of the number at the other end (E.164), so that a caller stays where they were, also when
        the share grows. A call without a number is drawn by itself."""
        if number is None or not is_e164(number):
            return CanaryDraw(self.id, self._takes(secrets.randbits(_KEY_BITS)), None)
        key = hash_caller(self.salt, self.version.organization_id, self.id, number)
        return CanaryDraw(self.id, self._takes(key), key)

    def _takes(self, key: int) -> bool:
        return key * 100 < self.share << _KEY_BITS


def hash_caller(salt: bytes, organization_id: int, canary_id: int, number: str) -> int:
    """Returns 63 bits that tell callers apart and say nothing about their numbers without the salt."""
    text = f"{organization_id}:{canary_id}:{number}"
    digest = hmac.digest(salt, text.encode(), hashlib.sha256)
    return int.from_bytes(digest[:8]) >> 1


async def find_canary(session: AsyncSession, organization_id: int, workflow_id: int) -> RunningCanary | None:
    """Returns the canary that takes calls of this workflow, with its version."""
    row = await queries.find_running(session, organization_id, workflow_id)
    if row is None:
        return None
    version = await service.version_to_run(session, organization_id, row.new_version_id)
    return RunningCanary(row.id, row.share, row.salt, version)


async def choose_version(
    session: AsyncSession, organization_id: int, workflow_id: int, number: str | None, *, use_draft: bool
) -> tuple[VersionToRun, CanaryDraw | None]:
    """Returns the version of a call with this number, and what was drawn for it: nothing for a test (``use_draft``).
    Raises what ``service.get_version_to_run`` raises."""
    published = await service.get_version_to_run(session, organization_id, workflow_id, use_draft=use_draft)
    if use_draft:
        return published, None
    canary = await find_canary(session, organization_id, workflow_id)
    if canary is None:
        return published, None
    draw = canary.draw_call(number)
    return canary.version if draw.is_new else published, draw


async def record_draws(session: AsyncSession, organization_id: int, draws: Mapping[int, CanaryDraw]) -> None:
    """Records which calls a canary drew, by run, in the transaction that creates them."""
    rows = [
        {"canary_id": draw.canary_id, "run_id": run_id, "is_new": draw.is_new, "caller_key": draw.caller_key}
        for run_id, draw in draws.items()
    ]
    await queries.add_calls(session, organization_id, rows)
