"""Passwords: argon2id with the OWASP parameters, in a few threads to protect the loop and the memory."""

import anyio
import anyio.to_thread
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

# OWASP: 19 MiB, 2 passes, 1 lane; 18 ms of CPU.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_MAX_CONCURRENT = 4


class PasswordService:
    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(_MAX_CONCURRENT)
        self._dummy_hash: str | None = None

    async def hash_password(self, password: str) -> str:
        return await anyio.to_thread.run_sync(_HASHER.hash, _encode_password(password), limiter=self._limiter)

    async def verify_password(self, password_hash: str | None, password: str) -> bool:
        """Verifies a password; takes as long without a hash, so that timing does not reveal accounts."""
        if self._dummy_hash is None:
            self._dummy_hash = await self.hash_password("no account has this password")
        verified = await anyio.to_thread.run_sync(
            _verify_hash, password_hash or self._dummy_hash, _encode_password(password), limiter=self._limiter
        )
        return verified and password_hash is not None


def _encode_password(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")


def _verify_hash(password_hash: str, password: bytes) -> bool:
    try:
        return _HASHER.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False
