"""The simulated network's book of the numbers that it has sold, in the database."""

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from offhook.kit.database.database import Database
from offhook.telephony.providers.sandbox.tables import SandboxNumber


class SandboxNumberBook:
    """Implements the sandbox catalogue's ``NumberBook``, in transactions of its own."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def add(self, organization_id: int, number: str, carrier_id: str) -> bool:
        async with self._db.transaction() as session:
            written = await session.execute(
                insert(SandboxNumber)
                .values(organization_id=organization_id, phone_number=number, carrier_id=carrier_id)
                .on_conflict_do_nothing()
                .returning(SandboxNumber.phone_number)
            )
            return written.scalar_one_or_none() is not None

    async def find_carrier_id(self, organization_id: int, number: str) -> str | None:
        async with self._db.transaction() as session:
            found: str | None = await session.scalar(
                select(SandboxNumber.carrier_id).where(
                    SandboxNumber.organization_id == organization_id, SandboxNumber.phone_number == number
                )
            )
            return found

    async def find_sold(self, numbers: list[str]) -> set[str]:
        """Of any organization: a number is sold once."""
        async with self._db.transaction() as session:
            found = await session.execute(
                select(SandboxNumber.phone_number).where(SandboxNumber.phone_number.in_(numbers))
            )
            return set(found.scalars())

    async def remove(self, organization_id: int, number: str) -> None:
        async with self._db.transaction() as session:
            await session.execute(
                delete(SandboxNumber).where(
                    SandboxNumber.organization_id == organization_id, SandboxNumber.phone_number == number
                )
            )
