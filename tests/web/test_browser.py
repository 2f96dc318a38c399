"""The page in a real browser, against a real server, with a voice for a microphone."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Playwright, Route, expect

from tests.web.browser import Caller, chromium, in_a_browser, running_server
from tests.web.looks import end_transitions

IMAGES = Path(__file__).parents[2] / "docs" / "images"
TAKES_SCREENSHOTS = os.environ.get("OFFHOOK_SCREENSHOTS") == "1"

pytestmark = in_a_browser(timeout_s=240)

DEMO = "Appointment booking (demo)"


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("serve") / "data") as printed:
        yield printed


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    with chromium(playwright) as started:
        yield started


@pytest.fixture(scope="module")
def empty_page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def caller(empty_page: Page) -> Caller:
    return Caller(empty_page)


@pytest.fixture(scope="module")
def page(empty_page: Page, caller: Caller, link: str) -> Page:
    """A page that is signed in by the printed link, and the errors of which fail the test that caused them."""
    empty_page.goto(link)
    expect(empty_page.get_by_role("heading", name="Agents")).to_be_visible(timeout=15_000)
    return empty_page


@pytest.fixture(autouse=True)
def _no_page_errors(page: Page) -> Iterator[None]:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield
    assert errors == []


@pytest.fixture
def home(page: Page, link: str) -> str:
    """The page is at the list of agents; its address."""
    address = link.partition("/sign-in")[0] + "/"
    page.goto(address)
    expect(page.get_by_role("heading", name="Agents")).to_be_visible()
    return address


def open_demo(page: Page) -> None:
    page.get_by_role("link", name=re.compile(re.escape(DEMO))).click()
    expect(page.get_by_role("heading", name=DEMO, exact=True)).to_be_visible()


def shoot(page: Page, name: str) -> None:
    if TAKES_SCREENSHOTS:
        IMAGES.mkdir(parents=True, exist_ok=True)
        page.wait_for_timeout(400)
        page.screenshot(path=IMAGES / f"{name}.png")


def test_a_link_signs_in_once(browser: Browser, page: Page, link: str) -> None:
    stranger = browser.new_page()
    stranger.goto(link)
    expect(stranger.get_by_role("alert")).to_contain_text("sign-in link does not work")
    expect(stranger.get_by_label("Email")).to_be_visible()
    stranger.close()


def say_until_heard(caller: Caller, text: str, lines: Locator, word: str) -> None:
    """Says it again when it was not understood, as people do: a busy machine tears gaps into what it hears."""
    heard = lines.filter(has_text=re.compile(word, re.IGNORECASE)).last
    for _ in range(3):
        caller.say(text)
        try:
            expect(heard).to_be_visible(timeout=15_000)
        except AssertionError:
            continue
        return
    expect(heard).to_be_visible()


@pytest.mark.usefixtures("home")
def test_talk_from_the_list_to_the_recording(page: Page, caller: Caller) -> None:
    open_demo(page)
    page.get_by_role("button", name="Start talking").click()
    transcript = page.get_by_role("log", name="Transcript").first
    asked = transcript.locator("[data-speaker=agent][data-state=final]")
    answered = transcript.locator("[data-speaker=caller][data-state=final]")
    expect(asked.last).to_contain_text("this is Maya from Riverside Dental", timeout=30_000)
    expect(page.get_by_role("button", name="Mute")).to_be_visible()
    say_until_heard(caller, "I would like to book an appointment.", answered, "appointment")
    expect(asked.last).to_contain_text("Which day works best for you", timeout=30_000)
    expect(page.get_by_role("list", name="Response time per turn")).to_have_text(re.compile(r"\d m?s$"), timeout=15_000)
    say_until_heard(caller, "Tuesday.", answered, "tuesday")
    expect(page.locator(".react-flow__node [data-live]")).to_contain_text("What time", timeout=15_000)
    expect(transcript).to_contain_text("I have nine, eleven", timeout=15_000)
    say_until_heard(caller, "Eleven o'clock.", answered, "eleven")
    # As many of its words as were heard: at least the first, often not all of them.
    interrupted = transcript.locator("[data-speaker=agent][data-state=interrupted]")
    expect(interrupted.filter(has_text=re.compile(r"\bI\b")).first).to_be_visible(timeout=15_000)
    expect(transcript).to_contain_text("Have you been to our practice before", timeout=15_000)
    shoot(page, "talk")
    page.get_by_role("button", name="Hang up").click()
    expect(page.get_by_text("Call ended")).to_be_visible(timeout=15_000)

    page.get_by_role("link", name="Recording and details").click()
    expect(page.get_by_role("heading", name=re.compile("^Browser call"))).to_be_visible()
    expect(page.get_by_text("Caller hung up")).to_be_visible(timeout=15_000)
    expect(page.get_by_role("log", name="Transcript")).to_contain_text("Which day works best for you")
    for _ in range(300):  # the page's own rules for scripts forbid wait_for_function
        if page.evaluate("document.querySelector('audio')?.duration > 15"):
            break
        page.wait_for_timeout(200)
    else:
        raise AssertionError("the recording has no sound")
    place = page.get_by_role("slider", name="Position in the recording")
    place.press("ArrowRight")
    expect(place).to_have_attribute("aria-valuenow", "5", timeout=15_000)
    page.get_by_role("button", name="Play from").last.press("Enter")
    expect(place).not_to_have_attribute("aria-valuenow", "5", timeout=15_000)
    page.goto(f"{page.url}?at=7")
    expect(place).to_have_attribute("aria-valuenow", "7", timeout=15_000)
    page.get_by_role("button", name="Share").press("Enter")
    expect(page.get_by_role("menuitem")).to_have_text(
        [
            re.compile(f"Copy a link to {what}$")
            for what in ("this page", "this page, from 0:07", "the recording", "the transcript")
        ]
    )
    page.keyboard.press("Escape")
    shoot(page, "run")


@pytest.mark.usefixtures("home")
def test_write_with_the_same_agent(page: Page) -> None:
    open_demo(page)
    live = page.locator(".react-flow__node", has_text="Greeting")
    expect(live).to_be_in_viewport(timeout=15_000)
    page.keyboard.press("Control+f")
    expect(page.get_by_label("Find a step")).to_be_focused(timeout=15_000)
    page.keyboard.type("booked and that")
    page.keyboard.press("Enter")
    found = page.locator(".react-flow__node", has_text="booked and that")
    expect(found).to_be_in_viewport(timeout=15_000)
    for _ in range(5):
        page.get_by_role("button", name="Zoom in").click()
    expect(live).not_to_be_in_viewport(timeout=15_000)
    page.get_by_role("radiogroup", name="Side panel").get_by_text("Test").click()
    page.get_by_text("Chat", exact=True).click()
    page.get_by_role("button", name="Start chat").press("Enter")
    expect(live.and_(page.locator(":has([data-live])"))).to_be_in_viewport(timeout=15_000)
    chat = page.get_by_role("log", name="Transcript").last
    expect(chat).to_contain_text("this is Maya from Riverside Dental", timeout=15_000)
    message = page.get_by_label("Message")
    expect(message).to_be_focused(timeout=15_000)
    page.keyboard.type("xyzzy")
    page.keyboard.press("Enter")
    # once it is answered
    back = chat.get_by_role("button", name="Go back and edit: xyzzy")
    expect(back).to_be_visible(timeout=15_000)
    page.keyboard.press("Shift+Tab")
    expect(back).to_be_focused()
    page.keyboard.press("Enter")
    expect(message).to_have_value("xyzzy", timeout=15_000)
    expect(message).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("when are you open")
    page.keyboard.press("Enter")
    expect(chat).to_contain_text("We are open Monday to Friday", timeout=15_000)
    expect(chat).not_to_contain_text("xyzzy")
    page.get_by_role("button", name="End", exact=True).press("Enter")
    expect(page.get_by_text("The chat has ended.")).to_be_visible(timeout=15_000)
    expect(page.get_by_role("button", name="Start over")).to_be_focused()


def test_what_a_new_agent_starts_from_stays_where_it_is_while_templates_load(page: Page, home: str) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/v1/workflow/templates", hold)
    # what comes above the page has come
    expect(page.get_by_text("You have no password yet")).to_be_visible()
    page.get_by_role("button", name="New agent").first.click()
    choice = page.get_by_text("Simple agent", exact=True)
    choice.hover()
    expect(page.get_by_role("list", name="Templates").get_by_role("listitem")).to_have_count(3)
    end_transitions(page)
    before = choice.bounding_box()
    held[0].continue_()
    expect(page.get_by_role("list", name="Templates").get_by_role("listitem")).to_have_count(12)
    assert before is not None
    assert choice.bounding_box() == before


def test_make_an_agent_from_nothing_and_publish_it(page: Page, home: str) -> None:
    page.get_by_role("button", name="New agent").first.click()
    page.get_by_text("Simple agent", exact=True).click()
    page.get_by_label("Name").fill("Front desk")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Front desk", exact=True)).to_be_visible()
    expect(page.get_by_text("Draft v1", exact=True)).to_be_visible()
    if TAKES_SCREENSHOTS:
        page.goto(home)
        expect(page.get_by_role("link", name=re.compile("^Front desk"))).to_be_visible()
        page.set_viewport_size({"width": 1440, "height": 520})
        shoot(page, "agents")
        page.set_viewport_size({"width": 1440, "height": 900})
        page.go_back()
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("Published v1", exact=True)).to_be_visible()
    expect(page.get_by_text("Draft v1", exact=True)).to_be_hidden()


@pytest.mark.usefixtures("home")
def test_a_blocked_microphone_is_explained(page: Page, playwright: Playwright) -> None:
    open_demo(page)
    state = page.context.storage_state()
    with chromium(playwright, allows_microphone=False) as strict:
        context = strict.new_context(storage_state=state)
        context.clear_permissions()
        blocked = context.new_page()
        blocked.goto(page.url)
        blocked.get_by_role("button", name="Start talking").click()
        expect(blocked.get_by_text("The microphone is blocked")).to_be_visible(timeout=15_000)
        expect(blocked.get_by_role("button", name="Try again")).to_be_visible()
        context.close()


def test_sign_out_and_no_way_back(page: Page, home: str) -> None:
    page.get_by_role("button", name="Owner").click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(home)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
