"""What every page must be, whichever it is: whole, without errors, legible to people and to machines, and no wider than its window."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from playwright.sync_api import Locator, Page, expect

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
IMAGES = Path(__file__).parents[2] / "docs" / "images"
OWNER = "owner@localhost"
DEMO = "Appointment booking (demo)"
TOWN = "Simulated town"
TAKES_SCREENSHOTS = os.environ.get("OFFHOOK_SCREENSHOTS") == "1"
SETTINGS = (
    "organization", "members", "audit", "models", "tools", "credentials", "do-not-call", "calls", "keys", "webhooks",
    "account",
)  # fmt: skip
FONT_SIZES = {12, 13, 15, 18, 24}
FONT_WEIGHTS = {400, 600}
# Where there is something to see once a campaign is over, and the name that its picture has.
PAGES = {
    "/overview": "overview",
    "/": None,
    "/runs": "runs",
    "/campaigns": "campaigns",
    "/campaigns/new": "campaign-new",
    "/campaigns/1": "campaign",
    "/knowledge": "knowledge",
    "/phone": "phone",
    "/usage": "usage",
    "/superuser": "superuser",
    "/nowhere": None,
} | {f"/settings/{part}": f"settings-{part}" for part in SETTINGS}
# Beside those of the forms below: the names of buttons that open one.
DIALOGS = {
    "/": ("^New agent",),
    "/campaigns/1": ("^Redial",),
    "/superuser": ("^Add credit to",),
}
# What opens over a page, a menu or a hint, is no part of its landmarks.
_VIOLATIONS = """(rules) => axe.run({
        resultTypes: ["violations"], ...(rules === null ? {} : {runOnly: {type: "rule", values: rules}})
    }).then(({violations}) => violations
    .flatMap(({id, nodes}) => nodes
        .filter(({target}) => id !== "region" || !document.querySelector(target[0])?.closest("[data-portal]"))
        .map(({html, failureSummary}) => `${id}: ${html.slice(0, 160)} ${failureSummary}`)))"""

# Elements with words of their own; a graph's zoom is a transform, which leaves the computed size as it is.
_FONTS = """[...document.querySelectorAll("body *")]
    .filter((element) => element.checkVisibility() && !element.closest("noscript, script, style")
        && ([...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "") || element.value))
    .map((element) => [getComputedStyle(element), element.outerHTML.slice(0, 160)])
    .map(([{fontSize, fontWeight}, html]) => [parseFloat(fontSize), Number(fontWeight), html])"""


class Form(NamedTuple):
    """A form that the API refuses: where, the button that opens it ("" when it stands there), what is typed by label,
    the button that sends it, and the label of the field that is wrong."""

    path: str
    opener: str
    typed: dict[str, str]
    submit: str
    wrong: str


FORMS = (
    Form("/settings/webhooks", "New webhook", {"URL": "not an address"}, "Add webhook", "URL"),
    Form("/settings/keys", "New key", {"Name": ""}, "Create key", "Name"),
    Form("/settings/members", "Invite", {"Email": "nobody"}, "Create link", "Email"),
    Form("/settings/credentials", "New credential", {"Name": "CRM", "Token": ""}, "Save", "Token"),
    Form("/settings/tools", "New tool", {"Name": "look up", "URL": "ftp://example.com"}, "Save", "URL"),
    Form("/settings/do-not-call", "Add numbers", {"Numbers": "12"}, "Add", "Numbers"),
    Form("/settings/organization", "", {"Name": ""}, "Save", "Name"),
    Form("/settings/account", "", {"New password": "short"}, "Set a password", "New password"),
    Form("/phone", "Connect a carrier", {"Name": ""}, "Check and connect", "Name"),
    Form("/phone", "Connect a carrier", {"Auth token": "a"}, "Check and connect", "Account SID"),
    Form("/knowledge", "From a web address", {"Address": "http://localhost"}, "Add page", "Address"),
    Form("/phone", "Get a number", {"Area code": "41a"}, "Add number", "Area code"),
    Form("/superuser", "Impersonate a user", {"Email": "nobody@example.com"}, "Impersonate", "Email"),
)


def complaints(page: Page) -> list[str]:
    """Fills with what the page logs as an error or throws, from now on."""
    said: list[str] = []
    page.on("console", lambda message: said.append(f"{page.url}: {message.text}") if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(f"{page.url}: {error}"))
    return said


def settle(page: Page) -> None:
    """Everything has come, and nothing is drawn as a placeholder any more."""
    page.wait_for_load_state("load")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    page.wait_for_timeout(150)


def show_scheme(page: Page, scheme: Scheme) -> None:
    """Labels change their color slowly, on a busy machine for seconds: halfway they have no contrast."""
    page.emulate_media(color_scheme=scheme)
    expect(page.locator(f"html[data-mantine-color-scheme={scheme}]")).to_have_count(1)
    end_transitions(page)


def end_transitions(page: Page) -> None:
    """Waits until nothing slides or fades any more, which takes seconds on a busy machine."""
    while page.evaluate("document.getAnimations().some(one => one instanceof CSSTransition)"):
        page.wait_for_timeout(50)


def axe_faults(page: Page) -> list[str]:
    """What axe finds."""
    return _ask_axe(page, None)


def contrast_faults(page: Page) -> list[str]:
    """What axe finds in the colors alone, which is all that another scheme changes."""
    return _ask_axe(page, ["color-contrast"])


def _ask_axe(page: Page, rules: list[str] | None) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    found: list[str] = page.evaluate(_VIOLATIONS, rules)
    size = page.viewport_size or {"width": 0}
    return [f"{page.url} at {size['width']}: {fault}" for fault in found]


def look_at_dialogs(page: Page, names: Sequence[str]) -> list[str]:
    """What is wrong with the dialogs that these buttons open, in the window and the scheme as they are."""
    faults = []
    for name in names:
        page.get_by_role("button", name=re.compile(name)).first.press("Enter")
        expect(page.get_by_role("dialog")).to_have_count(1)
        page.wait_for_timeout(300)  # it fades in: half seen, its colors have no contrast
        faults += axe_faults(page) + font_faults(page)
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    return faults


def font_faults(page: Page) -> list[str]:
    """Words in another size or weight than those of the theme (web/src/app/theme.ts)."""
    found: list[tuple[float, int, str]] = page.evaluate(_FONTS)
    assert found
    return [
        f"{page.url}: {size} px, weight {weight}: {html}"
        for size, weight, html in found
        if size not in FONT_SIZES or weight not in FONT_WEIGHTS
    ]


def field(page: Page, label: str) -> Locator:
    """The input with this label; a required one has a star behind it."""
    return page.get_by_label(re.compile(rf"^{re.escape(label)}\s*\*?$")).and_(page.locator("input, textarea"))


def token_of(page: Page) -> str:
    token: str = page.evaluate("localStorage.getItem('offhook.token')")
    return token


def ask(page: Page, method: str, path: str, body: object = None) -> Any:
    """What the API answers the page's person."""
    authorization = {"Authorization": f"Bearer {token_of(page)}"}
    answer = page.request.fetch(f"/api/v1{path}", method=method, headers=authorization, data=body)
    assert answer.ok, answer.text()
    return answer.json()


def picture(page: Page, name: str) -> None:
    """Kept for the documentation, when pictures are wanted."""
    if TAKES_SCREENSHOTS:
        page.wait_for_timeout(400)
        page.screenshot(path=IMAGES / f"{name}.png")


def people(count: int) -> bytes:
    rows = [f"+1201555{number:04},Person {number}" for number in [102, *range(300, 300 + count - 1)]]
    return "\n".join(["phone_number,first_name", *rows]).encode()


def simulate_a_town(page: Page) -> None:
    """Whom campaigns call: people who are busy, away, or hang up during the greeting, so that twenty calls cost little.

    Does nothing when another test of this server has.
    """
    accounts = ask(page, "GET", "/organizations/telephony-configs")["configurations"]
    if any(account["name"] == TOWN for account in accounts):
        return
    town = {
        "provider": "sandbox",
        "mix": {"busy": 5, "no_answer": 3, "hangs_up": 4},
        "ring_s": 0.5,
        "no_answer_after_s": 2,
    }
    body = {"name": TOWN, "is_default_outbound": True, "config": town}
    ask(page, "POST", "/organizations/telephony-configs", body)


def add_campaign(page: Page) -> int:
    """Twenty people of the simulated town, not called yet."""
    simulate_a_town(page)
    [agent, *_] = [agent for agent in ask(page, "GET", "/workflow/fetch") if agent["name"] == DEMO]
    content = people(20)
    file = {"file_name": "people.csv", "file_size": len(content), "content_type": "text/csv"}
    upload = ask(page, "POST", "/s3/presigned-upload-url", file)
    assert page.request.put(upload["upload_url"], data=content, headers={"Content-Type": "text/csv"}).ok
    campaign = {"name": "Spring reminder", "workflow_id": agent["id"], "contacts_file_key": upload["file_key"]}
    campaign |= {"max_concurrency": 10, "retry_config": {"enabled": False}}
    return int(ask(page, "POST", "/campaign/create", campaign)["id"])


def finish_a_campaign(page: Page) -> None:
    """A campaign has run, as after the newcomer's walk; does nothing when one has."""
    made = ask(page, "GET", "/campaign/")
    if any(campaign["status"] == "completed" for campaign in made):
        return
    # another test may have left one that is paused
    drafts = (campaign["id"] for campaign in made if campaign["status"] == "draft")
    campaign_id = min(drafts, default=None) or add_campaign(page)
    ask(page, "POST", f"/campaign/{campaign_id}/start")
    page.goto(f"/campaigns/{campaign_id}")
    expect(page.get_by_text("Completed", exact=True)).to_be_visible(timeout=240_000)


def begin_campaign(page: Page, name: str, agent: str) -> Locator:
    """Where its contacts are put."""
    page.get_by_label("Name").fill(name)
    page.get_by_role("combobox", name="Agent").click()
    page.get_by_role("option", name=agent).click()
    return page.locator("input[type=file]")
