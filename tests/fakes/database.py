"""A real database whose connection fails when a test wants it to."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database


class FaultyDatabase(Database):
    """``is_away`` refuses every transaction; ``loses_next_answer`` commits one and then cuts the line, as networks do."""

    def __init__(self, url: str) -> None:
        super().__init__(url, pool_size=2)
        self.is_away = False
        self.loses_next_answer = False

    def transaction(self) -> AbstractAsyncContextManager[AsyncSession]:
        if self.is_away:
            raise ConnectionRefusedError("the database is away")
        return self._unheard() if self.loses_next_answer else super().transaction()

    @asynccontextmanager
    async def _unheard(self) -> AsyncIterator[AsyncSession]:
        self.loses_next_answer = False
        async with super().transaction() as session:
            yield session
        raise ConnectionResetError("committed, but nobody was told")
