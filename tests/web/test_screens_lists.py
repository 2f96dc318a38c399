"""Lists in a real browser: numbers that are given back, more documents than one likes to load, the last row of the last page."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.web.browser import in_a_browser
from tests.web.looks import ask, settle, token_of

pytestmark = in_a_browser(timeout_s=400)

# Whether the browser may do what it does with a dropped file.
_DROPPED_BESIDE = """element => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["x"], "x.txt"));
    return element.dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true}));
}"""


def text_file(name: str) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": b"We are open from nine to five."}


def more_about(page: Page, number: str) -> Locator:
    return page.get_by_role("button", name=f"More actions for {number}")


def campaign_that_waits(page: Page, account_id: int) -> int:
    """One that runs by this account, and calls nobody before the day after tomorrow."""
    file = b"phone_number\n+12015550102\n"
    place = ask(
        page,
        "POST",
        "/s3/presigned-upload-url",
        {"file_name": "a.csv", "file_size": len(file), "content_type": "text/csv"},
    )
    assert page.request.put(place["upload_url"], data=file, headers={"Content-Type": "text/csv"}).ok
    day = (datetime.now(UTC) + timedelta(days=2)).strftime("%A").lower()
    hours = {"timezone": "UTC", "slots": [{"day": day, "start": "12:00", "end": "12:30"}]}
    body = {
        "name": "Not yet", "workflow_id": 1, "contacts_file_key": place["file_key"], "max_concurrency": 1,
        "telephony_configuration_id": account_id, "calling_hours": hours,
    }  # fmt: skip
    campaign: int = ask(page, "POST", "/campaign/create", body)["id"]
    ask(page, "POST", f"/campaign/{campaign}/start")
    return campaign


@pytest.mark.slow
def test_a_number_is_given_back(page: Page) -> None:
    """By keyboard, after it was refused and thought over; and by mouse. The focus is never lost."""
    first, second = (ask(page, "POST", "/telephony/quick-connect", {"mode": "new"})["phone_number"] for _ in range(2))
    accounts = ask(page, "GET", "/organizations/telephony-configs")["configurations"]
    campaign = campaign_that_waits(page, next(account["id"] for account in accounts if account["is_managed"]))
    page.goto("/phone")
    settle(page)
    dialog = page.get_by_role("dialog", name=f"Release {first}?")
    release = dialog.get_by_role("button", name="Release")
    for closed_at_once in (True, False):
        more_about(page, first).press("Enter")
        item = page.get_by_role("menuitem", name="Release")
        item.press("Enter") if not closed_at_once else item.click()
        if not closed_at_once:
            expect(release).to_be_focused()
            release.press("Enter")
            expect(dialog.get_by_role("alert")).to_contain_text("campaign")
        dialog.press("Escape")
        expect(dialog).to_have_count(0)
        expect(more_about(page, first)).to_be_focused()
    ask(page, "POST", f"/campaign/{campaign}/pause")
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Release").press("Enter")
    expect(dialog).to_contain_text("can be assigned to someone else")
    expect(release).to_be_focused()
    page.keyboard.press("Enter")
    expect(more_about(page, first)).to_have_count(0)
    expect(dialog).to_have_count(0)
    expect(
        page.get_by_role("region", name=re.compile("^Numbers of")).filter(has=more_about(page, second))
    ).to_be_focused()

    more_about(page, second).click()
    page.get_by_role("menuitem", name="Release").click()
    page.get_by_role("dialog").get_by_role("button", name="Release").click()
    expect(more_about(page, second)).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.slow
def test_documents_go_on_and_archived_ones_do_not_hide_the_others(page: Page) -> None:
    for number in range(52):
        file = text_file(f"hours {number}.txt")
        headers = {"Authorization": f"Bearer {token_of(page)}"}
        answer = page.request.post("/api/v1/knowledge-base/", headers=headers, multipart={"file": file})
        assert answer.ok
        if number > 1:
            ask(page, "DELETE", f"/knowledge-base/{answer.json()['id']}")
    page.goto("/knowledge")
    rows = page.get_by_role("region", name="Documents").get_by_role("row")
    expect(rows).to_have_count(3)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    page.get_by_role("switch", name="Archived").press("Space")
    expect(rows).to_have_count(51)
    page.get_by_role("button", name="Show more").press("Enter")
    expect(rows).to_have_count(53)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    page.get_by_role("button", name="Unarchive hours 51.txt").press("Enter")
    page.get_by_role("switch", name="Archived").press("Space")
    expect(rows).to_have_count(4)
    assert page.get_by_role("heading", level=1).evaluate(_DROPPED_BESIDE) is False, "the browser would open the file"
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose files").press("Enter")
    chooser.value.set_files([text_file("one more.txt")])
    expect(rows).to_have_count(5)


@pytest.mark.slow
def test_the_last_row_of_the_last_page_goes(page: Page) -> None:
    there = ask(page, "GET", "/organizations/do-not-call?limit=1")["total_count"]
    numbers = [f"+1303555{index:04}" for index in range(100, 126 + (-there) % 25)]
    ask(page, "POST", "/organizations/do-not-call", {"phone_numbers": numbers})
    page.goto("/settings/do-not-call")
    rows = page.get_by_role("region", name="Do not call").get_by_role("row")
    expect(rows).to_have_count(26)
    page.get_by_role("button", name=re.compile(r"^Page \d+$")).last.press("Enter")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name=re.compile(r"^Remove \+")).press("Enter")
    expect(rows).to_have_count(26)
    page.goto("/runs?page=99")
    expect(page).to_have_url(re.compile("page=1$"))


def test_rows_of_one_line_are_36_pixels_high(page: Page) -> None:
    ask(page, "POST", "/organizations/do-not-call", {"phone_numbers": ["+13035550198", "+13035550199"]})
    ask(page, "POST", "/tools/", {"name": "Sum up", "definition": {"type": "calculator"}})
    for path, label in (("/settings/do-not-call", "Do not call"), ("/settings/tools", "Tools")):
        page.goto(path)
        rows = page.get_by_role("region", name=label, exact=True).locator("tbody tr")
        expect(rows.first).to_be_visible()
        boxes = [row.bounding_box() for row in rows.all()]
        assert {round(box["height"]) for box in boxes if box is not None} == {36}, path
