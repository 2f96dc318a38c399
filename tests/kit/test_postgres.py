"""The embedded PostgreSQL: starts fast, dies with us, loses nothing."""

from sqlalchemy import text

from offhook.root import Root


async def test_a_test_database_has_the_schema_and_no_rows(root: Root) -> None:
    async with root.db.transaction() as session:
        assert (await session.execute(text("SELECT count(*) FROM organizations"))).scalar_one() == 0
