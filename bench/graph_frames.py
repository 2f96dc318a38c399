"""Measures how smoothly the editor pans and drags a graph of 200 steps, in the system's Chromium with a real server.

    python -m bench.graph_frames [--steps 200]

Prints, for each gesture on a graph of two steps and on the large one, the time between frames as the page sees them
(requestAnimationFrame), its tasks of more than 50 ms, and the main thread's work per move (CDP Performance.getMetrics).
Chromium draws without a graphics card here, on the same cores as the server: the difference between small and large is
the graph's cost.
"""

import argparse
import itertools
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page, sync_playwright
from tests.web.browser import chromium, running_server

COLUMNS = 10
MOVES = 120
FRAME_MS = 1000 / 60
WATCH = """() => {
  window.frames_ = [];
  window.long_ = 0;
  window.observer_ ??= new PerformanceObserver((list) => { window.long_ += list.getEntries().length; });
  window.observer_.observe({type: "longtask"});
  const tick = (now) => { window.frames_.push(now); window.watch_ = requestAnimationFrame(tick); };
  window.watch_ = requestAnimationFrame(tick);
}"""
STOP = "() => { cancelAnimationFrame(window.watch_); return [window.frames_, window.long_]; }"
PARTS = {"script": "ScriptDuration", "style": "RecalcStyleDuration", "layout": "LayoutDuration"}


def graph(steps: int) -> dict[str, Any]:
    """Returns a graph: a start, steps in rows of ten with an edge to the one below and the one beside, an end."""
    nodes = [
        {
            "id": f"n{index}",
            "type": "startCall" if index == 0 else "endCall" if index == steps - 1 else "agentNode",
            "position": {"x": index % COLUMNS * 290, "y": index // COLUMNS * 190},
            "data": {"name": f"Step {index}", "prompt": "Ask for what is missing, one thing at a time. " * 3},
        }
        for index in range(steps)
    ]
    pairs = [(index, other) for index in range(steps - 1) for other in (index + 1, index + COLUMNS) if other < steps]
    edges = [
        {"id": f"e{a}-{b}", "source": f"n{a}", "target": f"n{b}", "data": {"label": f"to {b}", "condition": "Done."}}
        for a, b in pairs
    ]
    return {"nodes": nodes, "edges": edges}


def gesture(page: Page, cdp: CDPSession, name: str, start: tuple[float, float]) -> None:
    """Presses at ``start`` and moves in a circle-like path, one move per frame."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + 4, start[1] + 4)
    before = metrics(cdp)
    page.evaluate(WATCH)
    for index in range(MOVES):
        way = index if index < MOVES / 2 else MOVES - index
        page.mouse.move(start[0] + way * 3, start[1] + way * 2)
        page.evaluate("() => new Promise(requestAnimationFrame)")
    times, long_tasks = page.evaluate(STOP)
    after = metrics(cdp)
    page.mouse.up()
    gaps = [b - a for a, b in itertools.pairwise(times)]
    work = {key: (after[key] - before[key]) * 1000 / MOVES for key in ("TaskDuration", *PARTS.values())}
    parts = ", ".join(f"{name} {work[key]:.1f}" for name, key in PARTS.items())
    late = sum(gap > 1.5 * FRAME_MS for gap in gaps)
    print(
        f"{name}: {len(gaps)} frames, between them median {statistics.median(gaps):.1f} ms, "
        f"p95 {statistics.quantiles(gaps, n=20)[18]:.1f}, longest {max(gaps):.1f}, late {late}, long tasks {long_tasks}; "
        f"main thread each move {work['TaskDuration']:.1f} ms ({parts})",
        flush=True,
    )


def metrics(cdp: CDPSession) -> dict[str, float]:
    return {item["name"]: item["value"] for item in cdp.send("Performance.getMetrics")["metrics"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    steps = parser.parse_args().steps
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(Path(folder) / "data") as link,
        sync_playwright() as playwright,
        chromium(playwright) as browser,
    ):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script("localStorage.setItem('offhook.tour', '9')")
        page.goto(link)
        page.get_by_role("heading", name="Agents").wait_for(timeout=30_000)
        base = link.partition("/sign-in")[0]
        cdp = page.context.new_cdp_session(page)
        # Time that the thread ran, without waiting for a core.
        cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        for count in (2, steps):
            page.goto(f"{base}/agents/{create(page, base, count)}")
            page.locator(".react-flow__node").first.wait_for(timeout=60_000)
            page.wait_for_timeout(3_000)
            gestures(page, cdp, f"{count} steps")


def create(page: Page, base: str, steps: int) -> int:
    token = page.evaluate("localStorage.getItem('offhook.token')")
    made = page.request.post(
        f"{base}/api/v1/workflow/create/definition",
        data={"name": f"{steps} steps", "workflow_definition": graph(steps)},
        headers={"Authorization": f"Bearer {token}"},
    )
    return int(made.json()["id"])


def gestures(page: Page, cdp: CDPSession, name: str) -> None:
    box = page.locator(".react-flow__pane").bounding_box()
    assert box is not None
    for zoom in ("near", "all"):
        if zoom == "all":
            page.get_by_role("button", name="Show all").click()
            page.wait_for_timeout(800)
        # Dragged first: the start is in sight however large the graph is.
        node = page.locator(".react-flow__node", has_text="Step 0").first.bounding_box()
        assert node is not None
        gesture(page, cdp, f"{name}, drag, {zoom}", (node["x"] + node["width"] / 2, node["y"] + node["height"] / 3))
        page.wait_for_timeout(1_200)
        gesture(page, cdp, f"{name}, pan, {zoom}", (box["x"] + 30, box["y"] + box["height"] - 150))
        page.wait_for_timeout(300)


if __name__ == "__main__":
    main()
