"""What PostgreSQL says of the rows of a failed statement reaches no log and no record of a failed job."""

import traceback

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from offhook.kit.database.database import Database

PERSON = "+4915112345678"
TABLE = """
CREATE TABLE people (
    number text NOT NULL CONSTRAINT one_number UNIQUE, age int CHECK (age > 0),
    parent text CONSTRAINT has_parent REFERENCES people (number) DEFERRABLE INITIALLY DEFERRED
)"""


async def fail(db: Database, statement: str) -> DBAPIError:
    with pytest.raises(DBAPIError) as failed:
        async with db.transaction() as session:
            await session.execute(text(statement), {"person": PERSON})
    return failed.value


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("INSERT INTO people VALUES (:person), (:person)", "one_number"),
        ("INSERT INTO people VALUES (:person, -1)", "people_age_check"),
        ("INSERT INTO people (number, age) SELECT NULL, length(CAST(:person AS text))", "violates not-null constraint"),
        ("INSERT INTO people VALUES (:person, 1, :person || '0')", "has_parent"),
    ],
)
async def test_a_constraint_is_named_without_the_row(database: Database, statement: str, words: str) -> None:
    async with database.transaction() as session:
        await session.execute(text(TABLE))
    error = await fail(database, statement)
    shown = "".join(traceback.format_exception(error))
    assert words in shown
    assert PERSON not in shown
    assert "DETAIL" not in shown
    await database.dispose()


async def test_what_is_said_of_no_row_stays(database: Database) -> None:
    error = await fail(
        database, "DO $$ BEGIN RAISE 'stuck' USING DETAIL = 'Process 1 waits.', ERRCODE = '40P01'; END $$"
    )
    assert "Process 1 waits." in "".join(traceback.format_exception(error))
    await database.dispose()
