"""In a real browser: notes on the canvas, from a click to an undo; and a tool filled in from a large OpenAPI document."""

import json
from typing import Any

from playwright.sync_api import Page, expect

from tests.web.browser import in_a_browser, still_box
from tests.web.looks import ask, axe_faults, font_faults

pytestmark = in_a_browser(timeout_s=240)

TWO_STEPS = {
    "nodes": [
        {"id": "s", "type": "startCall", "position": {"x": 0, "y": 0}, "data": {"name": "Welcome", "prompt": "Greet."}},
        {"id": "e", "type": "endCall", "position": {"x": 0, "y": 220}, "data": {"name": "Goodbye", "prompt": "End."}},
    ],
    "edges": [{"id": "s-e", "source": "s", "target": "e", "data": {"label": "Done", "condition": "Done."}}],
}


def saved_notes(page: Page, agent_id: int) -> list[dict[str, Any]]:
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()
    stored = ask(page, "GET", f"/workflow/fetch/{agent_id}")["workflow_definition"]
    assert len(stored["nodes"]) == 2
    notes: list[dict[str, Any]] = stored.get("notes", [])
    return notes


def test_a_note_is_written_moved_resized_copied_undone_and_kept(page: Page) -> None:
    agent = ask(page, "POST", "/workflow/create/definition", {"name": "Noted", "definition": TWO_STEPS})["id"]
    page.add_init_script("localStorage.setItem('offhook.tour', '9')")
    page.goto(f"/agents/{agent}")
    canvas = page.get_by_role("region", name="Conversation steps")
    expect(canvas.locator(".react-flow__node")).to_have_count(2)
    page.get_by_role("button", name="Note", exact=True).click()
    text = page.get_by_role("textbox", name="Text", exact=True)
    expect(text).to_be_focused()
    text.fill("Ask Ana before changing the greeting.")
    page.get_by_text("Blue", exact=True).click()
    note = canvas.locator(".react-flow__node-note")
    expect(note).to_have_text("Ask Ana before changing the greeting.")
    assert axe_faults(page) == []
    assert font_faults(page) == []
    [first] = saved_notes(page, agent)
    assert (first["text"], first["color"]) == ("Ask Ana before changing the greeting.", "blue")

    box = still_box(note)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 - 40, box["y"] + box["height"] / 2 - 60, steps=6)
    page.mouse.up()
    moved = still_box(note)
    assert moved["y"] < box["y"] - 40
    corner = canvas.locator(".react-flow__resize-control.handle.bottom.right")
    place = still_box(corner)
    page.mouse.move(place["x"] + 4, place["y"] + 4)
    page.mouse.down()
    page.mouse.move(place["x"] + 44, place["y"] + 54, steps=6)
    page.mouse.up()
    assert still_box(note)["width"] > moved["width"] + 25
    [second] = saved_notes(page, agent)
    assert second["position"]["y"] < first["position"]["y"]
    assert second["width"] > first["width"]
    assert second["height"] > first["height"]

    note.focus()
    page.keyboard.press("Control+d")
    expect(note).to_have_count(2)
    page.keyboard.press("Delete")
    expect(note).to_have_count(1)
    page.keyboard.press("Control+z")
    expect(note).to_have_count(2)
    page.keyboard.press("Control+z")
    expect(note).to_have_count(1)
    assert saved_notes(page, agent) == [second]
    page.reload()
    expect(note).to_have_text("Ask Ana before changing the greeting.")
    checked = ask(page, "POST", f"/workflow/{agent}/validate")
    assert [issue for issue in checked["errors"] if "note" in json.dumps(issue).lower()] == []


def test_a_note_lies_behind_its_steps_and_is_resized_by_a_corner_under_one(page: Page) -> None:
    under = {"text": "", "color": "pink", "position": {"x": 120, "y": 260}, "width": 200, "height": 120}
    frame = {"text": "The greeting", "position": {"x": -60, "y": -50}, "width": 360, "height": 200}
    notes = [{"id": "frame", **frame}, {"id": "under", **under}]
    graph = {"name": "Framed", "definition": {**TWO_STEPS, "notes": notes}}
    agent = ask(page, "POST", "/workflow/create/definition", graph)["id"]
    page.add_init_script("localStorage.setItem('offhook.tour', '9')")
    page.goto(f"/agents/{agent}")
    canvas = page.get_by_role("region", name="Conversation steps")
    drawn = canvas.locator(".react-flow__node-note")
    box = still_box(drawn.first)
    page.mouse.click(box["x"] + 8, box["y"] + box["height"] - 8)
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("The greeting")
    # A step that the chosen note would hide could not be clicked.
    canvas.get_by_text("Welcome", exact=True).click()
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_count(0)

    box = still_box(drawn.last)
    page.mouse.click(box["x"] + box["width"] - 8, box["y"] + box["height"] - 8)
    corner = still_box(canvas.locator(".react-flow__resize-control.handle.top.left"))
    step = still_box(canvas.locator(".react-flow__node-node").last)
    assert step["x"] < corner["x"] < step["x"] + step["width"] - 10
    assert step["y"] < corner["y"] < step["y"] + step["height"] - 10
    page.mouse.move(corner["x"] + 5, corner["y"] + 5)
    page.mouse.down()
    page.mouse.move(corner["x"] - 25, corner["y"] - 15, steps=6)
    page.mouse.up()
    larger = still_box(drawn.last)
    assert larger["width"] > box["width"] + 20
    assert larger["height"] > box["height"] + 10
    # One gesture is one step back.
    page.keyboard.press("Control+z")
    assert still_box(drawn.last) == box
    page.keyboard.press("Control+Shift+z")
    assert still_box(drawn.last) == larger


def test_a_tool_is_filled_in_from_a_large_document_while_the_page_stays_alive(page: Page) -> None:
    names = [f"field_{number}" for number in range(30)]
    schema = {"type": "object", "required": names[:2], "properties": {name: {"type": "string"} for name in names}}
    operation = {"requestBody": {"content": {"application/json": {"schema": schema}}}}
    paths = {f"/orders/{number}/{{id}}": {"post": operation} for number in range(1500)}
    document = {"openapi": "3.1.0", "servers": [{"url": "https://api.example.com"}], "paths": paths}
    content = json.dumps(document, indent=1).encode()
    assert len(content) > 2_000_000
    page.goto("/settings/tools")
    page.get_by_role("button", name="New tool").first.click()
    page.get_by_role("button", name="Import from cURL or OpenAPI").click()
    dialog = page.get_by_role("dialog")
    assert axe_faults(page) == []
    dialog.get_by_label("OpenAPI file").set_input_files(
        {"name": "orders.json", "mimeType": "application/json", "buffer": content}
    )
    operations = dialog.get_by_role("combobox", name="Operation")
    operations.fill("/orders/1234/")
    page.get_by_role("option", name="POST /orders/1234/{id}", exact=True).click()
    expect(dialog.get_by_text("The form below is filled in from POST /orders/1234/{id}.")).to_be_visible()
    expect(dialog.get_by_label("Name", exact=False).first).to_be_visible()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    [tool] = [one for one in ask(page, "GET", "/tools/") if one["name"] == "post_orders_1234"]
    config = tool["definition"]["config"]
    assert config["url"] == "https://api.example.com/orders/1234/{{id}}"
    assert [parameter["name"] for parameter in config["parameters"]] == ["id", *names]
    assert [parameter["required"] for parameter in config["parameters"][:4]] == [True, True, True, False]
