"""People in a real browser: viewers, who may only look, superusers who act as somebody, and sessions that end."""

import os
import re
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.forks import forks
from tests.web.browser import in_a_browser
from tests.web.looks import OWNER, PAGES, add_campaign, ask, complaints, settle

pytestmark = in_a_browser(timeout_s=400)

PASSWORD = "correct horse battery"
VIEWER = "viewer@example.com"
MEMBER = "member@example.com"


def sign_in_again(page: Page, data: Path) -> None:
    """A first password needs a fresh sign-in, and the page's may be that of an earlier test."""
    made = forks().run("sign-in-link", OWNER, env={**os.environ, "OFFHOOK_DATA_DIR": str(data)}, folder=data.parent)
    (link,) = re.findall(r"http\S+/sign-in\S+", made.stdout)
    page.goto(link[link.index("/sign-in") :])
    expect(page.get_by_role("heading", name="Agents", exact=True)).to_be_visible()


def add_member(page: Page, base: str) -> None:
    invitation = ask(page, "POST", "/organizations/members", {"email": MEMBER, "role": "member"})
    body = {"token": invitation["token"], "password": PASSWORD}
    assert httpx2.post(f"{base}/api/v1/auth/invitations/accept", json=body).is_success


@pytest.mark.slow
def test_a_viewer_joins_by_link_and_finds_nothing_to_press(page: Page, browser: Browser, base: str) -> None:
    add_campaign(page)
    page.goto("/settings/members")
    page.get_by_role("button", name="Invite").click()
    page.get_by_label("Email").fill(VIEWER)
    page.get_by_role("combobox", name="Role", exact=True).click()
    page.get_by_role("option", name="Viewer").click()
    page.get_by_role("button", name="Create link").click()
    invitation = page.get_by_text(re.compile(r"/invitation\?token=")).inner_text()

    theirs = browser.new_context(viewport={"width": 1280, "height": 800}, base_url=base)
    viewer = theirs.new_page()
    viewer.goto(invitation[invitation.index("/invitation") :])
    expect(viewer.get_by_role("heading", name="Join Default")).to_be_visible()
    viewer.locator("input[type=password]").fill("short")
    viewer.get_by_role("button", name="Join").click()
    expect(viewer.get_by_text("at least 8 characters", exact=False).last).to_be_visible()
    expect(viewer.locator("input[type=password]")).to_have_attribute("aria-invalid", "true")
    viewer.locator("input[type=password]").fill(PASSWORD)
    viewer.get_by_role("button", name="Join").click()
    expect(viewer.get_by_role("heading", name="Agents", exact=True)).to_be_visible()
    said = complaints(viewer)
    changing = re.compile(
        "^(New|Add|Invite|Start|Pause|Resume|Redial|Save|Delete|Remove|Archive|Edit|Publish|Choose files|Connect|Get|Check"
        "|Release|Send|Upload)"
    )
    mine = [path for path in PAGES if path.startswith("/settings/") and path != "/settings/account"]
    for path in ("/", "/agents/1", "/campaigns", "/campaigns/1", "/knowledge", "/phone", "/runs", "/overview", *mine):
        viewer.goto(path)
        settle(viewer)
        pressable = viewer.get_by_role("button", name=changing).or_(viewer.get_by_role("link", name=changing))
        assert [button.inner_text() for button in pressable.all()] == [], path
    expect(viewer.get_by_role("link", name="Superuser")).to_have_count(0)
    theirs.close()
    assert said == []


def test_a_superuser_acts_as_somebody_and_sees_it(page: Page, base: str) -> None:
    add_member(page, base)
    page.goto("/superuser")
    page.get_by_role("button", name="Impersonate a user").press("Enter")
    expect(page.get_by_label("Email")).to_be_focused()
    page.keyboard.type(MEMBER)
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"You are impersonating {MEMBER} in Default.")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 500})
    page.goto("/usage")
    settle(page)
    page.get_by_role("heading", name="By model").scroll_into_view_if_needed()
    banner = page.get_by_text(f"You are impersonating {MEMBER} in Default.").bounding_box()
    header = page.get_by_role("banner").bounding_box()
    assert banner
    assert header
    assert header["y"] + header["height"] <= banner["y"] < 200
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("button", name="Stop impersonating").press("Enter")
    expect(page.get_by_role("heading", name="Superuser")).to_be_visible()
    expect(page.get_by_text("You are impersonating")).to_be_hidden()


def test_a_session_that_ends_leads_to_the_door_and_back(page: Page, data: Path) -> None:
    sign_in_again(page, data)
    ask(page, "POST", "/auth/password", {"new_password": PASSWORD})
    page.goto("/runs?sort=duration")
    settle(page)
    ask(page, "POST", "/auth/logout")
    page.reload()
    expect(page.get_by_text("Your session has ended")).to_be_visible()
    page.get_by_label("Email").fill(OWNER)
    page.locator("input[type=password]").fill("wrong password")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.locator("input[type=password]").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    assert "sort=duration" in page.url
