"""First start, superusers, limits and the sweeping of old credentials."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from offhook.orgs import service
from offhook.orgs.errors import SignInLinkRefused, UserNotFound
from offhook.orgs.people import repository as people
from offhook.orgs.tables import Organization, SignInLink, User, UserSession
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture
from tests.orgs.accounts import make_account
from tests.orgs.interleaving import until_it_waits


class TestFirstStart:
    async def start(self, root: Root) -> service.FirstStart:
        async with root.db.transaction() as session:
            return await service.first_start(session, root.settings)

    async def test_makes_default_and_its_owner_once(self, root: Root) -> None:
        starts = await asyncio.gather(*(self.start(root) for _ in range(4)))
        assert len({start.organization_id for start in starts}) == 1
        assert len({start.link_token for start in starts}) == 4
        async with root.db.transaction() as session:
            assert list(await session.scalars(select(Organization.name))) == ["Default"]
            assert list(await session.scalars(select(User.email))) == ["owner@testserver"]

    async def test_each_link_signs_the_owner_in_once(self, root: Root) -> None:
        start = await self.start(root)
        async with root.db.transaction() as session:
            assert start.link_token is not None
            person = await service.spend_sign_in_link(session, start.link_token, root.clock.now())
        assert person[1:] == (start.organization_id, "owner")
        async with root.db.transaction() as session:
            with pytest.raises(SignInLinkRefused):
                await service.spend_sign_in_link(session, start.link_token, root.clock.now())

    async def test_later_starts_show_no_link_once_an_owner_has_a_password(self, root: Root) -> None:
        await make_account(root)
        assert (await self.start(root)).link_token is None

    async def test_waits_for_a_first_password_that_is_being_set(self, root: Root) -> None:
        await self.start(root)
        async with root.db.transaction() as session:
            owner = (await session.scalars(select(User))).one()
            await people.lock_user(session, owner.id)
            starting = asyncio.create_task(self.start(root))
            await until_it_waits(root, starting)
            await people.set_password(session, owner.id, "a hash")
        assert (await starting).link_token is None

    async def test_keeps_the_organization_that_is_there(self, root: Root, org: OrgFixture) -> None:
        start = await self.start(root)
        assert (start.organization_id, start.owner_email) == (org.id, org.email("owner"))


class TestSuperuser:
    async def test_grant(self, root: Root, org: OrgFixture) -> None:
        async with root.db.transaction() as session:
            await service.grant_superuser(session, org.email("member").upper())
        async with root.db.transaction() as session:
            flagged = list(await session.scalars(select(User.id).where(User.is_superuser)))
        assert flagged == [org.user_ids["member"]]

    async def test_unknown(self, root: Root) -> None:
        async with root.db.transaction() as session:
            with pytest.raises(UserNotFound, match=r"nobody@example\.com"):
                await service.grant_superuser(session, "nobody@example.com")


class TestConcurrencyLimit:
    async def test_own_or_the_installations(self, root: Root, org: OrgFixture) -> None:
        async with root.db.transaction() as session:
            assert await service.concurrency_limit(session, org.id, root.settings) == 10
            await session.execute(update(Organization).values(concurrency_limit=3))
            session.expire_all()
            assert await service.concurrency_limit(session, org.id, root.settings) == 3


class TestSweep:
    async def test_only_what_ended_a_week_ago_goes(self, root: Root, org: OrgFixture) -> None:
        now = root.clock.now()
        async with root.db.transaction() as session:
            await service.create_sign_in_link(
                session, organization_id=org.id, user_id=org.user_ids["owner"], now=now - timedelta(days=9)
            )
            await service.create_sign_in_link(
                session, organization_id=org.id, user_id=org.user_ids["admin"], now=now - timedelta(days=2)
            )
            await session.execute(
                update(UserSession)
                .where(UserSession.user_id == org.user_ids["viewer"])
                .values(revoked_at=now - timedelta(days=8))
            )
        await root.jobs.handlers["credentials.sweep"]({})
        async with root.db.transaction() as session:
            assert await session.scalar(select(func.count()).select_from(SignInLink)) == 1
            left = set(await session.scalars(select(UserSession.user_id)))
        assert left == set(org.user_ids.values()) - {org.user_ids["viewer"]}
