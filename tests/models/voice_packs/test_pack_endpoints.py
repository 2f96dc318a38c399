"""Voice packs over HTTP: superusers name a mirror, look at its pack, install, cancel, go on and remove."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.models.services import ModelServices
from offhook.models.voice_packs.pack_service import VoicePackService
from offhook.orgs import service
from offhook.root import Root
from tests.fakes.mirror import FOREVER, MirrorFlaw, MirrorServer, mirror_server
from tests.fixtures_orgs import OrgFixture
from tests.models.voice_packs.packs import (
    CALM,
    ENCODER,
    VOICE,
    SmallDisk,
    check_no_half_pack,
    manifest_of,
    pack_files,
    served,
)
from tests.orgs.accounts import make_account, sign_in

PACKS = "/superuser/voice-packs"
ROUTES = [
    ("GET", PACKS, None),
    ("PUT", f"{PACKS}/mirrors", {"addresses": ["https://mirror.example/"]}),
    ("GET", f"{PACKS}/offer", None),
    ("POST", f"{PACKS}/installation", {}),
    ("DELETE", f"{PACKS}/installation", None),
    ("DELETE", f"{PACKS}/tiny", None),
]
FILES = pack_files()


class Console:
    """A superuser at the page, beside one mirror."""

    def __init__(self, client: AsyncClient, headers: dict[str, str], packs: VoicePackService, mirror: MirrorServer):
        self._client = client
        self._headers = headers
        self.packs = packs
        self.mirror = mirror

    async def ask(self, method: str, path: str = "", status: int = 200, **options: Any) -> Any:
        answer = await self._client.request(method, f"{PACKS}{path}", headers=self._headers, **options)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def code_of(self, method: str, path: str, status: int, **options: Any) -> str:
        return str((await self.ask(method, path, status, **options))["code"])

    async def use_mirror(self) -> None:
        await self.ask("PUT", "/mirrors", json={"addresses": [self.mirror.url]})

    async def wait_until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(60):
            while not holds(shown := await self.ask("GET")):
                await asyncio.sleep(0.01)
        return dict(shown)

    async def install(self) -> dict[str, Any]:
        await self.ask("POST", "/installation", 202, json={})
        shown = await self.wait_until(lambda shown: shown["installation"]["state"] != "running")
        return dict(shown["installation"])


@pytest.fixture
async def console(root: Root, client: AsyncClient) -> AsyncIterator[Console]:
    await make_account(root, "boss@hq.example", organization_name="HQ")
    async with root.db.transaction() as session:
        await service.grant_superuser(session, "boss@hq.example")
    packs = root.get(ModelServices).voice_packs
    packs.limits = CALM
    headers = await sign_in(client, "boss@hq.example")
    async with mirror_server(served(FILES)) as mirror:
        yield Console(client, headers, packs, mirror)
        await packs.close()


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
async def test_superusers_only(client: AsyncClient, org: OrgFixture, method: str, path: str, body: object) -> None:
    assert (await client.request(method, path, json=body)).status_code == 401
    for headers in (org.owner_headers, org.key_headers):
        answer = await client.request(method, path, json=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "superuser_required")


class TestMirrors:
    async def test_are_stored_for_the_installation_and_taken_back(self, console: Console) -> None:
        assert (await console.ask("GET"))["mirrors"] == {"addresses": [], "source": "none"}
        assert await console.code_of("GET", "/offer", 422) == "voices_source_missing"
        shown = await console.ask("PUT", "/mirrors", json={"addresses": [" https://a.example/x ", "https://b.example"]})
        assert shown["mirrors"] == {"addresses": ["https://a.example/x", "https://b.example"], "source": "stored"}
        assert (await console.ask("PUT", "/mirrors", json={"addresses": []}))["mirrors"]["source"] == "none"

    @pytest.mark.parametrize(
        "address",
        ["/etc", "http://mirror.example/", "ftp://a.example", "https://u:p@a.example/", "https://a.example/?x"],
    )
    async def test_other_addresses_are_refused(self, console: Console, address: str) -> None:
        code = await console.code_of("PUT", "/mirrors", 422, json={"addresses": [address]})
        assert code == "voices_address_invalid"

    @pytest.mark.parametrize("addresses", [None, "https://a.example", ["https://a.example"] * 9, [""], ["https://\0"]])
    async def test_bad_bodies(self, console: Console, addresses: object) -> None:
        await console.ask("PUT", "/mirrors", 422, json={"addresses": addresses})

    async def test_one_that_is_silent(self, console: Console) -> None:
        await console.ask("PUT", "/mirrors", json={"addresses": ["http://127.0.0.1:1/"]})
        for method, path in (("GET", "/offer"), ("POST", "/installation")):
            body: dict[str, Any] = {"json": {}} if method == "POST" else {}
            assert await console.code_of(method, path, 502, **body) == "voices_manifest_unavailable"
        assert (await console.ask("GET"))["installation"] is None


class TestInstalling:
    async def test_what_was_shown(self, console: Console) -> None:
        await console.use_mirror()
        offer = await console.ask("GET", "/offer")
        assert (offer["size_bytes"], offer["licenses"]) == (sum(map(len, FILES.values())), ["Apache-2.0", "MIT"])
        started = await console.ask("POST", "/installation", 202, json={"digest": offer["digest"]})
        assert started["installation"]["name"] == "tiny"
        shown = await console.wait_until(lambda shown: bool(shown["packs"]))
        (pack,) = shown["packs"]
        assert offer.items() <= pack.items()
        assert (pack["organization_count"], pack["is_default"], shown["unfinished"]) == (0, False, [])
        assert check_no_half_pack(console.packs.store, FILES)
        removed = await console.ask("DELETE", "/tiny")
        assert removed == {"name": "tiny", "freed_bytes": offer["size_bytes"]}
        assert await console.code_of("DELETE", "/tiny", 404) == "voices_not_installed"

    async def test_another_pack_than_the_one_that_was_shown_is_refused(self, console: Console) -> None:
        await console.use_mirror()
        body = {"digest": "0" * 64}
        assert await console.code_of("POST", "/installation", 409, json=body) == "voices_manifest_mismatch"
        await console.ask("POST", "/installation", 422, json={"digest": "no hash"})
        assert (await console.ask("GET"))["packs"] == []

    async def test_goes_on_where_it_was_canceled(self, console: Console) -> None:
        await console.use_mirror()
        console.mirror.flaws.append(MirrorFlaw("stall", VOICE, 50_000))
        await console.ask("POST", "/installation", 202, json={})
        await console.wait_until(lambda shown: shown["installation"]["done_bytes"] >= 50_000 + len(FILES[ENCODER]))
        assert await console.code_of("POST", "/installation", 409, json={}) == "voices_install_running"
        assert await console.code_of("DELETE", "/tiny", 409) == "voices_install_running"
        shown = await console.ask("DELETE", "/installation")
        assert (shown["installation"]["state"], shown["packs"]) == ("canceled", [])
        (part,) = shown["unfinished"]
        assert (part["name"], part["title"]) == ("tiny", "A tiny pack")
        assert 50_000 + len(FILES[ENCODER]) <= part["fetched_bytes"] < part["size_bytes"]
        assert await console.code_of("DELETE", "/installation", 409) == "voices_install_not_running"
        console.mirror.sent.clear()
        assert (await console.install())["state"] == "done"
        assert ENCODER not in console.mirror.sent
        assert check_no_half_pack(console.packs.store, FILES)

    async def test_what_a_lost_process_left_is_shown_and_discarded(self, console: Console) -> None:
        """Its folder, and no memory of it."""
        await console.use_mirror()
        with console.packs.store.hold_lock("testing"):
            (console.packs.store.begin_staging(manifest_of(FILES)) / ".download").write_bytes(b"x" * 700)
        shown = await console.ask("GET")
        assert (shown["installation"], shown["unfinished"][0]["fetched_bytes"]) == (None, 700)
        assert (await console.ask("DELETE", "/tiny?unfinished_only=true"))["freed_bytes"] == 700
        assert (await console.ask("GET"))["unfinished"] == []
        assert await console.code_of("DELETE", "/tiny?unfinished_only=true", 404) == "voices_not_installed"

    async def test_discarding_an_update_keeps_the_installed_pack(self, console: Console) -> None:
        await console.use_mirror()
        assert (await console.install())["state"] == "done"
        newer = pack_files(1)
        console.mirror.files = served(newer)
        console.mirror.flaws.append(MirrorFlaw("status", VOICE, times=FOREVER, status=404))
        assert (await console.install())["code"] == "voices_download_failed"
        await console.ask("DELETE", "/tiny?unfinished_only=true")
        shown = await console.ask("GET")
        assert ([pack["digest"] for pack in shown["packs"]], shown["unfinished"]) == ([manifest_of(FILES).digest], [])

    async def test_wrong_bytes_are_a_failure_with_a_code(self, console: Console) -> None:
        await console.use_mirror()
        console.mirror.flaws.append(MirrorFlaw("wrong_bytes", VOICE, 5, FOREVER))
        failed = await console.install()
        assert (failed["state"], failed["code"]) == ("failed", "voices_file_mismatch")
        assert VOICE in failed["message"]
        assert not check_no_half_pack(console.packs.store, FILES)

    async def test_a_disk_that_fills_up(self, console: Console) -> None:
        await console.use_mirror()
        console.packs.store.disk = SmallDisk(60_000)
        assert (await console.install())["code"] == "voices_disk_full"

    async def test_a_disk_without_room_is_refused_at_once(self, console: Console) -> None:
        class FullDisk(SmallDisk):
            def free_bytes(self, folder: object) -> int:
                return 0

        await console.use_mirror()
        console.packs.store.disk = FullDisk(0)
        assert await console.code_of("POST", "/installation", 507, json={}) == "voices_disk_full"

    async def test_a_command_that_installs_meanwhile_is_named(self, console: Console) -> None:
        await console.use_mirror()
        with console.packs.store.hold_lock("installing other"):
            answer = await console.ask("POST", "/installation", 409, json={})
        assert (answer["code"], "installing other" in answer["detail"]) == ("voices_install_running", True)

    async def test_no_name_of_a_pack(self, console: Console) -> None:
        await console.ask("DELETE", "/..%2Fx", 404)
        await console.ask("DELETE", "/Upper", 422)


async def test_organizations_that_chose_a_pack_are_counted(
    console: Console, client: AsyncClient, org: OrgFixture
) -> None:
    await console.use_mirror()
    await console.install()
    chosen = {"provider": "voice_pack", "model": "tiny"}
    body = {"tts": {**chosen, "voice_id": "default"}, "stt": {**chosen, "language": "en-US"}}
    saved = await client.put("/organizations/model-configurations/v2", json=body, headers=org.owner_headers)
    assert saved.status_code == 200, saved.text
    assert (await console.ask("GET"))["packs"][0]["organization_count"] == 1
