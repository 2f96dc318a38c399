"""Passwords: argon2id with the OWASP parameters, in a few threads so that neither the loop nor the memory suffers."""

import anyio
import anyio.to_thread
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

# OWASP: 19 MiB, 2 passes, 1 lane; 18 ms of CPU.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_AT_ONCE = 4


class Passwords:
    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(_AT_ONCE)
        self._nobody: str | None = None

    async def hash(self, password: str) -> str:
        return await anyio.to_thread.run_sync(_HASHER.hash, _encoded(password), limiter=self._limiter)

    async def verify(self, password_hash: str | None, password: str) -> bool:
        """Whether it is the one; without a hash it takes as long, so that time does not tell which addresses exist."""
        if self._nobody is None:
            self._nobody = await self.hash("nobody has this password")
        verified = await anyio.to_thread.run_sync(
            _verify, password_hash or self._nobody, _encoded(password), limiter=self._limiter
        )
        return verified and password_hash is not None


def _encoded(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")


def _verify(password_hash: str, password: bytes) -> bool:
    try:
        return _HASHER.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False
