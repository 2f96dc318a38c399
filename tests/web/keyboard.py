"""What a person without a mouse meets on a page: where Tab leads, whether it can be seen there, and what it is called."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from playwright.sync_api import Locator, Page, expect

_SCRIPT: Final = (Path(__file__).parent / "keyboard.js").read_text()
# Beside what the script counts: parts that scroll are stops of Tab, too.
_SPARE: Final = 6
# Numbers what opens something, one of each sort of a table's rows, and says what each opens: menu, dialog, listbox.
_MARK: Final = """(() => {
  document.activeElement?.blur();
  for (const e of document.querySelectorAll("[data-opener]")) e.removeAttribute("data-opener");
  const seen = new Set();
  const openers = [...document.querySelectorAll("[aria-haspopup][aria-expanded]")].filter((e) => {
    const sort = e.ariaHasPopup + (e.ariaLabel ?? e.textContent ?? e.id).slice(0, 12) + (e.closest("tr") === null ? e.id : "");
    const isIts = e.checkVisibility({ visibilityProperty: true }) && !e.disabled;
    return isIts && !seen.has(sort) && seen.add(sort);
  });
  openers.forEach((e, index) => e.setAttribute("data-opener", index));
  return openers.map((e) => e.ariaHasPopup);
})()"""


def walk(page: Page, name: str = "") -> list[str]:
    """Presses Tab through the whole page and says what is wrong: out of reach, focus unseen, without a name."""
    count: int = page.evaluate(f"{_SCRIPT}; keyboard_.begin(document.body)")
    _tab(page, count + _SPARE)
    found: list[str] = page.evaluate("keyboard_.end()")
    return [f"{name or page.url}: {fault}" for fault in found]


def walk_dialog(page: Page, opener: Locator | None) -> list[str]:
    """The same in the dialog that is open, which must keep the focus; Escape closes it and leads back to the opener."""
    dialog = page.get_by_role("dialog")
    # It takes the focus a moment after it is there.
    expect(dialog.locator(":focus").or_(dialog.and_(page.locator(":focus")))).to_have_count(1)
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


def open_each(page: Page, names: Sequence[str] = (), look: Callable[[Page], list[str]] = lambda page: []) -> list[str]:
    """Opens by keyboard what says that it opens something, and dialogs by the names of their buttons; Escape leads back.

    ``look`` finds faults in what is open."""
    faults = []
    for name in names:
        opener = page.get_by_role("button", name=re.compile(name)).first
        expect(opener).to_be_visible()
        opener.press("Enter")
        expect(page.get_by_role("dialog")).to_have_count(1)
        faults += walk_dialog(page, opener)
    kinds: list[str] = page.evaluate(_MARK)
    for index, kind in enumerate(kinds):
        opener = page.locator(f"[data-opener='{index}']")
        opener.press("ArrowDown" if kind == "listbox" else "Enter")
        expect(opener).to_have_attribute("aria-expanded", "true")
        if kind != "listbox":
            inside = page.locator(f"[role={kind}]")
            expect(inside.locator(":focus").or_(inside.and_(page.locator(":focus")))).to_have_count(1)
            page.wait_for_timeout(200)  # it fades in
            faults += look(page)
        page.keyboard.press("Escape")
        expect(opener).to_have_attribute("aria-expanded", "false")
        expect(opener).to_be_focused()
        if kind != "listbox":
            # It fades: what is half seen is no fault of the page's.
            expect(inside).to_have_count(0)
    return [f"{page.url}, {fault}" for fault in faults]


def _tab(page: Page, times: int) -> None:
    # A key's release does nothing here, and takes as long as its press.
    cdp = page.context.new_cdp_session(page)
    for _ in range(times):
        cdp.send(
            "Input.dispatchKeyEvent", {"type": "rawKeyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
        )
    cdp.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9})
    cdp.detach()
