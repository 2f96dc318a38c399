"""Two-step sign-in: setting it up, the second step, recovery codes, and what must not get around it."""

import asyncio
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select

from offhook.kit.one_time_codes import STEP_S, find_step
from offhook.orgs import service
from offhook.orgs.tables import AuditEntry, RecoveryCode, SecondFactor, SignInChallenge
from offhook.root import Root
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture, borrow_session
from tests.orgs.accounts import PASSWORD, make_account, sign_in
from tests.orgs.authenticators import ACCOUNT, enroll, first_step, second_step


async def actions(root: Root) -> list[str]:
    async with root.db.transaction() as session:
        return list(await session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))


async def make_link(root: Root, user_id: int, *, sets_password: bool = False) -> str:
    async with root.db.transaction() as session:
        return await service.create_sign_in_link(
            session, organization_id=1, user_id=user_id, now=root.clock.now(), sets_password=sets_password
        )


def told(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


class TestSettingUp:
    async def test_shows_what_an_app_reads(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        headers = await sign_in(client)
        begun = (
            await client.post(f"{ACCOUNT}/enrollment", json={"current_password": PASSWORD}, headers=headers)
        ).json()
        assert begun["uri"].startswith("otpauth://totp/Offhook:ada%40example.com?")
        assert f"secret={begun['secret']}" in begun["uri"]
        assert begun["qr_code"].startswith("data:image/svg+xml")

    async def test_counts_from_the_first_right_code_on(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        headers = await sign_in(client)
        other = await sign_in(client)
        await client.post(f"{ACCOUNT}/enrollment", json={"current_password": PASSWORD}, headers=headers)
        assert (await client.get(ACCOUNT, headers=headers)).json()["is_enabled"] is False
        await sign_in(client)
        app, codes = await enroll(client, headers, root.clock)
        status = (await client.get(ACCOUNT, headers=headers)).json()
        assert (status["is_enabled"], status["recovery_codes_left"]) == (True, 10)
        assert len(set(codes)) == 10
        assert (await client.get("/auth/me", headers=other)).status_code == 401
        await first_step(client)
        wrong = await client.post(f"{ACCOUNT}/removal", json={"code": app.wrong_code()}, headers=headers)
        assert told(wrong) == (403, "wrong_code")

    async def test_needs_the_password_and_a_right_code(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        headers = await sign_in(client)
        confirm = f"{ACCOUNT}/confirmation"
        assert told(await client.post(confirm, json={"code": "123456"}, headers=headers)) == (
            409,
            "second_factor_missing",
        )
        for body in ({}, {"current_password": "wrong password"}):
            assert told(await client.post(f"{ACCOUNT}/enrollment", json=body, headers=headers)) == (
                403,
                "wrong_password",
            )
        begun = await client.post(f"{ACCOUNT}/enrollment", json={"current_password": PASSWORD}, headers=headers)
        assert begun.status_code == 200
        assert told(await client.post(confirm, json={"code": "12345x"}, headers=headers)) == (403, "wrong_code")
        assert (await client.post(confirm, json={"code": ""}, headers=headers)).status_code == 422

    async def test_is_not_replaced_while_it_is_on(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        headers = await sign_in(client)
        app, _ = await enroll(client, headers, root.clock)
        again = await client.post(f"{ACCOUNT}/enrollment", json={"current_password": PASSWORD}, headers=headers)
        assert told(again) == (409, "second_factor_enabled")
        confirmed = await client.post(f"{ACCOUNT}/confirmation", json={"code": app.code()}, headers=headers)
        assert told(confirmed) == (409, "second_factor_enabled")

    async def test_stores_neither_secret_nor_codes(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        app, codes = await enroll(client, await sign_in(client), root.clock)
        async with root.db.transaction() as session:
            sealed = (await session.scalars(select(SecondFactor.sealed_secret))).one()
            hashes = list(await session.scalars(select(RecoveryCode.code_sha256)))
        assert find_step(sealed, app.code(), root.clock.now()) is None
        assert {len(found) for found in hashes} == {32}
        assert not any(code.encode() in b"".join(hashes) for code in codes)

    async def test_keys_and_borrowed_sessions_have_none(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        borrowed = await borrow_session(root, org, org.user_ids["admin"])
        for headers in (org.key_headers, borrowed):
            assert told(await client.get(ACCOUNT, headers=headers)) == (403, "person_required")
            assert told(await client.post(f"{ACCOUNT}/enrollment", json={}, headers=headers)) == (
                403,
                "person_required",
            )


class TestSecondStep:
    async def test_the_next_code_signs_in(self, client: AsyncClient, root: Root, shifted_clock: ShiftedClock) -> None:
        user_id = await make_account(root)
        app, _ = await enroll(client, await sign_in(client), root.clock)
        shifted_clock.advance(minutes=1)
        answer = await second_step(client, await first_step(client), f" {app.code()[:3]} {app.code()[3:]} ")
        assert (answer.status_code, answer.json()["user"]["id"]) == (200, user_id)
        headers = {"Authorization": f"Bearer {answer.json()['token']}"}
        assert (await client.get("/auth/me", headers=headers)).status_code == 200
        async with root.db.transaction() as session:
            entry = (await session.scalars(select(AuditEntry).where(AuditEntry.action == "user.logged_in"))).all()[-1]
        assert entry.data == {"second_step": "app"}

    async def test_a_code_works_once(self, client: AsyncClient, root: Root, shifted_clock: ShiftedClock) -> None:
        await make_account(root)
        app, _ = await enroll(client, await sign_in(client), root.clock)
        confirmed_with = app.code()
        assert told(await second_step(client, await first_step(client), confirmed_with)) == (403, "wrong_code")
        shifted_clock.advance(minutes=1)
        older, code = app.code(-1), app.code()
        challenges = [await first_step(client) for _ in range(4)]
        answers = await asyncio.gather(*(second_step(client, challenge, code) for challenge in challenges))
        assert sorted(answer.status_code for answer in answers) == [200, 403, 403, 403]
        assert told(await second_step(client, await first_step(client), older)) == (403, "wrong_code")

    @pytest.mark.parametrize(("steps", "status"), [(-2, 403), (-1, 200), (1, 200), (2, 403)])
    async def test_half_a_minute_of_drift_is_allowed(
        self, client: AsyncClient, root: Root, shifted_clock: ShiftedClock, steps: int, status: int
    ) -> None:
        await make_account(root)
        app, _ = await enroll(client, await sign_in(client), root.clock)
        # To the beginning of a half minute, so that no other one begins meanwhile.
        shifted_clock.advance(minutes=5, seconds=-(root.clock.now().timestamp() % STEP_S))
        assert (await second_step(client, await first_step(client), app.code(steps))).status_code == status

    async def test_a_challenge_is_answered_once_and_ends(
        self, client: AsyncClient, root: Root, shifted_clock: ShiftedClock
    ) -> None:
        await make_account(root)
        _, codes = await enroll(client, await sign_in(client), root.clock)
        challenge = await first_step(client)
        answers = await asyncio.gather(*(second_step(client, challenge, code) for code in codes[:3]))
        assert sorted(answer.status_code for answer in answers) == [200, 401, 401]
        late = await first_step(client)
        shifted_clock.advance(minutes=11)
        assert told(await second_step(client, late, codes[5])) == (401, "second_step_refused")
        assert told(await second_step(client, "made up", codes[5])) == (401, "second_step_refused")

    async def test_allows_five_codes(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        app, codes = await enroll(client, await sign_in(client), root.clock)
        challenge = await first_step(client)
        answers = await asyncio.gather(*(second_step(client, challenge, app.wrong_code()) for _ in range(8)))
        assert sorted(answer.status_code for answer in answers) == [401] * 3 + [403] * 5
        assert told(await second_step(client, challenge, codes[0])) == (401, "second_step_refused")
        assert (await actions(root)).count("user.second_step_failed") == 5

    @pytest.mark.slow
    async def test_guesses_are_limited_over_challenges_and_recovery_codes_are_not(
        self, client: AsyncClient, root: Root
    ) -> None:
        await make_account(root)
        app, codes = await enroll(client, await sign_in(client), root.clock)
        for _ in range(2):
            challenge = await first_step(client)
            for _ in range(5):
                assert told(await second_step(client, challenge, app.wrong_code())) == (403, "wrong_code")
        limited = await second_step(client, await first_step(client), app.code(1))
        assert told(limited) == (429, "too_many_requests")
        assert (await second_step(client, await first_step(client), codes[0])).status_code == 200

    async def test_bad_input(self, client: AsyncClient) -> None:
        bodies: list[object] = [
            {},
            {"challenge": "x"},
            {"challenge": "", "code": "1"},
            {"challenge": "x", "code": ""},
            [],
        ]
        for body in bodies:
            assert (await client.post("/auth/second-step", json=body)).status_code == 422


class TestRecoveryCodes:
    async def test_each_works_once(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        headers = await sign_in(client)
        _, codes = await enroll(client, headers, root.clock)
        assert (await second_step(client, await first_step(client), codes[3].upper())).status_code == 200
        assert told(await second_step(client, await first_step(client), codes[3])) == (403, "wrong_code")
        assert (await client.get(ACCOUNT, headers=headers)).json()["recovery_codes_left"] == 9

    async def test_new_ones_end_the_old(self, client: AsyncClient, root: Root, shifted_clock: ShiftedClock) -> None:
        await make_account(root)
        headers = await sign_in(client)
        app, codes = await enroll(client, headers, root.clock)
        shifted_clock.advance(minutes=1)
        renewed = await client.post(f"{ACCOUNT}/recovery-codes", json={"code": app.code()}, headers=headers)
        assert told(await second_step(client, await first_step(client), codes[0])) == (403, "wrong_code")
        fresh = renewed.json()["recovery_codes"]
        assert (await second_step(client, await first_step(client), fresh[0])).status_code == 200

    async def test_another_persons_codes_are_wrong(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        await make_account(root, "bob@example.com")
        _, codes = await enroll(client, await sign_in(client, "bob@example.com"), root.clock)
        await enroll(client, await sign_in(client), root.clock)
        assert told(await second_step(client, await first_step(client), codes[0])) == (403, "wrong_code")


class TestNothingGetsAroundIt:
    async def test_a_sign_in_link_is_a_first_step(self, client: AsyncClient, root: Root) -> None:
        user_id = await make_account(root)
        _, codes = await enroll(client, await sign_in(client), root.clock)
        answer = await client.post("/auth/link", json={"token": await make_link(root, user_id)})
        assert set(answer.json()) == {"challenge", "expires_at"}
        assert (await second_step(client, answer.json()["challenge"], codes[0])).status_code == 200

    async def test_a_new_password_waits_for_the_code(self, client: AsyncClient, root: Root) -> None:
        user_id = await make_account(root)
        headers = await sign_in(client)
        _, codes = await enroll(client, headers, root.clock)
        link = await make_link(root, user_id, sets_password=True)
        answer = await client.post("/auth/link", json={"token": link, "new_password": "an intruder's own"})
        challenge = answer.json()["challenge"]
        await first_step(client)
        assert (await client.get("/auth/me", headers=headers)).status_code == 200
        assert (await second_step(client, challenge, codes[0])).status_code == 200
        assert (await client.get("/auth/me", headers=headers)).status_code == 401
        new = {"email": "ada@example.com", "password": "an intruder's own"}
        assert "challenge" in (await client.post("/auth/login", json=new)).json()
        assert "user.password_reset" in await actions(root)

    async def test_a_new_password_ends_sign_ins_under_way(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        headers = await sign_in(client)
        _, codes = await enroll(client, headers, root.clock)
        challenge = await first_step(client)
        body = {"current_password": PASSWORD, "new_password": "another fine password"}
        assert (await client.post("/auth/password", json=body, headers=headers)).status_code == 200
        assert told(await second_step(client, challenge, codes[0])) == (401, "second_step_refused")

    async def test_an_invitation_asks_to_sign_in_first(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        await make_account(root)
        headers = await sign_in(client)
        await enroll(client, headers, root.clock)
        invited = await client.post(
            "/organizations/members", json={"email": "ada@example.com"}, headers=org.owner_headers
        )
        body = {"token": invited.json()["token"], "password": PASSWORD}
        assert told(await client.post("/auth/invitations/accept", json=body)) == (409, "sign_in_first")
        assert (await client.post("/auth/invitations/accept", json=body, headers=headers)).status_code == 200

    async def test_a_squatters_factor_goes_with_their_password(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        user_id = await make_account(root, "new@acme.example")
        squatter = await sign_in(client, "new@acme.example")
        await enroll(client, squatter, root.clock)
        mine = (await client.get("/auth/me", headers=squatter)).json()["organization_id"]
        async with root.db.transaction() as session:
            organization = await service.get_organization(session, mine)
            await session.delete(organization)
        invited = await client.post(
            "/organizations/members", json={"email": "new@acme.example"}, headers=org.owner_headers
        )
        body = {"token": invited.json()["token"], "password": "the right person's"}
        joined = await client.post("/auth/invitations/accept", json=body)
        assert (joined.status_code, joined.json()["user"]["id"]) == (200, user_id)
        again = await client.post("/auth/login", json={"email": "new@acme.example", "password": "the right person's"})
        assert "token" in again.json()

    async def test_a_member_who_left_meanwhile_gets_no_session(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        _, codes = await enroll(client, await sign_in(client), root.clock)
        challenge = await first_step(client)
        async with root.db.transaction() as session:
            waiting = (await session.scalars(select(SignInChallenge))).one()
            await session.delete(await service.get_organization(session, waiting.organization_id))
        assert told(await second_step(client, challenge, codes[0])) == (401, "second_step_refused")

    async def test_it_is_turned_off_with_a_code_only(
        self, client: AsyncClient, root: Root, shifted_clock: ShiftedClock
    ) -> None:
        await make_account(root)
        headers = await sign_in(client)
        app, _ = await enroll(client, headers, root.clock)
        removal = f"{ACCOUNT}/removal"
        assert told(await client.post(removal, json={"code": app.wrong_code()}, headers=headers)) == (
            403,
            "wrong_code",
        )
        shifted_clock.advance(minutes=1)
        assert (await client.post(removal, json={"code": app.code()}, headers=headers)).status_code == 200
        await sign_in(client)
        assert told(await client.post(removal, json={"code": app.code(1)}, headers=headers)) == (
            409,
            "second_factor_missing",
        )
        assert [name for name in await actions(root) if name.startswith("second_factor.")] == [
            "second_factor.enrollment_begun",
            "second_factor.enabled",
            "second_factor.removed",
        ]
