"""Which starts bring the database to this version, and which leave that to ``offhook migrate``."""

from pathlib import Path

import pytest

from offhook.commands.database import open_database, prepare_schema
from offhook.kit.database import migrations
from offhook.kit.database.database import Database
from offhook.kit.database.migrations import MigrationError
from offhook.settings import Settings, SettingsError


def start_settings(tmp_path: Path, **values: object) -> Settings:
    return Settings.load(data_dir=tmp_path, **values)


@pytest.mark.slow
async def test_a_start_migrates_the_embedded_database(tmp_path: Path, empty_database: Database) -> None:
    await prepare_schema(start_settings(tmp_path), empty_database)
    assert await migrations.is_current(empty_database)


async def test_a_start_leaves_a_shared_database_to_the_migrate_command(
    tmp_path: Path, empty_database: Database
) -> None:
    shared = start_settings(tmp_path, database_url=empty_database.url)
    with pytest.raises(MigrationError, match="has no schema yet: run `offhook migrate`"):
        await prepare_schema(shared, empty_database)
    assert await migrations.current_revision(empty_database) is None

    await prepare_schema(shared.model_copy(update={"migrate_at_start": "on"}), empty_database)
    assert await migrations.is_current(empty_database)
    await prepare_schema(shared, empty_database)


async def test_the_embedded_database_can_be_left_alone_too(tmp_path: Path, empty_database: Database) -> None:
    with pytest.raises(MigrationError, match="run `offhook migrate`"):
        await prepare_schema(start_settings(tmp_path, migrate_at_start="off"), empty_database)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"database_pooler_url": "postgresql://u@pooler/x"}, "needs OFFHOOK_DATABASE_URL"),
        ({"database_pooler_url": "mysql://x", "database_url": "postgresql://u@db/x"}, "must begin with postgresql://"),
        (
            {"database_pooler_url": "postgresql://u:secret@h:54x2/x", "database_url": "postgresql://u@db/x"},
            "cannot be read: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
        ),
    ],
)
def test_a_wrong_pooler_is_one_sentence_that_names_it(tmp_path: Path, settings: dict[str, str], sentence: str) -> None:
    with pytest.raises(SettingsError, match=f"OFFHOOK_DATABASE_POOLER_URL {sentence}") as error:
        open_database(start_settings(tmp_path, **settings), "postgresql+asyncpg://u@db/x")
    assert "secret" not in str(error.value)
