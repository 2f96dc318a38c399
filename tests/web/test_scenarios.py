"""Scenarios beside the canvas, in a real browser against a real server: written, run, opened where they fail."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser import in_a_browser
from tests.web.looks import DEMO, SCHEMES, ask, axe_faults, font_faults, show_scheme

# A play has the lowest priority of all that runs beside it, and other tests take every core.
SLOW_MS = 150_000
FOLDER = os.environ.get("OFFHOOK_SCENARIO_PICTURES")

pytestmark = [*in_a_browser(timeout_s=480), pytest.mark.slow]


@pytest.fixture
def agent(page: Page) -> int:
    """A copy of a demo agent, whose scenarios pass."""
    [demo] = [agent for agent in ask(page, "GET", "/workflow/fetch") if agent["name"] == DEMO]
    made: int = ask(page, "POST", f"/workflow/{demo['id']}/duplicate")["id"]
    page.goto(f"/agents/{made}")
    page.get_by_text("Scenarios", exact=True).click()
    return made


def looks_right(page: Page, name: str) -> None:
    if FOLDER is not None:
        page.wait_for_timeout(400)
        page.screenshot(path=Path(FOLDER) / f"{name}.png")
    assert axe_faults(page) == []
    assert font_faults(page) == []


def test_a_scenario_is_written_run_and_opened_where_it_fails(page: Page, agent: int) -> None:
    page.get_by_role("button", name="Run all").click()
    expect(page.get_by_role("status").filter(has_text=re.compile(r"Last run: (\d+) of \1 passed"))).to_be_visible(
        timeout=SLOW_MS
    )
    looks_right(page, "passed")

    page.get_by_role("button", name="New scenario").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Title").fill("Says something else")
    page.keyboard.press("Escape")
    expect(page.get_by_text("Discard your changes?")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Discard your changes?")).to_have_count(0)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text(re.compile("A scenario must expect something"))).to_be_visible()
    looks_right(page, "refused")
    dialog.get_by_role("textbox", name="Turn 1: words").fill("Hello")
    dialog.get_by_role("textbox", name="Turn 1: the reply must contain").fill("pineapple")
    dialog.get_by_role("combobox", name="The agent never says").fill("refund")
    dialog.get_by_text("YAML", exact=True).click()
    expect(dialog.get_by_role("textbox", name="YAML")).to_have_value(re.compile("name: says-something-else"))
    looks_right(page, "yaml")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)

    page.get_by_role("button", name="Run Says something else").click()
    expect(page.get_by_text(re.compile("^Turn 1: .*pineapple"))).to_be_visible(timeout=SLOW_MS)
    looks_right(page, "failed")
    page.get_by_role("button", name="Show conversation of Says something else").click()
    expect(page.get_by_role("region", name="Conversation").locator("[aria-current=true]")).to_contain_text("Hello")
    looks_right(page, "conversation")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Show conversation of Says something else")).to_be_focused()
    page.get_by_role("button", name="Delete Says something else").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Says something else")).to_have_count(0)
    assert "says-something-else" not in str(ask(page, "GET", f"/workflow/{agent}/scenarios"))


def looks_right_everywhere(page: Page, name: str) -> None:
    """In both schemes, on a wide screen and on a telephone."""
    for width, height in ((1440, 900), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            show_scheme(page, scheme)
            looks_right(page, f"{name}-{width}-{scheme}")
    show_scheme(page, "light")
    page.set_viewport_size({"width": 1280, "height": 800})


def test_the_canvas_shows_what_scenarios_take(page: Page, agent: int) -> None:
    page.get_by_role("button", name="Coverage").click()
    menu = page.get_by_role("dialog").filter(has=page.get_by_role("radiogroup", name="Show coverage"))
    menu.get_by_role("radio", name="Scenarios").click()
    expect(menu.get_by_text("No scenarios have been run with this version yet", exact=False)).to_be_visible()
    menu.get_by_role("radio", name="Calls of the last 30 days").click()
    expect(menu.get_by_text("no telephone calls in the last 30 days", exact=False)).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Run all").click()
    expect(page.get_by_role("status").filter(has_text="Last run")).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Coverage").click()
    menu.get_by_role("radio", name="Scenarios").click()
    expect(menu.get_by_text(re.compile(r"\d+ scenarios covered \d+ of \d+ steps"))).to_be_visible()
    expect(page.get_by_title(re.compile(r"^Covered by \d+ scenario")).first).to_be_visible()
    looks_right_everywhere(page, "coverage")
    page.keyboard.press("Escape")
    looks_right_everywhere(page, "covered")


def test_scenarios_are_proposed_and_the_chosen_ones_saved(page: Page, agent: int) -> None:
    before = ask(page, "GET", f"/workflow/{agent}/scenarios")["scenarios"]
    page.get_by_role("button", name="Propose").click()
    dialog = page.get_by_role("dialog", name="Proposed scenarios")
    expect(dialog.get_by_role("region", name="Proposals")).to_be_visible(timeout=SLOW_MS)
    looks_right_everywhere(page, "proposals")
    assert ask(page, "GET", f"/workflow/{agent}/scenarios")["scenarios"] == before
    dialog.get_by_role("checkbox", name="All").click()
    dialog.get_by_role("checkbox").nth(1).click()
    dialog.get_by_role("button", name="Save 1 scenario").click()
    expect(dialog).to_have_count(0)
    *kept, added = ask(page, "GET", f"/workflow/{agent}/scenarios")["scenarios"]
    assert kept == before
    page.get_by_role("button", name=f"Run {added['title']}").click()
    row = page.get_by_role("listitem").filter(has=page.get_by_role("button", name=f"Run {added['title']}"))
    expect(row.get_by_text("Passed")).to_be_visible(timeout=SLOW_MS)


def test_versions_stand_beside_each_other(page: Page, agent: int) -> None:
    ask(page, "POST", f"/workflow/{agent}/publish", {})
    scenarios = ask(page, "GET", f"/workflow/{agent}/scenarios")["scenarios"]
    broken = {**scenarios[0], "expect": {"says": ["pineapple"]}}
    ask(page, "PUT", f"/workflow/{agent}/scenarios/{broken['name']}", broken)
    page.reload()
    page.get_by_text("Scenarios", exact=True).click()
    page.get_by_role("button", name="By version").click()
    dialog = page.get_by_role("dialog", name="Scenarios by version")
    for version in ("version 1", "the draft"):
        dialog.get_by_role("button", name=f"Run all with {version}").click()
        title = "Draft" if version == "the draft" else "Version 1"
        expect(dialog.get_by_role("button", name=f"show conversation of {broken['title']}, {title}")).to_be_visible(
            timeout=SLOW_MS
        )
        expect(dialog.get_by_role("button", name="Cancel", exact=True)).to_have_count(0, timeout=SLOW_MS)
    looks_right_everywhere(page, "versions")
    dialog.get_by_role("button", name=f"Failed: show conversation of {broken['title']}, Draft").click()
    expect(page.get_by_role("dialog", name=broken["title"]).get_by_text("Failed expectations")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_scenario_is_made_of_a_conversation(page: Page, agent: int) -> None:
    chats = f"/workflow/{agent}/text-chat/sessions"
    chat = ask(page, "POST", chats, {})["workflow_run_id"]
    ask(page, "POST", f"{chats}/{chat}/messages", {"text": "Hello"})
    ask(page, "POST", f"{chats}/{chat}/end", {})
    page.get_by_role("button", name="Hide side panel").click()
    page.goto(f"/agents/{agent}/runs/{chat}")
    page.get_by_role("button", name="Make a scenario from this chat").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("textbox", name="Turn 1: words")).to_have_value("Hello")
    expect(dialog.get_by_role("textbox", name="Title")).to_have_value(f"Call {chat}")
    looks_right(page, "from-a-conversation")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(page).to_have_url(re.compile(rf"/agents/{agent}$"))

    row = page.get_by_role("listitem").filter(has_text=f"Call {chat}")
    row.get_by_role("button", name=f"Run Call {chat}").click()
    expect(row.get_by_text("Passed")).to_be_visible(timeout=SLOW_MS)
    looks_right(page, "made-and-run")


def test_what_only_calls_with_sound_have_is_written_in_the_form(page: Page, agent: int) -> None:
    page.get_by_role("button", name="New scenario").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Title").fill("Stops at once")
    dialog.get_by_role("textbox", name="Turn 1: words").fill("Hello")
    caller = {"Interrupts": "99.5", "Speed": "0.9", "Voice": "en-gb f3"}
    for label, typed in {**caller, "Max answer time": "1500", "Max time to stop": "100", "Max talk-overs": "0"}.items():
        dialog.get_by_label(label, exact=True).fill(typed)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("A voice has a name like en-us or en-gb+f3.")).to_be_visible()
    dialog.get_by_label("Voice", exact=True).scroll_into_view_if_needed()
    looks_right(page, "sound-refused")
    dialog.get_by_label("Voice", exact=True).fill("en-gb+f3")
    dialog.get_by_label("Max talk-overs", exact=True).scroll_into_view_if_needed()
    looks_right_everywhere(page, "sound-fields")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    stored = ask(page, "GET", f"/workflow/{agent}/scenarios/stops-at-once")
    assert stored["caller"]["manner"] == {"interrupts": 0.995, "speed": 0.9, "voice": "en-gb+f3"}
    assert stored["expect"] == {"max_answer_ms": 1500, "max_yield_ms": 100, "max_talk_overs": 0}

    page.get_by_role("switch", name="With sound").check(force=True)
    page.get_by_role("button", name="Run Stops at once").click()
    expect(
        page.get_by_text(re.compile("The agent kept talking for .* ms after it was interrupted, more than 100 ms"))
    ).to_be_visible(timeout=SLOW_MS)
    looks_right(page, "sound-failed")
    page.get_by_role("button", name="Show conversation of Stops at once").click()
    expect(page.get_by_role("dialog").get_by_role("region", name="Recording")).to_be_visible()
    looks_right_everywhere(page, "sound-heard")


def test_a_scenario_that_fails_with_sound_is_heard_from_its_turn(page: Page, agent: int) -> None:
    scenario = {"name": "wrong", "caller": {"turns": [{"say": "Hello", "agent_says": "pineapple"}]}}
    ask(page, "PUT", f"/workflow/{agent}/scenarios/wrong", {**scenario, "expect": {"never_says": ["refund"]}})
    page.goto(f"/agents/{agent}")
    page.reload()
    page.get_by_text("Scenarios", exact=True).click()
    page.get_by_role("switch", name="With sound").check(force=True)
    page.get_by_role("button", name="Run wrong").click()
    expect(page.get_by_text(re.compile("^Turn 1: .*pineapple"))).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Show conversation of wrong").click()
    recording = page.get_by_role("dialog").get_by_role("region", name="Recording")
    expect(recording.get_by_role("list", name="Steps of the call")).to_be_visible()
    audio = recording.locator("audio")
    began_s = audio.evaluate("audio => audio.currentTime")
    assert began_s > 1, "the greeting comes before the turn that failed"
    looks_right(page, "heard")
    recording.get_by_role("button", name="Play").click()
    page.wait_for_function("began => document.querySelector('audio').currentTime > began + 0.5", arg=began_s)


def test_publishing_shows_what_calls_with_sound_are_against(page: Page, agent: int) -> None:
    ask(page, "POST", f"/workflow/{agent}/publish", {})
    ask(page, "PUT", f"/workflow/{agent}/publish-gate", {"is_required": True, "with_sound": True})
    rash = {
        "turn_stop_strategy": "silence",
        "turn_stop_silence_secs": 0.2,
        "turn_start_strategy": "never",
        "vad_configuration": {"stop_seconds": 0.1},
    }
    ask(page, "PUT", f"/workflow/{agent}", {"workflow_configurations": rash})
    says = "I would like, hmm, to answer, because I have a lot of time for that today."
    hesitates = {"name": "hesitates", "caller": {"turns": [says], "manner": {"hesitates": 1}}}
    ask(page, "PUT", f"/workflow/{agent}/scenarios/hesitates", {**hesitates, "expect": {"never_says": ["refund"]}})
    page.goto(f"/agents/{agent}")
    page.reload()
    page.get_by_role("button", name="Publish", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("They have not been run with sound with this draft.", exact=False)).to_be_visible()
    looks_right_everywhere(page, "gate-untested")
    dialog.get_by_role("button", name="Run scenarios now").click()
    heard = dialog.get_by_role("table", name="What was heard")
    expect(heard.get_by_role("row", name=re.compile(r"Average answer time \d.* \d"))).to_be_visible(timeout=SLOW_MS * 2)
    expect(dialog.get_by_role("listitem").filter(has_text="the agent talks over the caller")).to_be_visible()
    looks_right_everywhere(page, "gate-heard")
    dialog.get_by_text("Publish anyway").click()
    looks_right_everywhere(page, "gate-override")
