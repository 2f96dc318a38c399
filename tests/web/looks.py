"""What every page must be, whichever it is: whole, without errors, legible to people and to machines, and no wider than its window."""

import re
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Locator, Page, expect

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
SETTINGS = (
    "organization", "members", "audit", "models", "tools", "credentials", "do-not-call", "keys", "webhooks", "account",
)  # fmt: skip
# Where there is something to see once the newcomer's campaign is over, and the name that its picture has.
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
_VIOLATIONS = """axe.run({resultTypes: ["violations"]}).then(({violations}) => violations
    .filter(({impact}) => impact === "serious" || impact === "critical")
    .flatMap(({id, nodes}) => nodes.map(({html, failureSummary}) => `${id}: ${html.slice(0, 160)} ${failureSummary}`)))"""


class Form(NamedTuple):
    """A form that the API refuses: where, the button that opens it ("" when it stands there), what is typed by label,
    the button that sends it, and the label of the field that is wrong."""

    path: str
    opener: str
    typed: dict[str, str]
    submit: str
    wrong: str


FORMS = (
    Form("/settings/webhooks", "New webhook", {"Address": "not an address"}, "Add webhook", "Address"),
    Form("/settings/keys", "New key", {"Name": ""}, "Make key", "Name"),
    Form("/settings/members", "Invite", {"E-mail": "nobody"}, "Make the link", "E-mail"),
    Form("/settings/credentials", "New credential", {"Name": "CRM", "Token": ""}, "Save", "Token"),
    Form("/settings/tools", "New tool", {"Name": "look up", "Address": "ftp://example.com"}, "Save", "Address"),
    Form("/settings/do-not-call", "Add numbers", {"Numbers": "12"}, "Add", "Numbers"),
    Form("/settings/organization", "", {"Name": ""}, "Save", "Name"),
    Form("/settings/account", "", {"New password": "short"}, "Change password", "New password"),
    Form("/phone", "Connect a carrier", {"Name": ""}, "Check and connect", "Name"),
    Form(
        "/phone", "Connect a carrier", {"Domain API key": "XI", "Voice application": "a"}, "Check and connect", "Domain"
    ),
    Form("/phone", "Get a number", {"Area code": "41a"}, "Buy it", "Area code"),
    Form("/superuser", "Act as a user", {"E-mail": "nobody@example.com"}, "Act as them", "E-mail"),
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


def serious_faults(page: Page) -> list[str]:
    """What axe finds."""
    found: list[str] = page.evaluate(f"{AXE.read_text()};{_VIOLATIONS}")
    return [f"{page.url}: {fault}" for fault in found]


def field(page: Page, label: str) -> Locator:
    """The input with this label; a required one has a star behind it."""
    return page.get_by_label(re.compile(rf"^{re.escape(label)}\s*\*?$")).and_(page.locator("input, textarea"))


def token_of(page: Page) -> str:
    token: str = page.evaluate("localStorage.getItem('offhook.token')")
    return token
