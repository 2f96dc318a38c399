"""The queries for an organization's own prices."""

from collections.abc import Mapping, Sequence
from datetime import date

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.models.prices.tables import OwnPrice

_KEY = ("organization_id", "kind", "provider", "model", "valid_from")


async def own_prices(session: AsyncSession, organization_id: int) -> Sequence[OwnPrice]:
    found = await session.scalars(
        select(OwnPrice)
        .where(OwnPrice.organization_id == organization_id)
        .order_by(OwnPrice.kind, OwnPrice.provider, OwnPrice.model, OwnPrice.valid_from)
        .execution_options(populate_existing=True)
    )
    return found.all()


async def upsert_own_price(session: AsyncSession, organization_id: int, values: Mapping[str, object]) -> None:
    statement = insert(OwnPrice).values(organization_id=organization_id, **values)
    changed = {"dollars": statement.excluded.dollars, "step": statement.excluded.step}
    await session.execute(statement.on_conflict_do_update(index_elements=list(_KEY), set_=changed))


async def delete_own_price(
    session: AsyncSession, organization_id: int, kind: str, provider: str, model: str, valid_from: date
) -> bool:
    """Deletes a price; returns False when there was none."""
    gone = await session.scalar(
        delete(OwnPrice)
        .where(
            OwnPrice.organization_id == organization_id,
            OwnPrice.kind == kind,
            OwnPrice.provider == provider,
            OwnPrice.model == model,
            OwnPrice.valid_from == valid_from,
        )
        .returning(OwnPrice.organization_id)
    )
    return gone is not None
