"""What a person without a mouse meets on a page: where Tab leads, whether it can be seen there, and what it is called."""

from pathlib import Path
from typing import Final

from playwright.sync_api import Locator, Page, expect

_SCRIPT: Final = (Path(__file__).parent / "keyboard.js").read_text()
# Beside what the script counts: parts that scroll are stops of Tab, too.
_SPARE: Final = 6


def walk(page: Page, name: str = "") -> list[str]:
    """Presses Tab through the whole page and says what is wrong: out of reach, focus unseen, without a name."""
    count: int = page.evaluate(f"{_SCRIPT}; keyboard_.begin(document.body)")
    _tab(page, count + _SPARE)
    found: list[str] = page.evaluate("keyboard_.end()")
    return [f"{name or page.url}: {fault}" for fault in found]


def walk_dialog(page: Page, opener: Locator | None) -> list[str]:
    """The same in the dialog that is open, which must keep the focus; Escape closes it and leads back to the opener."""
    dialog = page.get_by_role("dialog")
    count: int = page.evaluate(f"{_SCRIPT}; keyboard_.begin(document.querySelector('[role=dialog]'))")
    _tab(page, count + _SPARE)
    found: list[str] = page.evaluate("keyboard_.end()")
    # The first one closes a list that is open in the dialog.
    for _ in range(1 + min(1, dialog.locator("[aria-expanded=true]").count())):
        page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    if opener is not None:
        expect(opener).to_be_focused()
    return [f"{page.url}, dialog: {fault}" for fault in found]


def _tab(page: Page, times: int) -> None:
    # A key's release does nothing here, and takes as long as its press.
    cdp = page.context.new_cdp_session(page)
    for _ in range(times):
        cdp.send(
            "Input.dispatchKeyEvent", {"type": "rawKeyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
        )
    cdp.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9})
    cdp.detach()
