"""The editor in real browsers against a real server: from nothing to published, two people at once, and who may only read."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.web.browser import in_a_browser, running_server, still_box
from tests.web.keyboard import open_each, walk
from tests.web.looks import axe_faults

PATIENCE_S = 60
# What opens a dialog beside the canvas, by its part.
OPENERS = {
    "Test": ("^Keyboard shortcuts$",),
    "Settings": ("^Delete$",),
    "Versions": ("^Show version|in version", "^Restore version"),
}

pytestmark = in_a_browser(timeout_s=240)


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("serve") / "data") as printed:
        yield printed


@pytest.fixture(scope="module")
def owner(browser: Browser, link: str) -> Iterator[Page]:
    """The owner's page, 1280 wide, without the hints of a first visit."""
    page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
    page.add_init_script("localStorage.setItem('offhook.tour', '9')")
    page.goto(link)
    expect(page.get_by_role("heading", name="Agents")).to_be_visible()
    yield page
    page.close()


@pytest.fixture(autouse=True)
def _no_page_errors(owner: Page) -> Iterator[None]:
    errors: list[str] = []
    owner.on("pageerror", lambda error: errors.append(str(error)))
    yield
    assert errors == []


def base_of(page: Page) -> str:
    return page.url.partition("/agents")[0].rstrip("/")


def ask(page: Page, method: str, path: str, body: object = None) -> Any:
    """A request as the page's person; to sign in, as nobody."""
    token = page.evaluate("localStorage.getItem('offhook.token')")
    headers = {} if path.startswith("/auth") else {"Authorization": f"Bearer {token}"}
    answer = page.request.fetch(f"{base_of(page)}/api/v1{path}", method=method, data=body, headers=headers)
    assert answer.ok, answer.text()
    return answer.json()


def step(page: Page, name: str) -> Locator:
    return page.locator(".react-flow__node", has_text=name).first


def saved(page: Page) -> None:
    expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()


def open_survey(page: Page) -> int:
    """Opens a demo agent at its step "Rating"; returns its id."""
    agent: int = next(i["id"] for i in ask(page, "GET", "/workflow/fetch") if i["name"] == "Guest survey (demo)")
    page.goto(f"{base_of(page)}/agents/{agent}")
    step(page, "Rating").click()
    expect(prompt(page)).to_be_visible()
    return agent


def prompt(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("^Prompt"))


def test_from_nothing_to_published_with_the_keyboard(owner: Page) -> None:
    page = owner
    page.get_by_role("button", name="New agent").first.click()
    page.get_by_text("Simple agent", exact=True).click()
    page.get_by_label("Name").fill("Front desk")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Front desk")).to_be_visible()

    step(page, "Welcome").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name=re.compile("^Name"))).to_have_value("Welcome")
    page.get_by_role("button", name="Agent Step").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".react-flow__node")).to_have_count(3)
    expect(page.locator(".react-flow__edge")).to_have_count(2)
    saved(page)

    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="Not published: ")).to_be_visible()
    problems = page.get_by_role("button", name=re.compile("Enter a prompt"))
    expect(problems).to_be_visible()
    expect(page.locator("[data-problem=error]").first).to_be_visible()
    problems.click()
    expect(page.get_by_text("Enter a prompt.", exact=True)).to_be_visible()
    prompt(page).fill("Ask for the caller's name.")
    page.keyboard.press("Control+s")

    page.get_by_role("button", name=re.compile("error")).click()
    page.get_by_role("button", name=re.compile("Welcome → Agent Step")).click()
    page.get_by_role("textbox", name="Condition").fill("The caller wants something.")
    expect(page.get_by_role("button", name=re.compile("1 warning"))).to_be_visible()
    saved(page)
    page.get_by_role("button", name="Publish", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The first published version, with 3 steps")
    dialog.get_by_label("Note").fill("Asks for a name")
    dialog.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("Published v1", exact=True)).to_be_visible()
    expect(page.get_by_text("Draft v1", exact=True)).to_be_hidden()
    page.get_by_text("Versions", exact=True).click()
    expect(page.get_by_text("Asks for a name", exact=True)).to_be_visible()
    page.get_by_text("Test", exact=True).click()


def test_everything_on_the_canvas_by_keyboard(owner: Page) -> None:
    page = owner
    nodes, edges = page.locator(".react-flow__node"), page.locator(".react-flow__edge")
    step(page, "Agent Step").focus()
    page.keyboard.press("Enter")
    name = page.get_by_role("textbox", name=re.compile("^Name"))
    expect(name).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("Reason")
    page.keyboard.press("Escape")
    expect(step(page, "Reason")).to_be_focused()
    before = step(page, "Reason").get_attribute("style")
    page.keyboard.press("ArrowRight")
    expect(step(page, "Reason")).not_to_have_attribute("style", before or "")
    page.keyboard.press("Control+z")
    expect(step(page, "Reason")).to_have_attribute("style", before or "")
    page.keyboard.press("Control+Shift+Z")
    expect(step(page, "Reason")).not_to_have_attribute("style", before or "")

    page.keyboard.press("Control+c")
    page.keyboard.press("Control+v")
    expect(nodes).to_have_count(4)
    page.keyboard.press("Delete")
    expect(nodes).to_have_count(3)
    page.keyboard.press("Control+z")
    expect(nodes).to_have_count(4)
    page.keyboard.press("Control+z")
    expect(nodes).to_have_count(3)

    expect(edges).to_have_count(2)
    page.keyboard.press("Control+f")
    page.keyboard.type("reason")
    page.keyboard.press("Enter")
    expect(step(page, "Reason")).to_be_focused()
    page.get_by_role("combobox", name="Connect to another step").focus()
    page.keyboard.type("Goodbye")
    expect(page.get_by_role("option")).to_have_count(1)
    page.evaluate("new Promise((done) => setTimeout(done, 0))")  # until the opened list has forgotten its choice
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("combobox", name="Connect to another step")).to_have_attribute(
        "aria-activedescendant", page.get_by_role("option").get_attribute("id") or ""
    )
    page.keyboard.press("Enter")
    expect(edges).to_have_count(3)
    expect(page.get_by_role("textbox", name="Condition")).to_be_visible()
    page.keyboard.press("Escape")
    expect(step(page, "Reason")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Delete")
    # Its one way in leads on to where its one way out led, beside the transition that was there.
    expect(nodes).to_have_count(2)
    expect(edges).to_have_count(2)
    page.keyboard.press("Control+z")
    expect(nodes).to_have_count(3)
    expect(edges).to_have_count(3)
    page.keyboard.press("Control+Shift+Z")
    expect(edges).to_have_count(2)
    saved(page)


def test_a_step_too_small_to_read_keeps_its_name(owner: Page) -> None:
    page = owner
    text = step(page, "Welcome").get_by_text("Welcome", exact=True)
    canvas = page.get_by_role("region", name="Conversation steps")
    canvas.hover()
    page.mouse.wheel(0, 4_000)
    expect(text).to_be_hidden()
    expect(page.get_by_role("group", name=re.compile("^Welcome, "))).to_be_visible()
    assert axe_faults(page) == []

    viewport = page.locator(".react-flow__viewport")
    before = viewport.get_attribute("style") or ""
    box = still_box(canvas)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.8
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 40, y - 40, steps=4)
    page.mouse.up()
    expect(viewport).not_to_have_attribute("style", before)

    page.get_by_role("button", name="Show all").click()
    expect(text).to_be_visible()
    text.click()
    expect(page.get_by_role("textbox", name=re.compile("^Name"))).to_have_value("Welcome")


@pytest.mark.slow
def test_two_people_change_one_agent(owner: Page, browser: Browser) -> None:
    mine = owner
    agent = open_survey(mine)

    theirs = browser.new_context(storage_state=mine.context.storage_state()).new_page()
    theirs.goto(mine.url)
    step(theirs, "Rating").click()
    prompt(theirs).fill("Theirs.")
    saved(theirs)

    prompt(mine).fill("Mine.")
    warning = mine.get_by_role("alert")
    expect(warning).to_contain_text("This agent was changed elsewhere")
    mine.get_by_role("button", name="Load theirs").click()
    expect(prompt(mine)).to_have_value("Theirs.")
    expect(warning).to_be_hidden()
    undo = mine.get_by_role("button", name="Undo", exact=True)
    undo.click()
    expect(prompt(mine)).to_have_value("Mine.")
    mine.get_by_role("button", name="Redo", exact=True).click()
    expect(prompt(mine)).to_have_value("Theirs.")
    saved(mine)

    theirs.reload()
    step(theirs, "Rating").click()
    prompt(theirs).fill("Theirs again.")
    saved(theirs)
    prompt(mine).fill("Mine at last.")
    mine.get_by_role("button", name="Show differences").click()
    differs = mine.get_by_role("dialog")
    expect(differs.locator("del")).to_contain_text("Theirs again.")
    expect(differs.locator("ins")).to_contain_text("Mine at last.")
    mine.keyboard.press("Escape")
    mine.get_by_role("button", name="Keep mine").click()
    saved(mine)
    stored = ask(mine, "GET", f"/workflow/fetch/{agent}")["workflow_definition"]
    assert "Mine at last." in str(stored)
    undo.click()
    expect(prompt(mine)).to_have_value("Theirs again.")
    saved(mine)
    theirs.context.close()


def test_who_may_only_read_sees_no_button_to_change(owner: Page, browser: Browser) -> None:
    invited = ask(owner, "POST", "/organizations/members", {"email": "viewer@example.com", "role": "viewer"})
    joined = ask(
        owner, "POST", "/auth/invitations/accept", {"token": invited["token"], "name": "Vi", "password": "long enough"}
    )
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="dark")
    context.add_init_script(f"localStorage.setItem('offhook.token', '{joined['token']}')")
    page = context.new_page()
    page.goto(f"{base_of(owner)}/")
    expect(page.get_by_role("link", name=re.compile("Guest survey"))).to_be_visible()
    expect(page.get_by_role("button", name="New agent")).to_have_count(0)
    page.get_by_role("link", name=re.compile("Guest survey")).click()
    step(page, "Rating").click()
    expect(prompt(page)).to_be_disabled()
    for name in ("Publish", "Undo", "Agent Step", "Remove", "Duplicate", "Rename", "Start talking"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    page.keyboard.press("Delete")
    expect(page.locator(".react-flow__node", has_text="Rating")).to_have_count(1)
    assert axe_faults(page) == []
    context.close()


@pytest.mark.slow
def test_no_serious_fault_of_accessibility_and_all_of_it_by_keyboard(owner: Page) -> None:
    open_survey(owner)
    for tab in ("Test", "Settings", "Versions", "Step"):
        owner.get_by_role("radiogroup", name="Side panel").get_by_text(tab).click()
        owner.wait_for_timeout(300)
        assert axe_faults(owner) == [], tab
        assert walk(owner, tab) == []
        if tab == "Settings":
            owner.get_by_role("button", name="This agent").press("Enter")
        assert open_each(owner, OPENERS.get(tab, ())) == []
    opener = owner.get_by_role("button", name=re.compile("^Insert a variable")).first
    opener.press("Enter")
    expect(owner.get_by_role("menuitem").first).to_be_focused()
    owner.wait_for_timeout(300)
    assert axe_faults(owner) == []
    owner.keyboard.press("Escape")
    expect(owner.get_by_role("menu")).to_have_count(0)
    owner.set_viewport_size({"width": 390, "height": 780})
    for _ in range(PATIENCE_S * 10):  # the page's own rules for scripts forbid wait_for_function
        if owner.evaluate("document.documentElement.scrollWidth") <= 390:
            break
        owner.wait_for_timeout(100)
    assert owner.evaluate("document.documentElement.scrollWidth") <= 390
    assert axe_faults(owner) == []
    owner.set_viewport_size({"width": 1280, "height": 800})


def test_a_trigger_shows_its_address_to_copy_also_where_browsers_withhold_the_clipboard(owner: Page) -> None:
    page = owner
    open_survey(page)
    page.get_by_role("textbox", name="Find a step").fill("API trigger")
    page.keyboard.press("Enter")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    copy = page.get_by_role("button", name="Copy endpoint URL")
    copy.press("Enter")
    notices = page.get_by_role("status")
    expect(notices.get_by_text("Endpoint URL copied.")).to_be_visible()
    expect(copy).to_be_focused()
    search = page.get_by_role("textbox", name="Find a step")
    search.press("Control+v")
    expect(search).to_have_value(re.compile(r"^http.*/api/v1/public/agent/[\w-]+$"))
    search.fill("")
    page.evaluate("document.execCommand = () => false")
    copy.press("Enter")
    expect(notices.get_by_text("This browser does not allow copying.")).to_be_visible()


TWO_STEPS = {
    "nodes": [
        {"id": "s", "type": "startCall", "position": {"x": 0, "y": 0}, "data": {"name": "Welcome", "prompt": "Greet."}},
        {"id": "e", "type": "endCall", "position": {"x": 0, "y": 220}, "data": {"name": "Goodbye", "prompt": "End."}},
    ],
    "edges": [{"id": "s-e", "source": "s", "target": "e", "data": {"label": "Done", "condition": "Done."}}],
}


def test_the_label_of_a_transition_opens_it_and_a_step_is_added_beside_what_is_there(owner: Page) -> None:
    page = owner
    edge, labels = TWO_STEPS["edges"][0], ("Stay", "Leave", "Wait")
    edges = [{**edge, "id": label, "data": {"label": label, "condition": "Asked for."}} for label in labels]
    body = {"name": "Three ways", "definition": {**TWO_STEPS, "edges": edges}}
    agent = ask(page, "POST", "/workflow/create/definition", body)
    page.goto(f"{base_of(page)}/agents/{agent['id']}")
    canvas = page.get_by_role("region", name="Conversation steps")
    for label in labels:
        canvas.get_by_text(label, exact=True).click()
        expect(page.get_by_role("textbox", name="Label")).to_have_value(label)
    canvas.get_by_text("Stay", exact=True).click(button="right")
    expect(page.get_by_role("menuitem", name="Remove")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)

    canvas.click(position={"x": 150, "y": 300})
    page.get_by_role("button", name="Agent Step").click()
    expect(page.locator(".react-flow__node")).to_have_count(3)
    expect(page.locator(".react-flow__edge")).to_have_count(3)
    saved(page)


def test_a_step_that_lands_on_an_edge_is_put_into_it_and_the_panel_makes_room(owner: Page) -> None:
    page = owner
    agent = ask(page, "POST", "/workflow/create/definition", {"name": "Reception", "definition": TWO_STEPS})
    page.goto(f"{base_of(page)}/agents/{agent['id']}")
    expect(page.get_by_role("heading", name="Reception")).to_be_visible()
    expect(page.locator(".react-flow__edge")).to_have_count(1)

    canvas = page.get_by_role("region", name="Conversation steps")
    edge, place = still_box(page.locator(".react-flow__edge")), still_box(canvas)
    x, y = edge["x"] + edge["width"] / 2 - place["x"], edge["y"] + edge["height"] / 2 - place["y"]
    page.get_by_role("button", name="Agent Step").drag_to(canvas, target_position={"x": x, "y": y})
    expect(page.locator(".react-flow__node")).to_have_count(3)
    saved(page)
    stored = ask(page, "GET", f"/workflow/fetch/{page.url.rpartition('/')[2]}")["workflow_definition"]
    kinds = {node["id"]: node["type"] for node in stored["nodes"]}
    joined = [(kinds[edge["source"]], kinds[edge["target"]]) for edge in stored["edges"]]
    assert joined == [("startCall", "agentNode"), ("agentNode", "endCall")]

    page.get_by_role("button", name="Hide side panel").click()
    wide = canvas.bounding_box()
    assert wide is not None
    assert wide["width"] > place["width"] + 300
    step(page, "Welcome").click()
    width = page.get_by_role("slider", name="Width of the side panel")
    width.press("ArrowLeft")
    expect(width).to_have_attribute("aria-valuenow", "420")
