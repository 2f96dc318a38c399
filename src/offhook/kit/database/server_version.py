"""Which PostgreSQL answers."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession


async def server_version(session: AsyncSession) -> tuple[str, int]:
    """Returns PostgreSQL's version as text and as a number, such as ``("16.4", 160004)``."""
    version = await session.scalar(text("SHOW server_version"))
    return str(version), int(await session.scalar(text("SHOW server_version_num")) or 0)
