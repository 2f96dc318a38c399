"""The short commands: an answer on stdout, or one sentence that names what is wrong."""

import importlib
import json
from pathlib import Path

import asyncpg
import pytest
from pydantic import SecretStr

from offhook.commands import doctor
from offhook.kit.database.prepared_cluster import prepared_cluster_path
from offhook.settings import Settings
from offhook_lab.anthropic_server import serve_anthropic
from tests.commands.conftest import Offhook


class TestSettings:
    @pytest.mark.parametrize(
        ("variable", "value", "sentence"),
        [
            ("OFFHOOK_PORT", "eighty", "OFFHOOK_PORT is 'eighty': Input should be a valid integer"),
            ("OFFHOOK_LOG_LEVEL", "loud", "OFFHOOK_LOG_LEVEL is 'loud': Input should be 'debug'"),
            ("OFFHOOK_DATABASE_URL", "mysql://x", "OFFHOOK_DATABASE_URL must begin with postgresql://"),
            ("OFFHOOK_DATABASE_URL", "postgresql://u:pw@host:54x2/db", "OFFHOOK_DATABASE_URL cannot be read: write "),
        ],
    )
    def test_a_wrong_value_is_one_sentence_that_names_it(
        self, offhook: Offhook, variable: str, value: str, sentence: str
    ) -> None:
        done = offhook.run("migrate", **{variable: value})
        assert done.returncode == 2
        assert done.stderr.startswith(f"offhook: {sentence}")
        assert done.stderr.count("\n") == 1

    def test_a_database_that_is_away_is_one_sentence(self, offhook: Offhook) -> None:
        done = offhook.run("migrate", OFFHOOK_DATABASE_URL="postgresql://u:secret@127.0.0.1:1/x")
        assert done.returncode == 1
        assert done.stderr.startswith("offhook: The database does not respond")
        assert "secret" not in done.stderr
        assert done.stderr.count("\n") == 1


class TestMigrate:
    @pytest.mark.slow
    def test_it_starts_the_embedded_database_by_itself(self, offhook: Offhook) -> None:
        first = offhook.run("migrate")
        assert first.returncode == 0, first.stderr
        did = "Nothing to do" if prepared_cluster_path().exists() else "Applying migration 0026: initial schema.\n"
        assert first.stdout.startswith(did)
        assert offhook.run("migrate").stdout.startswith("Nothing to do")

    async def test_it_refuses_to_run_backwards(self, offhook: Offhook, database_url: str) -> None:
        url = database_url.replace("+asyncpg", "")
        connection = await asyncpg.connect(url)
        await connection.execute("CREATE TABLE IF NOT EXISTS alembic_version (version_num varchar(32) NOT NULL)")
        await connection.execute("DELETE FROM alembic_version")
        await connection.execute("INSERT INTO alembic_version VALUES ('9999')")
        await connection.close()
        for command in (["migrate"], ["serve", "--port", "0"], ["keys", "create"]):
            done = offhook.run(*command, OFFHOOK_DATABASE_URL=url)
            assert done.returncode == 1
            assert done.stderr.startswith("offhook: The database is at migration 9999, this version of Offhook only")


class TestKeys:
    def test_a_key_as_text_and_as_json(self, shared: Offhook) -> None:
        assert shared.run("keys", "create").stdout.startswith("ohk_")
        made = json.loads(shared.run("keys", "create", "--role", "viewer", "--name", "CI", "--json").stdout)
        assert made["key"].startswith(made["prefix"])
        assert (made["role"], made["name"]) == ("viewer", "CI")

    def test_an_unknown_organization_or_role(self, shared: Offhook) -> None:
        unknown = shared.run("keys", "create", "--org", "Nobody")
        assert (unknown.returncode, unknown.stderr) == (
            1,
            "offhook: No organization is named 'Nobody'. Use its id.\n",
        )
        assert shared.run("keys", "create", "--role", "emperor").returncode == 2

    def test_before_the_first_start_it_says_what_to_do(self, offhook: Offhook) -> None:
        done = offhook.run("keys", "create")
        assert done.returncode == 1
        assert done.stderr == (
            f"offhook: There is no installation in {offhook.data_dir}: start Offhook once (`offhook serve`), or set "
            "OFFHOOK_DATA_DIR to the data folder of the server.\n"
        )
        assert not (offhook.data_dir / "postgres").exists()


class TestSuperuser:
    @pytest.mark.slow
    def test_grant(self, shared: Offhook) -> None:
        assert shared.run("superuser", "grant", "owner@localhost").stdout == "owner@localhost is a superuser.\n"

    def test_revoke_and_list(self, shared: Offhook) -> None:
        shared.run("superuser", "grant", "owner@localhost")
        assert shared.run("superuser", "list").stdout == "owner@localhost\n"
        done = shared.run("superuser", "revoke", "owner@localhost")
        assert done.stdout == "owner@localhost is no longer a superuser.\n"
        assert shared.run("superuser", "list").stdout == ""

    def test_an_unknown_address(self, shared: Offhook) -> None:
        done = shared.run("superuser", "grant", "nobody@example.com")
        assert (done.returncode, done.stderr) == (1, "offhook: No user has the email address nobody@example.com.\n")


class TestDoctor:
    def checks(self, offhook: Offhook, **variables: str) -> tuple[int, dict[str, dict[str, str]]]:
        done = offhook.run("doctor", "--json", **variables)
        report = json.loads(done.stdout)
        assert report["ok"] == (done.returncode == 0)
        return done.returncode, {check["name"]: check for check in report["checks"]}

    def test_a_fresh_installation_can_run(self, shared: Offhook) -> None:
        code, checks = self.checks(shared, OFFHOOK_PORT="0")
        assert code == 0
        for name in ("data folder", "server", "database", "migrations", "voice activity model"):
            assert checks[name]["status"] == "ok", checks[name]
        # The tests before ran no worker: a job of theirs may wait for a minute on a busy machine. None has failed.
        jobs = checks["jobs"]
        assert jobs["status"] == "ok" or jobs["detail"].startswith("Jobs are waiting"), jobs

    def test_it_names_what_does_not_answer(self, shared: Offhook) -> None:
        code, checks = self.checks(
            shared, OFFHOOK_PORT="0", OFFHOOK_LLM_PROVIDER="openai", OFFHOOK_LLM_BASE_URL="http://127.0.0.1:1/v1"
        )
        assert code == 1
        assert checks["language model"]["status"] == "failed"
        assert "OFFHOOK_LLM_BASE_URL" in checks["language model"]["detail"]

    @pytest.mark.slow
    async def test_a_key_is_shown_to_its_own_vendor_and_to_nobody_else(self) -> None:
        importlib.import_module("anthropic")  # takes seconds on a busy machine, of the ten that a check has
        async with serve_anthropic([], api_key="sk-ant-good") as server:
            right, wrong = [
                await doctor.check_models(
                    Settings(llm_provider="anthropic", llm_base_url=server.base_url, llm_api_key=SecretStr(key))
                )
                for key in ("sk-ant-good", "sk-wrong")
            ]
        assert [(check.name, check.status) for check in right] == [("language model", "ok")]
        assert [(check.name, check.status) for check in wrong] == [("language model", "failed")]
        assert "OFFHOOK_LLM_API_KEY" in wrong[0].detail
        assert "sk-wrong" not in wrong[0].detail

    async def test_a_vendor_that_does_not_exist(self) -> None:
        (check,) = await doctor.check_models(Settings(stt_provider="nobody"))
        assert check.status == "failed"
        assert "allowed: builtin, voice_pack, openai" in check.detail

    def test_a_database_that_is_away(self, shared: Offhook) -> None:
        code, checks = self.checks(shared, OFFHOOK_PORT="0", OFFHOOK_DATABASE_URL="postgresql://u@127.0.0.1:1/x")
        assert code == 1
        assert checks["database"]["status"] == "failed"

    def test_text_for_people(self, shared: Offhook) -> None:
        assert "✓ database" in shared.run("doctor", OFFHOOK_PORT="0").stdout


def test_help_names_every_command(shared: Offhook) -> None:
    text = shared.run("--help").stdout
    for command in ("serve", "worker", "migrate", "superuser", "keys", "doctor"):
        assert command in text


class TestImport:
    def test_flat_keys_of_an_old_format(self, shared: Offhook, tmp_path: Path) -> None:
        file = tmp_path / "models.json"
        file.write_text(json.dumps({"model_configuration": {"llm_provider": "openai", "llm_api_key": "sk-1234567"}}))
        done = shared.run("import", str(file))
        assert (done.returncode, "format 1" in done.stdout) == (0, True), done.stderr

    def test_services(self, shared: Offhook, tmp_path: Path) -> None:
        file = tmp_path / "models.json"
        file.write_text(json.dumps({"stt": {"provider": "builtin", "language": "en-GB"}}))
        done = shared.run("import", str(file))
        assert (done.returncode, "format 2" in done.stdout) == (0, True), done.stderr

    @pytest.mark.parametrize(
        "content", ["no json", "[]", '{"llm_provider": "nobody"}', '{"llm_color": 1, "version": 1}']
    )
    def test_what_is_none_is_one_sentence(self, shared: Offhook, tmp_path: Path, content: str) -> None:
        file = tmp_path / "models.json"
        file.write_text(content)
        done = shared.run("import", str(file))
        assert done.returncode == 1
        assert len(done.stderr.strip().splitlines()) == 1
