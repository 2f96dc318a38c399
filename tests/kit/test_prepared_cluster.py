"""New data folders that begin as a packed cluster: they are as those that are made step by step, or are made so."""

import asyncio
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest
import structlog

from offhook.commands import database as database_commands
from offhook.commands.database import owned_database
from offhook.kit.database import migrations, prepare_database, prepared_cluster
from offhook.kit.database.database import Database
from offhook.kit.database.embedded_postgres import EmbeddedPostgres
from offhook.kit.database.postgres_program import ServerOwner, find_binaries, find_server_owner
from offhook.kit.database.prepared_cluster import (
    DamagedCluster,
    is_intact,
    pack_cluster,
    prepared_cluster_path,
    unpack_cluster,
)
from offhook.settings import Settings
from tests.once import make_once, shared_folder

# What a server says of its own place, not of how it works.
OF_ONE_FOLDER = {"data_directory", "config_file", "hba_file", "ident_file", "unix_socket_directories"}
ORDINARY = ServerOwner()
# Never gets further than the copy: its parent kills it there.
COPYING = """
import sys
from pathlib import Path
from offhook.kit.database import embedded_postgres
from offhook.kit.database.embedded_postgres import EmbeddedPostgres

whole = embedded_postgres.unpack_cluster

def unpack_and_wait(packed, folder, owner):
    whole(packed, folder, owner)
    (folder / "PG_VERSION").unlink()
    print("copied", flush=True)
    sys.stdin.read()

embedded_postgres.unpack_cluster = unpack_and_wait
EmbeddedPostgres(Path(sys.argv[1]), prepared=lambda: Path(sys.argv[2])).start()
"""


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an installation prepares. Do not write to it."""
    folder = shared_folder(tmp_path_factory) / "prepared"
    packed = folder / "database-0.zip"
    make_once(folder, lambda: prepare_database.prepare_database(packed))
    return packed


async def facts(url: str) -> dict[str, object]:
    """All that should not depend on how the cluster was made."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        settings = await connection.fetch("SELECT name, setting, source FROM pg_settings ORDER BY name")
        return {
            "settings": [tuple(row) for row in settings if row["name"] not in OF_ONE_FOLDER],
            "databases": [
                tuple(row)
                for row in await connection.fetch(
                    "SELECT datname, pg_encoding_to_char(encoding), datlocprovider, datcollate, datlocale, datallowconn "
                    "FROM pg_database ORDER BY datname"
                )
            ],
            "users": [
                tuple(row)
                for row in await connection.fetch(
                    "SELECT rolname, rolsuper, rolpassword FROM pg_authid ORDER BY rolname"
                )
            ],
            "rules": [
                tuple(row)
                for row in await connection.fetch(
                    "SELECT type, database, user_name, auth_method FROM pg_hba_file_rules"
                )
            ],
            "checksums": await connection.fetchval("SHOW data_checksums"),
            "revision": await connection.fetchval("SELECT version_num FROM alembic_version"),
            "note": await connection.fetchval("SELECT obj_description('alembic_version'::regclass, 'pg_class')"),
        }
    finally:
        await connection.close()


def dump(url: str) -> str:
    """The schema and all rows, as PostgreSQL writes them."""
    sockets = url.partition("host=")[2]
    command: list[str | Path] = [
        find_binaries(find_server_owner()) / "pg_dump",
        "-h",
        sockets,
        "-U",
        "offhook",
        "offhook",
    ]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.sub(r"(?m)^\\(un)?restrict .*$", "", text)


async def migrate(url: str) -> list[str]:
    db = Database(url)
    try:
        return await migrations.upgrade_database(db, lambda _: None)
    finally:
        await db.dispose()


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_folder_from_it_is_as_one_that_is_made_step_by_step(tmp_path: Path, packed: Path) -> None:
    made = EmbeddedPostgres(tmp_path / "made")
    copied = EmbeddedPostgres(tmp_path / "copied", prepared=lambda: packed)
    try:
        made.start()
        asyncio.run(migrate(made.url))
        copied.start()
        assert asyncio.run(migrate(copied.url)) == [], "nothing is left to do"
        assert asyncio.run(facts(copied.url)) == asyncio.run(facts(made.url))
        assert dump(copied.url) == dump(made.url)
    finally:
        made.stop()
        copied.stop()
    assert not (tmp_path / "copied" / "postgres.new").exists()


@pytest.mark.slow
def test_its_files_are_its_servers_alone(tmp_path: Path, packed: Path) -> None:
    server = EmbeddedPostgres(tmp_path / "data", durable=False, prepared=lambda: packed)
    server.start()
    server.stop()
    owner = find_server_owner().uid
    for path in [server.cluster, *server.cluster.rglob("*")]:
        found = path.lstat()
        assert stat.S_IMODE(found.st_mode) & 0o077 == 0, path
        assert found.st_uid == (os.geteuid() if owner is None else owner), path


@pytest.mark.slow
def test_nothing_of_who_packed_it_is_in_it(packed: Path, tmp_path: Path) -> None:
    unpack_cluster(packed, tmp_path, ORDINARY)
    assert not names(tmp_path) & {"pg_hba.conf", "pg_ident.conf", "postmaster.opts", "postmaster.pid"}
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"offhook-prepared-" in path.read_bytes()]
    assert stat.S_IMODE(packed.stat().st_mode) == 0o644, "any user of the installation may read it"


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_start_that_was_killed_while_it_copied_leaves_nothing(tmp_path: Path, packed: Path) -> None:
    folder = tmp_path / "data"
    first = subprocess.Popen(
        [sys.executable, "-c", COPYING, folder, packed], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert first.stdout is not None
    assert first.stdout.readline() == "copied\n"
    first.kill()
    first.communicate()
    assert first.returncode == -signal.SIGKILL
    server = EmbeddedPostgres(folder, prepared=lambda: packed)
    assert not server.cluster.exists()
    try:
        server.start()
        assert asyncio.run(migrate(server.url)) == []
        assert not (folder / "postgres.new").exists()
    finally:
        server.stop()


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def alter(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes(byte ^ 0xFF for byte in content[middle : middle + 64]) + content[middle + 64 :]


@pytest.mark.slow
@pytest.mark.parametrize("damage", [cut, alter, lambda content: b""], ids=["cut", "altered", "empty"])
def test_from_a_damaged_one_the_cluster_is_made_step_by_step(
    damage: Callable[[bytes], bytes], tmp_path: Path, packed: Path
) -> None:
    damaged = tmp_path / "database-0.zip"
    damaged.write_bytes(damage(packed.read_bytes()))
    assert is_intact(packed)
    assert not is_intact(damaged)
    server = EmbeddedPostgres(tmp_path / "data", durable=False, prepared=lambda: damaged)
    try:
        with structlog.testing.capture_logs() as logs:
            server.start()
        assert [entry["event"] for entry in logs if entry["log_level"] == "warning"] == ["prepared_database_unusable"]
        assert asyncio.run(migrate(server.url)) == list(migrations.list_revisions())
    finally:
        server.stop()


@pytest.mark.slow
def test_two_first_starts_at_once_do_not_disturb_each_other(tmp_path: Path, packed: Path) -> None:
    owner = find_server_owner()
    installed = tmp_path / "database-0.zip"
    shutil.copy(packed, installed)
    failed: list[Exception] = []

    def unpack(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            unpack_cluster(installed, folder, owner)
        except Exception as error:  # noqa: BLE001 - a thread's is shown by nobody
            failed.append(error)

    threads = [threading.Thread(target=unpack, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    # a newer installation takes its place at the same time
    newer = tmp_path / "database-1.zip"
    shutil.copy(packed, newer)
    newer.replace(installed)
    for thread in threads:
        thread.join()
    assert not failed
    assert names(tmp_path / "0") == names(tmp_path / "1")


def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    packed = tmp_path / "database-0.zip"
    for name in ("../outside", "/outside", "base/../../outside"):
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(name, "x")
        (tmp_path / "inside").mkdir(exist_ok=True)
        with pytest.raises(DamagedCluster, match="is not a name in a folder"):
            unpack_cluster(packed, tmp_path / "inside", ORDINARY)
    assert names(tmp_path) == {"database-0.zip", "inside"}


def test_a_newer_one_takes_the_place_of_those_before(tmp_path: Path) -> None:
    cluster, share = tmp_path / "cluster", tmp_path / "share"
    (cluster / "base").mkdir(parents=True)
    (cluster / "base" / "1").write_text("rows")
    pack_cluster(cluster, share / "database-1.zip")
    (share / "other.txt").touch()
    pack_cluster(cluster, share / "database-2.zip")
    assert names(share) == {"database-2.zip", "other.txt"}
    into = tmp_path / "into"
    into.mkdir()
    unpack_cluster(share / "database-2.zip", into, ORDINARY)
    assert (into / "base" / "1").read_text() == "rows"


def test_one_that_cannot_be_finished_leaves_the_one_before(tmp_path: Path) -> None:
    cluster, share = tmp_path / "cluster", tmp_path / "share"
    cluster.mkdir()
    pack_cluster(cluster, share / "database-1.zip")
    (cluster / "gone").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError):
        pack_cluster(cluster, share / "database-2.zip")
    assert names(share) == {"database-1.zip"}


def test_another_postgresql_or_other_migrations_have_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = prepared_cluster_path()
    assert prepared_cluster_path() == ours
    assert ours.is_relative_to(sys.prefix)

    copy = tmp_path / "migrations"
    shutil.copytree(migrations.migrations_folder(), copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(prepared_cluster, "migrations_folder", lambda: copy)
    assert prepared_cluster_path() == ours
    (copy / "versions" / "0026_initial_schema" / "runs.sql").open("a").write("\n")
    altered = prepared_cluster_path()
    monkeypatch.setattr(prepared_cluster, "postgres_version", lambda: "0.0.1")
    assert len({ours, altered, prepared_cluster_path()}) == 3


@pytest.mark.slow
def test_a_start_uses_what_the_installation_has(tmp_path: Path, packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def path() -> Path:
        asked.append(time.monotonic())
        return packed

    monkeypatch.setattr(database_commands, "prepared_cluster_path", path)
    settings = Settings.load(data_dir=tmp_path / "data")
    with owned_database(settings) as database:
        assert asyncio.run(migrate(database.url)) == []
    with owned_database(settings) as database:
        assert asyncio.run(migrate(database.url)) == []
    assert len(asked) == 1, "an existing folder asks for none"


def test_preparing_is_done_once_and_its_failure_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = tmp_path / "database-0.zip"
    cluster = tmp_path / "cluster"
    cluster.mkdir()
    monkeypatch.setattr(prepare_database, "prepared_cluster_path", lambda: packed)
    monkeypatch.setattr(prepare_database, "prepare_database", lambda path: pack_cluster(cluster, path))
    assert prepare_database.main() == 0
    assert prepare_database.main() == 0
    assert capsys.readouterr().out == "Prepared the database for new data folders.\n"

    packed.write_bytes(b"damaged")
    assert prepare_database.main() == 0
    assert is_intact(packed)

    def fail(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    packed.unlink()
    monkeypatch.setattr(prepare_database, "prepare_database", fail)
    assert prepare_database.main() == 1
    assert capsys.readouterr().err.startswith("The database could not be prepared, first starts will take longer: ")
