"""A carrier's call is one run: what is signed about one call never binds to, bills or ends another."""

import re
from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from offhook.telephony.accounts.public_urls import PublicAddress
from offhook_lab.carriers import OutgoingCallback
from tests.telephony.emulator_desk import TWILIO_QUICKLY
from tests.telephony.platform_desk import ONE_WHO_HANGS_UP, Platform


def readdress(platform: Platform, told: OutgoingCallback, run_id: int, *, has_secret: bool) -> OutgoingCallback:
    """What the carrier says of one run, at another run's address, rightly signed."""
    path = re.sub(r"/\d+\?token=.*$", f"/{run_id}", told.url)
    secret = platform.root.get(PublicAddress).run_secret(run_id)
    moved = replace(told, url=f"{path}?token={secret}" if has_secret else path)
    return replace(moved, headers=dict(platform.carrier.sign_callback(moved)))


@TWILIO_QUICKLY
async def test_a_call_that_a_run_has_does_not_end_another(name: str, platform: Platform) -> None:
    (ours, held), (other, _) = await platform.held_of(plan=ONE_WHO_HANGS_UP, calls=2)
    documents = re.compile("/(answer|resume)/")
    told = [one for one in held if f"/{ours}?token=" in one.url and not documents.search(one.url)]
    assert told
    for is_bound in (True, False):
        if not is_bound:  # as after a dial whose answer is lost
            await platform.rows("UPDATE runs SET call_id = NULL WHERE id = :id RETURNING id", id=other)
        before = await platform.state()
        for one in told:
            nameless = await platform.send(readdress(platform, one, other, has_secret=False))
            assert (nameless.status_code, nameless.json()["code"]) == (401, "webhook_refused"), one.kind
            taken = await platform.send(readdress(platform, one, other, has_secret=True))
            # A carrier whose nonce is the second sends the same request twice.
            assert taken.json()["status"] in ({"ignored"} if is_bound else {"ignored", "duplicate"}), one.kind
        after = await platform.state()
        assert {**after, "seen_webhooks": []} == {**before, "seen_webhooks": []}
    for one in told:
        one.headers = dict(platform.carrier.sign_callback(one))
        assert (await platform.send(one)).status_code == 200
    status = "SELECT status FROM runs WHERE id = :id"
    assert await platform.rows(status, id=ours) == [("completed",)]
    assert await platform.rows(status, id=other) == [("initiated",)]


@pytest.mark.parametrize("name", ["twilio"])
@pytest.mark.slow
async def test_nor_does_the_database_bind_it_twice(name: str, platform: Platform) -> None:
    (ours, _), (other, _) = await platform.held_of(plan=ONE_WHO_HANGS_UP, calls=2)
    with pytest.raises(IntegrityError):
        async with platform.root.db.transaction() as session:
            await session.execute(
                text("UPDATE runs SET call_id = (SELECT call_id FROM runs WHERE id = :ours) WHERE id = :other"),
                {"ours": ours, "other": other},
            )
