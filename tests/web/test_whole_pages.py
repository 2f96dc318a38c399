"""Every page and what opens on it, at every width and in both schemes, as it looks to a machine."""

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.web.browser import in_a_browser
from tests.web.keyboard import open_each, walk
from tests.web.looks import (
    DIALOGS,
    PAGES,
    SCHEMES,
    Scheme,
    ask,
    axe_faults,
    complaints,
    contrast_faults,
    finish_a_campaign,
    font_faults,
    look_at_dialogs,
    people,
    picture,
    settle,
    show_scheme,
)

pytestmark = in_a_browser(timeout_s=600)

WIDTHS = (1440, 1280, 390)
# Which of them have a picture in the documentation, and what its name ends with.
PICTURES: dict[tuple[int, Scheme], str] = {(1280, "light"): "", (390, "dark"): "-phone"}


@pytest.mark.slow
def test_every_page_is_whole(browser: Browser, context: BrowserContext, page: Page, base: str) -> None:
    """No error in the console; wide, less wide and narrow, light and dark: nothing that axe finds, no letters of another
    size, nothing wider than the window; a title of its own; and by keyboard, everything is reached, seen and named, and what
    opens is opened, looked at and closed."""
    finish_a_campaign(page)
    faults: list[str] = []
    titles: dict[str, str] = {}
    look = browser.new_context(storage_state=context.storage_state(), base_url=base, reduced_motion="reduce")
    seen = look.new_page()
    said = complaints(seen)
    run = ask(page, "GET", "/organizations/usage/runs?limit=1")["items"][0]
    agent = ask(page, "POST", f"/workflow/{run['workflow_id']}/duplicate", {})["id"]
    editor = f"/agents/{agent}"
    others = {f"/agents/{run['workflow_id']}/runs/{run['run_id']}": None, editor: None}
    dialogs = {**DIALOGS, editor: ("^Publish",)}
    for path, name in (PAGES | others).items():
        seen.goto(path)
        for width in WIDTHS:
            seen.set_viewport_size({"width": width, "height": 800})
            for scheme in SCHEMES:
                show_scheme(seen, scheme)
                settle(seen)
                if name and (width, scheme) in PICTURES:
                    picture(seen, f"{name}{PICTURES[width, scheme]}")
                faults += axe_faults(seen) if scheme == "light" else contrast_faults(seen)
            expect(seen.get_by_role("navigation", name="Main")).to_have_count(1)
            faults += font_faults(seen)
            if not _fits(seen):
                faults.append(f"{path}: wider than {width}")
            faults += look_at_dialogs(seen, dialogs.get(path, ()))
        titles[path] = seen.title()
        seen.set_viewport_size({"width": 1280, "height": 800})
        show_scheme(seen, "light")
        settle(seen)
        if path != editor:  # its canvas has a walk of its own: tests/web/test_builder.py
            faults += walk(seen, path) + open_each(seen, dialogs.get(path, ()), axe_faults)
    faults += [
        f"{path}: titled {title!r}, as another page" for path, title in titles.items() if _is_shared(title, titles)
    ]
    look.close()
    ask(page, "DELETE", f"/workflow/{agent}")
    assert said == []
    assert faults == [], "\n".join(faults)


def _fits(page: Page) -> bool:
    """Whether nothing is wider than the window; charts take another width a moment late."""
    for _ in range(20):
        if not page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            return True
        page.wait_for_timeout(200)
    return False


def _is_shared(title: str, titles: dict[str, str]) -> bool:
    return list(titles.values()).count(title) > 1


@pytest.mark.slow
def test_the_palette_and_unstarted_campaigns_are_whole(page: Page) -> None:
    """What the walk over all pages does not open: the palette, and the test call of a campaign that waits."""
    finish_a_campaign(page)
    page.goto("/")
    settle(page)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.wait_for_timeout(300)
    faults = axe_faults(page) + font_faults(page)
    page.keyboard.press("Escape")
    done = ask(page, "GET", "/campaign/1")
    content = people(3)
    file = {"file_name": "people.csv", "file_size": len(content), "content_type": "text/csv"}
    upload = ask(page, "POST", "/s3/presigned-upload-url", file)
    assert page.request.put(upload["upload_url"], data=content, headers={"Content-Type": "text/csv"}).ok
    waiting = {
        "name": "Not started",
        "workflow_id": done["workflow_id"],
        "contacts_file_key": upload["file_key"],
        "max_concurrency": 1,
    }
    page.goto(f"/campaigns/{ask(page, 'POST', '/campaign/create', waiting)['id']}")
    settle(page)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in SCHEMES:
            show_scheme(page, scheme)
            settle(page)
            faults += axe_faults(page) + look_at_dialogs(page, ("^Call me first", "^Start dialing"))
    assert faults == [], "\n".join(faults)
