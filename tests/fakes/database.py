"""A real database whose connection fails when a test wants it to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database


class FaultyDatabase(Database):
    """``is_away`` refuses every transaction; ``loses_next_answer`` commits one and then cuts the line, as networks do."""

    def __init__(self, url: str) -> None:
        super().__init__(url, pool_size=2)
        self.is_away = False
        self.loses_next_answer = False

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        if self.is_away:
            raise ConnectionRefusedError("the database is away")
        is_answer_lost, self.loses_next_answer = self.loses_next_answer, False
        async with super().transaction() as session:
            yield session
        if is_answer_lost:
            raise ConnectionResetError("committed, but nobody was told")
