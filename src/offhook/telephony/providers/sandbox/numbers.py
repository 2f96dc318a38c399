"""Records the numbers that the simulated network has sold in the database."""

from offhook.kit.database.database import Database
from offhook.telephony.providers.sandbox import number_queries


class SandboxNumberBook:
    """Implements the sandbox catalog's ``NumberBook``, in transactions of its own."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def add(self, organization_id: int, number: str, carrier_id: str) -> bool:
        async with self._db.transaction() as session:
            return await number_queries.insert_number(session, organization_id, number, carrier_id)

    async def find_carrier_id(self, organization_id: int, number: str) -> str | None:
        async with self._db.transaction() as session:
            return await number_queries.find_carrier_id(session, organization_id, number)

    async def find_sold(self, numbers: list[str]) -> set[str]:
        async with self._db.transaction() as session:
            return await number_queries.find_sold(session, numbers)

    async def remove(self, organization_id: int, number: str) -> None:
        async with self._db.transaction() as session:
            await number_queries.delete_number(session, organization_id, number)
