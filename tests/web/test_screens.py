"""The pages around the agents in a real browser: a newcomer's way to a campaign, lists, keys and voices."""

import gzip
import re

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Response, expect

from tests.quick import first_quick
from tests.web.browser import in_a_browser
from tests.web.hook import deliveries_are_shown, listening
from tests.web.keyboard import walk_dialog
from tests.web.looks import (
    DEMO,
    FORMS,
    Form,
    ask,
    axe_faults,
    begin_campaign,
    complaints,
    field,
    finish_a_campaign,
    people,
    picture,
    settle,
    simulate_a_town,
)

pytestmark = in_a_browser(timeout_s=400)


# Of first loads: what a browser fetches before the list of agents can be used.
MOST_SCRIPT = 250_000


def test_a_newcomer_talks_publishes_and_calls_twenty_people(page: Page, base: str) -> None:
    """Talking is typing here: the voice has a test of its own."""
    said = complaints(page)
    simulate_a_town(page)
    page.goto(base)
    page.get_by_role("link", name="Talk now").click()
    expect(page.get_by_role("heading", name=DEMO, exact=True)).to_be_visible()
    page.get_by_text("Chat", exact=True).click()
    page.get_by_role("button", name="Start chat").click()
    chat = page.get_by_role("log", name="Transcript").last
    expect(chat).to_contain_text("this is Maya from Riverside Dental")
    page.get_by_role("button", name="End", exact=True).click()
    expect(page.get_by_text("The chat has ended.")).to_be_visible()

    page.goto(base)
    page.get_by_role("button", name="New agent").first.click()
    page.get_by_text("Simple agent", exact=True).click()
    page.get_by_label("Name").fill("Front desk")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("Published v1", exact=True)).to_be_visible()

    page.get_by_role("link", name="Campaigns", exact=True).click()
    page.get_by_role("link", name="New campaign").first.click()
    file = begin_campaign(page, "Spring reminder", "Front desk")
    file.set_input_files({"name": "people.csv", "mimeType": "text/csv", "buffer": b"phone_number\n+12\n"})
    expect(page.get_by_role("alert").filter(has_text="1 problem in this file")).to_be_visible()
    file.set_input_files({"name": "people.csv", "mimeType": "text/csv", "buffer": people(20)})
    expect(page.get_by_text("20 contacts")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Mon–Sun 9 AM–8 PM", exact=True)).to_be_visible()
    page.get_by_text("At any time", exact=True).click()
    page.get_by_label("Concurrency").fill("10")
    page.get_by_role("switch", name="Retry unanswered calls").press("Space")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Create campaign").click()
    expect(page.get_by_text("of 20 contacts")).to_be_visible()
    page.get_by_role("button", name="Start dialing").click()
    page.get_by_role("dialog").get_by_role("button", name="Call 20 contacts").click()
    expect(page.get_by_text("of those done")).to_be_visible()
    expect(page.get_by_text("Completed", exact=True)).to_be_visible(timeout=240_000)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download report").click()
    report = download.value.path().read_text().splitlines()
    assert report[0].startswith("contact_id,phone_number,first_name,outcome")
    assert len(report) == 21

    page.get_by_role("link", name="All calls").click()
    page.get_by_role("button", name="More filters").click()
    page.get_by_role("button", name="Add a variable").click()
    page.get_by_label("Variable kind").select_option("context")
    page.get_by_label("Variable name").fill("first_name")
    page.get_by_label("Text", exact=True).fill("person 318")
    expect(page.get_by_role("region", name="Runs", exact=True).get_by_role("row")).to_have_count(2)
    expect(page.get_by_role("button", name="More filters (2)")).to_be_visible()
    assert said == []


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


@pytest.mark.parametrize("form", first_quick(FORMS, count=2), ids=lambda form: f"{form.path} {form.wrong}")
def test_the_api_speaks_at_the_field(page: Page, form: Form) -> None:
    page.goto(form.path)
    settle(page)
    opener = page.get_by_role("button", name=form.opener).first if form.opener else None
    if opener:
        opener.press("Enter")
    for label, value in form.typed.items():
        field(page, label).first.fill(value)
    page.get_by_role("button", name=form.submit, exact=True).first.click()
    wrong = field(page, form.wrong).first
    expect(wrong).to_have_attribute("aria-invalid", "true")
    described = page.locator(f"[id='{(wrong.get_attribute('aria-describedby') or '').split()[0]}']")
    expect(described).to_contain_text(re.compile(r"\w+ \w+"))
    assert axe_faults(page) == []
    if opener:
        assert walk_dialog(page, opener) == []


HOURS = "Calling hours"


def goes_by(page: Page, account: str) -> None:
    page.get_by_role("combobox", name="Place calls through").click()
    page.get_by_role("option", name=account).click()


@pytest.mark.slow
def test_a_campaign_keeps_its_hours_is_held_and_called_again(page: Page) -> None:
    """The week is painted by mouse and by keys; there are more contacts than a page shows; a customer's server is told."""
    finish_a_campaign(page)
    ask(page, "POST", "/organizations/telephony-configs", {"name": "Side street", "config": {"provider": "sandbox"}})
    with listening() as hook:
        ask(page, "POST", "/organizations/webhooks", {"url": hook.url, "events": ["campaign.status_changed"]})
        page.goto("/campaigns/new")
        file = begin_campaign(page, "In its hours", DEMO)
        file.set_input_files({"name": "people.csv", "mimeType": "text/csv", "buffer": people(60)})
        expect(page.get_by_text("60 contacts")).to_be_visible()
        page.get_by_role("button", name="Next").click()
        page.get_by_role("button", name="Clear", exact=True).click()
        expect(page.get_by_text("No hours are selected")).to_be_visible()
        expect(page.get_by_role("button", name="Next")).to_be_disabled()
        cells = page.get_by_role("grid", name=HOURS)
        cells.get_by_role("gridcell", name="Sunday 11:30 PM").hover()
        page.mouse.down()
        cells.get_by_role("gridcell", name="Monday 12 AM").hover()
        page.mouse.up()
        expect(page.get_by_text("Mon–Sun all day", exact=True)).to_be_visible()
        last = cells.get_by_role("gridcell", name="Sunday 11:30 PM")
        last.press("Space")
        last.press("Shift+ArrowLeft")
        expect(page.get_by_text("Mon–Sat all day; Sun 12 AM–11 PM", exact=True)).to_be_visible()
        page.keyboard.press("Space")
        page.keyboard.press("Shift+ArrowRight")
        expect(last).to_be_focused()
        page.get_by_label("Concurrency").fill("1")
        goes_by(page, "Side street")
        page.get_by_role("button", name="Next").click()
        page.get_by_role("button", name="Create campaign").dblclick()
        expect(page.get_by_role("heading", name="Dry run")).to_be_visible()
        expect(page.get_by_text(re.compile(r"^Mon–Sun all day, "))).to_be_visible()

        expect(page.get_by_text("Side street", exact=True)).to_be_visible()
        assert len([made for made in ask(page, "GET", "/campaign/") if made["name"] == "In its hours"]) == 1
        page.get_by_role("button", name="More actions").click()
        page.get_by_role("menuitem", name="Edit rules").click()
        goes_by(page, "Default account (Simulated town)")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_text("Simulated town (default)")).to_be_visible()

        page.get_by_role("button", name="Start dialing").click()
        page.get_by_role("dialog").get_by_role("button", name="Call 60 contacts").click()
        page.get_by_role("button", name="Pause", exact=True).click()
        page.get_by_role("button", name="Resume", exact=True).click()
        page.get_by_role("button", name="Pause", exact=True).click()
        expect(page.get_by_text("Paused", exact=True)).to_be_visible()
        expect(page.get_by_text("60 contacts", exact=True)).to_be_visible()
        page.get_by_role("button", name="Page 3").click()
        expect(page.get_by_role("region", name="Contacts").get_by_role("row")).to_have_count(11)
        picture(page, "campaign-paused")
        deliveries_are_shown(page, hook)

    page.goto("/campaigns/1")
    page.get_by_role("button", name="Redial").click()
    page.get_by_role("dialog").get_by_role("button", name="Create campaign").click()
    expect(page.get_by_role("heading", name="Spring reminder (redial)")).to_be_visible()
    expect(page.get_by_role("button", name="Start dialing")).to_be_visible()


def test_long_lists_have_pages(page: Page) -> None:
    numbers = [f"+1202555{index:04}" for index in range(100, 160)]
    ask(page, "POST", "/organizations/do-not-call", {"phone_numbers": numbers})
    page.goto("/settings/do-not-call")
    rows = page.get_by_role("region", name="Do not call").get_by_role("row")
    expect(rows).to_have_count(26)
    page.get_by_role("button", name="Page 3").click()
    expect(rows).to_have_count(11)
    for index in range(51):
        secret = {"credential_type": "bearer_token", "credential_data": {"token": "secret"}}
        ask(page, "POST", "/credentials/", {"name": f"Server {index}", **secret})
    page.goto("/settings/credentials")
    rows = page.get_by_role("region", name="Credentials").get_by_role("row")
    expect(rows).to_have_count(51)
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(52)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)


def test_a_voice_is_heard_before_it_is_chosen(page: Page) -> None:
    page.goto("/settings/models")
    with page.expect_response("**/voice-preview") as spoken:
        page.get_by_role("button", name="Preview this voice").click()
    assert (spoken.value.status, spoken.value.headers["content-type"]) == (200, "audio/wav")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    # until the sentence is over
    expect(page.get_by_role("button", name="Preview this voice")).to_be_visible(timeout=60_000)


def test_a_key_is_made_by_keyboard_and_shown_once(page: Page) -> None:
    page.goto("/settings/keys")
    settle(page)
    page.get_by_role("button", name="New key").first.press("Enter")
    field(page, "Name").fill("CRM")
    # An impatient person sends it twice.
    page.locator("form").evaluate("form => { form.requestSubmit(); form.requestSubmit(); }")
    expect(page.get_by_text("Copy the key now")).to_be_visible()
    expect(page.get_by_text(re.compile("^ohk_.{43}$"))).to_be_visible()
    page.reload()
    expect(page.get_by_role("cell", name="CRM", exact=True)).to_have_count(1)
    expect(page.get_by_text("Copy the key now")).to_be_hidden()
