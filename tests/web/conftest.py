"""What the tests of the screens share: one driver of browsers, one server, and one page of its owner."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from tests.forks import forks
from tests.web.browser import chromium, running_server
from tests.web.looks import OWNER

# Of a machine that does much else beside; whatever is there is found at once.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def data(tmp_path_factory: pytest.TempPathFactory, models_folder: Path) -> Path:
    folder = tmp_path_factory.mktemp("serve") / "data"
    folder.mkdir()
    (folder / "models").symlink_to(models_folder)
    return folder


@pytest.fixture(scope="package")
def link(data: Path) -> Iterator[str]:
    # Customers' servers of these tests are on this machine.
    with running_server(data, {"OFFHOOK_EGRESS_ALLOW": "127.0.0.1/32"}) as printed:
        yield printed


@pytest.fixture(scope="package")
def base(link: str) -> str:
    return link.partition("/sign-in")[0]


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    with chromium(playwright) as started:
        yield started


@pytest.fixture(scope="package")
def context(browser: Browser, base: str) -> Iterator[BrowserContext]:
    opened = browser.new_context(
        viewport={"width": 1280, "height": 800},
        color_scheme="light",
        reduced_motion="reduce",
        base_url=base,
        accept_downloads=True,
    )
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    opened.close()


@pytest.fixture(scope="package")
def page(context: BrowserContext, link: str, data: Path) -> Page:
    """Signed in by the printed link, as somebody who sees across organizations, too."""
    granted = forks().run(
        *("superuser", "grant", OWNER), env={**os.environ, "OFFHOOK_DATA_DIR": str(data)}, folder=data.parent
    )
    assert granted.returncode == 0, granted.stderr
    opened = context.new_page()
    opened.goto(link)
    expect(opened.get_by_role("heading", name="Agents", exact=True)).to_be_visible(timeout=PATIENCE_MS)
    return opened
