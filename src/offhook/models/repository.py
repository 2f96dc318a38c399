"""The queries for model configurations; each takes the organization."""

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.models.tables import ModelConfiguration


async def find_configuration(
    session: AsyncSession, organization_id: int, *, for_update: bool = False
) -> ModelConfiguration | None:
    query = select(ModelConfiguration).where(ModelConfiguration.organization_id == organization_id)
    return (await session.execute(query.with_for_update() if for_update else query)).scalar_one_or_none()


async def upsert_configuration(
    session: AsyncSession,
    organization_id: int,
    *,
    version: int,
    configuration: JsonObject,
    sealed_keys: bytes | None,
    updated_by: int | None,
) -> None:
    values = {
        "version": version,
        "configuration": configuration,
        "sealed_keys": sealed_keys,
        "updated_by": updated_by,
    }
    statement = insert(ModelConfiguration).values(organization_id=organization_id, **values)
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=["organization_id"], set_={**values, "updated_at": statement.excluded.updated_at}
        )
    )
    session.expire_all()
