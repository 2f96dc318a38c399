"""Takes the pictures of ``docs/images`` of a fresh installation with the simulated carrier; the web UI has to be built.

    PYTHONPATH=src:. .venv/bin/python scripts/take_pictures.py

The machine has to be idle: a sample call that waits for its turn has slow answers, and its strip shows them.
The one of talking in the browser, which needs a voice, is taken by ``tests/web/test_browser.py`` with OFFHOOK_SCREENSHOTS=1.
"""

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright
from tests.forks import forks
from tests.web import looks
from tests.web.browser import chromium, running_server
from tests.web.test_whole_pages import PICTURES

DIALOGS = {"phone-buy": "Get a number", "phone-carrier": "Connect a carrier"}
PASSWORD = "correct horse battery"


def take_pages(page: Page, paths: dict[str, str]) -> None:
    for path, name in paths.items():
        page.goto(path)
        for (width, scheme), ending in PICTURES.items():
            page.set_viewport_size({"width": width, "height": 800})
            looks.show_scheme(page, scheme)
            looks.settle(page)
            looks.picture(page, f"{name}{ending}")


def take_dialogs(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    looks.show_scheme(page, "light")
    for name, opener in DIALOGS.items():
        page.goto("/phone")
        looks.settle(page)
        page.get_by_role("button", name=re.compile(f"^{opener}")).first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        looks.picture(page, name)


def wait_for_sample_call(page: Page) -> dict[str, Any]:
    for _ in range(120):
        for run in looks.ask(page, "GET", "/organizations/usage/runs")["items"]:
            if run["status"] == "completed":
                return dict(run)
        page.wait_for_timeout(1_000)
    raise AssertionError("There is no sample call.")


def take_all(page: Page) -> None:
    looks.ask(page, "POST", "/auth/password", {"new_password": PASSWORD})
    sample = wait_for_sample_call(page)
    looks.finish_a_campaign(page)
    [agent] = [one["id"] for one in looks.ask(page, "GET", "/workflow/fetch") if one["name"] == looks.DEMO]
    pages = {path: name for path, name in looks.PAGES.items() if name is not None}
    run = f"/agents/{sample['workflow_id']}/runs/{sample['run_id']}"
    page.goto(f"/agents/{agent}")
    page.get_by_role("button", name="Close the tour").click()
    take_pages(page, pages | {"/": "agents", f"/agents/{agent}": "agent", run: "run"})
    take_dialogs(page)


def main() -> None:
    looks.TAKES_SCREENSHOTS = True
    expect.set_options(timeout=60_000)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        data = Path(folder) / "data"
        data.mkdir()
        with running_server(data, {"OFFHOOK_SAMPLE_CALL": "1"}) as link, chromium(playwright) as browser:
            granted = {**os.environ, "OFFHOOK_DATA_DIR": str(data)}
            forks().run("superuser", "grant", looks.OWNER, env=granted, folder=data.parent)
            base = link.partition("/sign-in")[0]
            page = browser.new_page(base_url=base, reduced_motion="reduce", color_scheme="light")
            page.set_default_timeout(60_000)
            page.goto(link)
            expect(page.get_by_role("heading", name="Agents", exact=True)).to_be_visible()
            take_all(page)


if __name__ == "__main__":
    main()
