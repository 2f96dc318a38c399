"""The pages around the agents in a real browser: a newcomer's way to a campaign, every page as it looks to a machine,
sessions that end, and people who may only look."""

import gzip
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Response, expect, sync_playwright

from offhook.kit import http
from tests.web.browser import chromium, find_chromium, running_server
from tests.web.looks import FORMS, PAGES, SETTINGS, Form, complaints, field, serious_faults, settle, token_of

UI = Path(http.__file__).parents[2] / "_ui" / "index.html"
IMAGES = Path(__file__).parents[2] / "docs" / "images"
TAKES_SCREENSHOTS = os.environ.get("OFFHOOK_SCREENSHOTS") == "1"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on PATH"),
    pytest.mark.skipif(not UI.is_file(), reason="the web UI is not built: make web"),
    pytest.mark.timeout(400),
]

OWNER, PASSWORD = "owner@localhost", "correct horse battery"
VIEWER = "viewer@example.com"
DEMO = "Appointment booking (demo)"
# Of first loads: what a browser fetches before the list of agents can be used.
MOST_SCRIPT = 350_000
PATIENCE_MS = 60_000


@pytest.fixture(scope="module", autouse=True)
def _patience() -> Iterator[None]:
    """Of a machine that does much else beside; whatever is there is found at once."""
    expect.set_options(timeout=PATIENCE_MS)
    yield
    expect.set_options(timeout=5_000)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("serve") / "data"


@pytest.fixture(scope="module")
def link(data: Path) -> Iterator[str]:
    with running_server(data) as printed:
        yield printed


@pytest.fixture(scope="module")
def base(link: str) -> str:
    return link.partition("/sign-in")[0]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright, chromium(playwright) as started:
        yield started


@pytest.fixture(scope="module")
def context(browser: Browser, base: str) -> Iterator[BrowserContext]:
    opened = browser.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme="light", base_url=base, accept_downloads=True
    )
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def page(context: BrowserContext, link: str, data: Path) -> Page:
    """Signed in by the printed link, as somebody who sees across organisations, too."""
    subprocess.run(
        [sys.executable, "-m", "offhook.cli", "superuser", "grant", OWNER],
        env={**os.environ, "OFFHOOK_DATA_DIR": str(data)}, check=True, capture_output=True,
    )  # fmt: skip
    opened = context.new_page()
    opened.goto(link)
    expect(opened.get_by_role("heading", name="Agents", exact=True)).to_be_visible()
    return opened


def people(count: int) -> bytes:
    rows = [f"+1201555{number:04},Person {number}" for number in [102, *range(300, 300 + count - 1)]]
    return "\n".join(["phone_number,first_name", *rows]).encode()


def simulate_a_town(page: Page) -> None:
    """Whom campaigns call: people who are busy, away, or hang up during the greeting, so that twenty calls cost little."""
    town = {
        "provider": "sandbox",
        "mix": {"busy": 5, "no_answer": 3, "hangs_up": 4},
        "ring_s": 0.5,
        "no_answer_after_s": 2,
    }
    body = {"name": "Simulated town", "is_default_outbound": True, "config": town}
    authorization = {"Authorization": f"Bearer {token_of(page)}"}
    made = page.request.post("/api/v1/organizations/telephony-configs", headers=authorization, data=body)
    assert made.ok, made.text()


def test_a_newcomer_talks_publishes_and_calls_twenty_people(page: Page, base: str) -> None:
    """Talking is typing here: the voice has a test of its own."""
    said = complaints(page)
    simulate_a_town(page)
    page.goto(base)
    page.get_by_role("link", name="Talk now").click()
    expect(page.get_by_role("heading", name=DEMO, exact=True)).to_be_visible()
    page.get_by_text("Type", exact=True).click()
    page.get_by_role("button", name="Start a text chat").click()
    chat = page.get_by_role("log", name="Transcript").last
    expect(chat).to_contain_text("this is Maya from Riverside Dental")
    page.get_by_role("button", name="End", exact=True).click()
    expect(page.get_by_text("The conversation is over.")).to_be_visible()

    page.goto(base)
    page.get_by_role("button", name="New agent").first.click()
    page.get_by_label("Name").fill("Front desk")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("Published v1", exact=True)).to_be_visible()

    page.get_by_role("link", name="Campaigns", exact=True).click()
    page.get_by_role("link", name="New campaign").first.click()
    page.get_by_label("Name").fill("Spring reminder")
    page.get_by_role("combobox", name="Agent").click()
    page.get_by_role("option", name="Front desk").click()
    file = page.locator("input[type=file]")
    file.set_input_files({"name": "people.csv", "mimeType": "text/csv", "buffer": b"phone_number\n+12\n"})
    expect(page.get_by_role("alert")).to_contain_text("1 problem in this file")
    file.set_input_files({"name": "people.csv", "mimeType": "text/csv", "buffer": people(20)})
    expect(page.get_by_text("20 contacts")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    page.get_by_label("Calls at the same time").fill("10")
    page.get_by_role("switch", name="Call again").press("Space")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Make the campaign").click()
    expect(page.get_by_text("of 20 contacts")).to_be_visible()
    page.get_by_role("button", name="Start dialling").click()
    expect(page.get_by_text("of those done")).to_be_visible()
    expect(page.get_by_text("Completed", exact=True)).to_be_visible(timeout=240_000)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download report").click()
    report = download.value.path().read_text().splitlines()
    assert report[0].startswith("contact_id,phone_number,first_name,outcome")
    assert len(report) == 21
    assert said == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_every_page_is_whole(
    browser: Browser, context: BrowserContext, page: Page, base: str, scheme: str, width: int
) -> None:
    """No error in the console, no serious fault that axe finds, nothing wider than the window."""
    faults: list[str] = []
    look = browser.new_context(
        storage_state=context.storage_state(),
        viewport={"width": width, "height": 800},
        color_scheme="light" if scheme == "light" else "dark",
        base_url=base,
    )
    seen = look.new_page()
    said = complaints(seen)
    run = seen.request.get(
        "/api/v1/organizations/usage/runs?limit=1", headers={"Authorization": f"Bearer {token_of(page)}"}
    ).json()["items"][0]
    for path, picture in [*PAGES.items(), (f"/agents/{run['workflow_id']}/runs/{run['run_id']}", None)]:
        seen.goto(path)
        settle(seen)
        if TAKES_SCREENSHOTS and picture:
            seen.screenshot(path=IMAGES / f"{picture}{'' if width == 1280 else '-phone'}.png")
        faults += serious_faults(seen)
        if seen.evaluate("document.documentElement.scrollWidth > innerWidth"):
            faults.append(f"{path}: wider than {width}")
    look.close()
    assert said == []
    assert faults == []


def test_the_first_load_is_small(browser: Browser, context: BrowserContext, page: Page, base: str) -> None:
    fresh = browser.new_context(storage_state=context.storage_state(), base_url=base)
    scripts: dict[str, int] = {}

    def count(response: Response) -> None:
        if response.url.endswith(".js"):
            scripts[response.url] = len(gzip.compress(response.body(), 9))

    opened = fresh.new_page()
    opened.on("response", count)
    opened.goto("/")
    settle(opened)
    fresh.close()
    assert 50_000 < sum(scripts.values()) < MOST_SCRIPT, scripts


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.path} {form.wrong}")
def test_the_api_speaks_at_the_field(page: Page, form: Form) -> None:
    page.goto(form.path)
    settle(page)
    if form.opener:
        page.get_by_role("button", name=form.opener).first.click()
    for label, value in form.typed.items():
        field(page, label).first.fill(value)
    page.get_by_role("button", name=form.submit, exact=True).first.click()
    wrong = field(page, form.wrong).first
    expect(wrong).to_have_attribute("aria-invalid", "true")
    described = page.locator(f"[id='{(wrong.get_attribute('aria-describedby') or '').split()[0]}']")
    expect(described).to_contain_text(re.compile(r"\w+ \w+"))
    assert serious_faults(page) == []


def test_a_key_is_made_by_keyboard_and_shown_once(page: Page) -> None:
    page.goto("/settings/keys")
    settle(page)
    page.get_by_role("button", name="New key").first.press("Enter")
    field(page, "Name").fill("CRM")
    field(page, "Name").press("Enter")
    expect(page.get_by_text("Copy the key now")).to_be_visible()
    expect(page.get_by_text(re.compile("^ohk_.{43}$"))).to_be_visible()
    page.reload()
    expect(page.get_by_role("cell", name="CRM", exact=True).first).to_be_visible()
    expect(page.get_by_text("Copy the key now")).to_be_hidden()


def test_a_viewer_joins_by_link_and_finds_nothing_to_press(page: Page, browser: Browser, base: str) -> None:
    page.goto("/settings/members")
    page.get_by_role("button", name="Invite").click()
    page.get_by_label("E-mail").fill(VIEWER)
    page.get_by_role("combobox", name="Role", exact=True).click()
    page.get_by_role("option", name="Viewer").click()
    page.get_by_role("button", name="Make the link").click()
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
    mine = [f"/settings/{part}" for part in SETTINGS if part != "account"]
    for path in ("/", "/agents/1", "/campaigns", "/campaigns/1", "/knowledge", "/phone", "/runs", "/overview", *mine):
        viewer.goto(path)
        settle(viewer)
        pressable = viewer.get_by_role("button", name=changing).or_(viewer.get_by_role("link", name=changing))
        assert [button.inner_text() for button in pressable.all()] == [], path
    expect(viewer.get_by_role("link", name="Superuser")).to_have_count(0)
    theirs.close()
    assert said == []


def test_a_superuser_acts_as_somebody_and_sees_it(page: Page) -> None:
    page.goto("/superuser")
    page.get_by_role("button", name="Act as a user").click()
    page.get_by_label("E-mail").fill(VIEWER)
    page.get_by_role("button", name="Act as them").click()
    expect(page.get_by_text(f"You act as {VIEWER} in Default.")).to_be_visible()
    page.get_by_role("button", name="Back to yourself").click()
    expect(page.get_by_role("heading", name="Superuser")).to_be_visible()
    expect(page.get_by_text("You act as")).to_be_hidden()


def test_a_session_that_ends_leads_to_the_door_and_back(page: Page) -> None:
    authorization = {"Authorization": f"Bearer {token_of(page)}"}
    assert page.request.post("/api/v1/auth/password", headers=authorization, data={"new_password": PASSWORD}).ok
    page.goto("/runs?sort=duration")
    settle(page)
    assert page.request.post("/api/v1/auth/logout", headers={"Authorization": f"Bearer {token_of(page)}"}).ok
    page.reload()
    expect(page.get_by_text("Your session has ended")).to_be_visible()
    page.get_by_label("E-mail").fill(OWNER)
    page.locator("input[type=password]").fill("wrong password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.locator("input[type=password]").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    assert "sort=duration" in page.url
