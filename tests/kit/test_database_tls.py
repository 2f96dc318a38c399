"""TLS to PostgreSQL, by the address alone, in everything that connects."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import uvloop
from sqlalchemy import text

from offhook.jobs.worker import open_job_pool
from offhook.kit.database.address_parameters import DatabaseAddressError
from offhook.kit.database.addresses import read_database_address
from offhook.kit.database.connecting import open_connection
from offhook.kit.database.database import Database
from offhook.kit.database.direct_reads import DirectReadPool
from offhook.kit.database.postgres_listener import PostgresListener
from offhook.kit.database.server_tls import DatabaseTlsError
from tests.fakes.tls_database import Authority, TlsDatabase

SETTING = "OFFHOOK_DATABASE_URL"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
async def server(database_url: str, authority: Authority) -> AsyncIterator[TlsDatabase]:
    async with TlsDatabase(database_url, authority.issue("localhost"), demands_tls=True).serve() as serving:
        yield serving


@pytest.fixture
async def plain(database_url: str) -> AsyncIterator[TlsDatabase]:
    async with TlsDatabase(database_url).serve() as serving:
        yield serving


async def ask(address: str) -> None:
    connection = await open_connection(read_database_address(address, SETTING))
    try:
        assert await connection.fetchval("SELECT 1") == 1
    finally:
        await connection.close()


async def refusal(address: str) -> str:
    """The sentence, with which SQLAlchemy's engine ends as well."""
    with pytest.raises(DatabaseTlsError) as direct:
        await ask(address)
    database = Database(read_database_address(address, SETTING))
    with pytest.raises(DatabaseTlsError) as pooled:
        async with database.transaction() as session:
            await session.execute(text("SELECT 1"))
    await database.dispose()
    assert str(direct.value) == str(pooled.value)
    assert "secret" not in str(direct.value)
    return str(direct.value)


async def test_everything_that_connects_does_so_with_tls(server: TlsDatabase, authority: Authority) -> None:
    address = server.address(host="localhost", sslmode="verify-full", sslrootcert=authority.certificate)
    database = Database(read_database_address(address, SETTING))
    async with database.transaction() as session:
        assert await session.scalar(text("SHOW application_name")) == "offhook"
    await database.run_outside_transaction("SELECT 1")

    reads = DirectReadPool(database)
    row = await reads.fetch_row("SELECT 2 AS n")
    assert row is not None
    assert row["n"] == 2
    await reads.close()

    heard = asyncio.Queue[str]()
    listener = PostgresListener(database, "words", heard.put_nowait, lambda: None, name="test")
    listener.start()
    await listener.wait_until_ready(10)
    async with open_job_pool(database, max_size=2) as pool, asyncio.timeout(10):
        await pool.execute("NOTIFY words, 'hello'")
        assert await heard.get() == "hello"
    await listener.close()
    await database.dispose()
    assert len(server.seen) >= 6
    assert {is_encrypted for is_encrypted, _ in server.seen} == {True}


@pytest.mark.parametrize("mode", ["allow", "prefer", "require", "verify-ca", "verify-full"])
async def test_each_mode_with_a_server_that_demands_tls(server: TlsDatabase, authority: Authority, mode: str) -> None:
    files: dict[str, Any] = {"sslrootcert": authority.certificate} if mode.startswith("verify") else {}
    await ask(server.address(host="localhost", sslmode=mode, **files))
    assert server.seen[-1] == (True, None)


async def test_require_with_an_authority_verifies_it(server: TlsDatabase, authority: Authority, tmp_path: Path) -> None:
    await ask(server.address(sslmode="require", sslrootcert=authority.certificate))
    other = Authority(tmp_path, "other").certificate
    assert "no authority in" in await refusal(server.address(sslmode="require", sslrootcert=other))


async def test_a_server_that_demands_tls_and_an_address_without(server: TlsDatabase) -> None:
    said = await refusal(server.address(sslmode="disable"))
    assert said == (
        f"PostgreSQL at 127.0.0.1:{server.port} refuses connections without TLS: write sslmode=require or "
        "sslmode=verify-full in its address."
    )


async def test_a_server_without_tls(plain: TlsDatabase, authority: Authority) -> None:
    for mode in ("disable", "allow", "prefer"):
        await ask(plain.address(sslmode=mode))
    await ask(plain.address())
    said = await refusal(plain.address(sslmode="require"))
    assert said == (
        f"PostgreSQL at 127.0.0.1:{plain.port} does not offer TLS, and its address demands it with sslmode=require."
    )
    assert {is_encrypted for is_encrypted, _ in plain.seen} == {False}


async def test_a_certificate_of_another_host(server: TlsDatabase, authority: Authority) -> None:
    files: dict[str, Any] = {"sslrootcert": authority.certificate}
    said = await refusal(server.address(sslmode="verify-full", **files))
    assert said.startswith(
        f"The certificate of PostgreSQL at 127.0.0.1:{server.port} is refused: it is for another host."
    )
    await ask(server.address(sslmode="verify-ca", **files))


async def test_a_certificate_of_an_unknown_authority(server: TlsDatabase, tmp_path: Path) -> None:
    other = Authority(tmp_path, "other").certificate
    said = await refusal(server.address(host="localhost", sslmode="verify-full", sslrootcert=other))
    assert f"no authority in {other} signed it" in said
    said = await refusal(server.address(host="localhost", sslmode="verify-full", sslrootcert="system"))
    assert "no authority in this machine's authorities signed it" in said


async def test_a_binding_that_the_driver_lacks_is_a_verified_certificate(
    server: TlsDatabase, authority: Authority
) -> None:
    """As Neon writes addresses: the password must not get to another server, here neither."""
    said = await refusal(server.address(host="localhost", sslmode="require", channel_binding="require"))
    assert "no authority in this machine's authorities signed it" in said
    await ask(
        server.address(
            host="localhost", sslmode="require", channel_binding="require", sslrootcert=authority.certificate
        )
    )
    await ask(server.address(host="localhost", sslmode="require", channel_binding="prefer"))


async def test_a_certificate_that_has_expired(database_url: str, authority: Authority) -> None:
    async with TlsDatabase(database_url, authority.issue("localhost", days=-1)).serve() as late:
        address = late.address(host="localhost", sslmode="verify-full", sslrootcert=authority.certificate)
        assert (await refusal(address)).endswith("is refused: it has expired.")


async def test_the_certificate_of_a_client(database_url: str, authority: Authority, tmp_path: Path) -> None:
    ours = authority.issue("offhook", password="of the key")
    issued = authority.issue("localhost")
    async with TlsDatabase(database_url, issued, clients=authority).serve() as server:
        mine: dict[str, Any] = {"sslcert": ours.certificate, "sslkey": ours.key, "sslpassword": "of%20the%20key"}
        for mode in ("require", "verify-full", "prefer"):
            files: dict[str, Any] = {"sslrootcert": authority.certificate} if mode == "verify-full" else {}
            await ask(server.address(host="localhost", sslmode=mode, **files, **mine))
            assert server.seen[-1] == (True, "offhook")
        stranger = Authority(tmp_path, "stranger").issue("stranger")
        theirs: dict[str, Any] = {"sslcert": stranger.certificate, "sslkey": stranger.key}
        for shown in ({}, theirs):
            said = await refusal(server.address(host="localhost", sslmode="require", **shown))
            assert "if it asks for a client's certificate, check sslcert and sslkey" in said


async def test_a_certificate_is_read_again_when_its_file_has_changed(
    database_url: str, authority: Authority, tmp_path: Path
) -> None:
    file = tmp_path / "trusted.crt"
    file.write_bytes(authority.certificate.read_bytes())
    renewed = Authority(tmp_path, "renewed")
    async with TlsDatabase(database_url, renewed.issue("localhost")).serve() as server:
        address = server.address(host="localhost", sslmode="verify-full", sslrootcert=file)
        url = read_database_address(address, SETTING)
        with pytest.raises(DatabaseTlsError, match="signed it"):
            await open_connection(url)
        file.write_bytes(renewed.certificate.read_bytes())
        await (await open_connection(url)).close()
        file.unlink()
        with pytest.raises(DatabaseTlsError, match=r"sslrootcert=.*, which cannot be read: No such file or directory"):
            await open_connection(url)


def test_the_same_words_in_the_server_s_own_loop(database_url: str, authority: Authority) -> None:
    async def compare() -> None:
        async with TlsDatabase(database_url, authority.issue("localhost")).serve() as server:
            files: dict[str, Any] = {"sslrootcert": authority.certificate}
            await ask(server.address(host="localhost", sslmode="verify-full", **files))
            assert "it is for another host" in await refusal(server.address(sslmode="verify-full", **files))
        async with TlsDatabase(database_url).serve() as plain:
            assert "does not offer TLS" in await refusal(plain.address(sslmode="require"))

    uvloop.run(compare())


async def test_what_the_address_says_besides(server: TlsDatabase) -> None:
    options = "-c%20statement_timeout%3D4321"
    address = server.address(
        scheme="postgres", sslmode="require", application_name="voice", options=options, connect_timeout=3,
        gssencmode="prefer", target_session_attrs="read-write", keepalives_idle=60,
    )  # fmt: skip
    connection = await open_connection(read_database_address(address, SETTING))
    assert await connection.fetchval("SHOW application_name") == "voice"
    assert await connection.fetchval("SHOW statement_timeout") == "4321ms"
    await connection.close()


# Invented, in the form in which each of them shows addresses.
HOSTED = {
    "Neon": "postgresql://u:p@ep-cool-1-pooler.eu-central-1.aws.neon.tech/db?sslmode=require&channel_binding=require",
    "Supabase": "postgresql://postgres.abcdef:p@aws-0-eu-central-1.pooler.supabase.com:5432/postgres",
    "RDS": "postgresql://u:p@db.abc.eu-central-1.rds.amazonaws.com:5432/db?sslmode=verify-full&sslrootcert={file}",
    "Cloud SQL": "postgresql://u:p@/db?host=/cloudsql/project:europe-west1:name",
    "Cloud SQL by address": "postgresql://u:p@10.1.2.3/db?sslmode=verify-ca&sslrootcert={file}",
    "Azure": "postgres://u%40name:p@name.postgres.database.azure.com:5432/postgres?sslmode=require",
    "DigitalOcean": "postgresql://doadmin:p@db-do-user-1-0.b.db.ondigitalocean.com:25060/defaultdb?sslmode=require",
    "Heroku": "postgres://u:p@ec2-1-2-3-4.compute-1.amazonaws.com:5432/db",
    "a cluster": "postgresql://u:p@one:5432,two:5433/db?target_session_attrs=read-write",
    "IPv6": "postgresql://u:p@[fd00::1]:5432/db?sslmode=require",
    "a socket": "postgresql+asyncpg://offhook@/offhook?host=/tmp/offhook-pg-1&port=5433",
}


@pytest.mark.parametrize("name", HOSTED)
def test_addresses_as_hosts_show_them(name: str, authority: Authority) -> None:
    read = read_database_address(HOSTED[name].format(file=authority.certificate), SETTING)
    assert read.startswith("postgresql+asyncpg://")
    assert read_database_address(read, SETTING) == read, "a child process reads it again"


def test_a_password_of_any_signs() -> None:
    read = read_database_address("postgres://u:a/b?c#d%e:f@h/db", SETTING)
    assert read == "postgresql+asyncpg://u:a%2Fb%3Fc%23d%25e%3Af@h/db"


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("sslmode=on", "has sslmode=on: write one of disable, allow, prefer, require, verify-ca, verify-full."),
        ("sslmode", "has sslmode=: write one of"),
        ("sslmode=require&sslmode=disable", "has sslmode twice, with different values."),
        ("sslmode=require&sslrootcert=/no/ca.pem", "has sslrootcert=/no/ca.pem, which cannot be read: No such file"),
        ("sslmode=require&sslrootcert=", "has sslrootcert without the path of a file."),
        ("sslmode=require&sslrootcert={folder}/junk", "has sslrootcert={folder}/junk, which is no file of certificates"),
        ("sslmode=require&sslcrl=/no/crl.pem", "has sslcrl=/no/crl.pem, which cannot be read"),
        ("sslmode=require&sslcert=/no/a.crt", "has sslcert=/no/a.crt, which cannot be read"),
        ("sslmode=prefer&sslcert=/no/a.crt", "has sslcert=/no/a.crt, which cannot be read"),
        ("sslmode=require&sslcert={folder}/junk", "has sslcert={folder}/junk, which cannot be used:"),
        ("sslmode=require&sslcert={folder}/h.crt&sslkey={folder}/other.key", "which cannot be used: key values mismatch."),
        ("sslmode=require&sslkey=/no/a.key", "has sslkey without sslcert"),
        ("sslmode=disable&sslcert=/no/a.crt", "has sslcert and sslmode=disable: sslcert needs sslmode=require"),
        ("sslrootcert=/no/ca.pem", "has sslrootcert and no sslmode: sslrootcert needs sslmode=verify-full"),
        ("sslmode=prefer&sslrootcert=/no/ca.pem", "has sslrootcert and sslmode=prefer: sslrootcert needs"),
        ("sslmode=verify-ca", "has sslmode=verify-ca: name the file of the authority's certificate in sslrootcert."),
        ("sslmode=verify-ca&sslrootcert=system", "has sslrootcert=system and sslmode=verify-ca"),
        ("sslmode=disable&channel_binding=require", "has channel_binding=require and sslmode=disable"),
        ("gssencmode=require", "has gssencmode=require, which Offhook cannot do: remove it."),
        ("require_auth=scram-sha-256", "has the parameter require_auth, which Offhook does not know: remove it."),
        ("target_session_attrs=read-only", "has target_session_attrs=read-only: write one of any, read-write, primary."),
        ("connect_timeout=soon", "has connect_timeout=soon: write whole seconds."),
        ("port=54x2", "has a port that is none"),
        ("pgbouncer=true", "has the parameter pgbouncer, so it is the address of a pooler"),
        ("ssl_min_protocol_version=TLSv1.3&ssl_max_protocol_version=TLSv1.2", "has ssl_min_protocol_version=TLSv1.3 above"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_one_sentence(query: str, sentence: str, authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "junk").write_text("no certificate")
    authority.issue("h")
    authority.issue("other")
    with pytest.raises(DatabaseAddressError) as refused:
        read_database_address(f"postgresql://u:secret@h/db?{query.format(folder=tmp_path)}", SETTING)
    said = str(refused.value)
    assert said.startswith(f"{SETTING} has ")
    assert sentence.format(folder=tmp_path) in said
    assert "secret" not in said
    assert "\n" not in said


@pytest.mark.parametrize("rest", ["pa@ss?x=y@h/db", "pw@one,,two/db", "pw@h:70000/db", "pw@[::1/db"])
def test_what_cannot_be_read_shows_nothing_of_it(rest: str) -> None:
    with pytest.raises(DatabaseAddressError, match="cannot be read: write postgresql://USER:PASSWORD@") as refused:
        read_database_address(f"postgresql://u:{rest}", SETTING)
    assert rest not in str(refused.value)
    assert "ss?x" not in str(refused.value)


def test_a_pooler_may_say_that_it_is_one() -> None:
    address = "postgresql://u:p@aws-0.pooler.supabase.com:6543/postgres?pgbouncer=true&connection_limit=1"
    assert "?" not in read_database_address(address, "OFFHOOK_DATABASE_POOLER_URL", is_pooler=True)
