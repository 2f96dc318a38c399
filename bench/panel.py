"""Measures turn-taking: seeded interruptions, backchannels, coughs, side talk and hesitations, and what the agent did.

    python -m bench.panel [--events 1000] [--seed 1] [--phrases report] [--setting NAME=VALUE ...] [--socket] [--json]

Calls run on virtual time with the real voice session and the real voice activity detector; the recognizer is emulated
with a streaming vendor's delays and errors. ``--socket``: over the real media socket of a carrier, on loopback.
Develop rules with ``--phrases develop``, report figures with ``--phrases report``.
"""

import argparse
import asyncio
import json
import time
from pathlib import Path
from typing import Any, Final

from tests.fakes.clock import run_virtual

from bench.turns import clips
from bench.turns.agent import GREETING
from bench.turns.breakdown import count_reasons
from bench.turns.call import PanelCall
from bench.turns.clips import ClipLibrary
from bench.turns.judging import Panel
from bench.turns.phrases import PHRASES, QUESTIONS, STATEMENTS, Pool
from bench.turns.socket_line import carry_over_socket
from offhook.voice.input.silero_vad_engine import SileroVad
from offhook.voice.output.sentence_splitter import SentenceSplitter

EVENTS_A_CALL: Final = 25
CALLS_AT_ONCE: Final = 8


def make_library(pool: Pool) -> ClipLibrary:
    """Synthesizes everything that is said in the panel."""
    library = ClipLibrary()
    splitter = SentenceSplitter()
    agent = [GREETING, *STATEMENTS, *QUESTIONS]
    pieces = [piece for text in agent for piece in [*splitter.push(f"{text} "), *splitter.flush()]]
    wanted = [(clips.AGENT_VOICE, text) for text in [*agent, *pieces]]
    parts = [part for texts in PHRASES[pool].values() for text in texts for part in text.split("|")]
    wanted += [(voice, part) for voice in clips.VOICES for part in parts if not part.startswith("<")]
    talk = [text for group in ("turn", "interruption") for text in PHRASES["develop"][group]]
    wanted += [(voice, text) for voice in clips.BABBLE_VOICES for text in talk]
    library.prepare(wanted)
    return library


def run_panel(
    events: int, seed: int, pool: Pool, configurations: dict[str, Any], *, has_socket: bool = False
) -> tuple[Panel, dict[str, Any]]:
    """Runs calls until there are ``events`` events, and returns the panel and what it cost."""
    library, panel = make_library(pool), Panel()
    cpu, done, call_seconds = time.process_time(), 0, 0.0
    while done < events:
        batch = []
        for _ in range(CALLS_AT_ONCE):
            count = min(EVENTS_A_CALL, events - done)
            if count > 0:
                number = seed * 100_000 + done
                batch.append(PanelCall(library, number, pool, configurations, events=count))
                done += count
        run_virtual(_run_calls(batch, has_socket=has_socket), limit_s=2000, has_sockets=has_socket)
        for call in batch:
            panel.add_call(call)
            call_seconds += len(call.far.played) * 0.02
    cost = {"call_seconds": round(call_seconds), "cpu_s": round(time.process_time() - cpu, 1)}
    return panel, cost


async def _run_calls(calls: list[PanelCall], *, has_socket: bool) -> None:
    vad = SileroVad()
    await asyncio.gather(*(carry_over_socket(call, vad) if has_socket else call.run(vad) for call in calls))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--phrases", choices=tuple(PHRASES), default="report")
    parser.add_argument("--setting", action="append", default=[], help="NAME=VALUE (JSON) of the agent's settings")
    parser.add_argument("--socket", action="store_true", help="over the real media socket, on loopback")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", help="a file for one line of JSON for each event")
    parser.add_argument("--reasons", action="store_true", help="counts of decisions by kind, outcome and reason")
    given = parser.parse_args()
    # the agent's own question to a silent caller is no answer to anything
    settings: dict[str, Any] = {"max_call_duration": 1200, "max_user_idle_timeout": 600}
    for pair in given.setting:
        name, _, value = pair.partition("=")
        settings[name] = json.loads(value)
    panel, cost = run_panel(given.events, given.seed, given.phrases, settings, has_socket=given.socket)
    figures = panel.figures() | cost
    if given.rows:
        Path(given.rows).write_text("".join(f"{json.dumps(row.as_dict())}\n" for row in panel.rows), "utf-8")
    if given.reasons:
        figures["reasons"] = count_reasons(panel.rows)
    if given.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        if isinstance(value, dict) and name not in ("by_kind", "reasons"):
            print(f"{name:10} {json.dumps(value)}")
        elif isinstance(value, dict):
            for kind, row in value.items():
                print(f"  {kind:28} {json.dumps(row)}")
        else:
            print(f"{name:10} {value}")


if __name__ == "__main__":
    main()
