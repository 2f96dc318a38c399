"""How many planted defects the publish gate stops.

    python -m bench.defects [--graphs 25] [--defects 520] [--seed S] [--fresh S] [--models FOLDER] [--json]

The graphs are those of the catalog, three of which are the demo agents, and generated ones. Each is the published version, with the scenarios of the
catalog and those proposed from its graph. A draft with one defect must be stopped; one with a change that is no defect must not, nor the graph itself when it
is published first. Half of the defects, and half of the generated graphs, come from a fresh seed, which is not in the repository: it is chosen at each run
and printed. The same two seeds give the same figures; the exit code is 1 when a goal is missed.
"""

import argparse
import json
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.defect_effects import CallEffects
from bench.defect_graphs import generate_graph, generate_large_graph
from bench.defect_planting import PlantedDefect, plant_defects, plant_harmless
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.scenarios import Scenario, ScenarioAgent, build_scenario_agent
from offhook.scenarios.checks import check_agent
from offhook.scenarios.engine.suite import MakeLlm
from offhook.scenarios.gate.verdict import GatePolicy, GateSide, examine_version, judge_draft
from offhook.scenarios.offline import build_offline_model
from offhook.scenarios.proposals.proposer import propose_scenarios
from offhook.scenarios.templates import build_template_agent, template_scenarios
from offhook.workflows.catalog.templates import TEMPLATE_IDS, load_template

GOAL_SHARE: Final = 0.95
GOAL_CHECK_S: Final = 2.0
# What an agent with a gate demands of its clean drafts.
DEMANDING: Final = GatePolicy(min_edge_coverage=90)


@dataclass(slots=True)
class DefectTally:
    """Counts what the gate did. ``without_effect`` are defects that change no call, by what they are."""

    make_llm: MakeLlm
    planted: Counter[str] = field(default_factory=Counter)
    stopped: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    without_effect: list[str] = field(default_factory=list)
    clean: int = 0
    slowest_s: float = 0.0

    def judge_clean(self, published: GateSide, scenarios: list[Scenario], chance: random.Random) -> None:
        name = published.agent.name
        self.clean += 1
        first = judge_draft(published, None, DEMANDING)
        self.alarms += [f"{name}: published first: {reason.message}" for reason in first.reasons]
        for harmless in plant_harmless(published.agent, chance):
            self.clean += 1
            verdict = judge_draft(examine_version(harmless.agent, scenarios, self.make_llm), published, DEMANDING)
            self.alarms += [f"{name}: {harmless.kind}: {reason.message}" for reason in verdict.reasons]

    def judge_defect(self, defect: PlantedDefect, published: GateSide, scenarios: list[Scenario], half: str) -> None:
        began = time.process_time()
        draft = examine_version(defect.agent, scenarios, self.make_llm, stops_at_failure=True)
        verdict = judge_draft(draft, published, GatePolicy())
        self.slowest_s = max(self.slowest_s, time.process_time() - began)
        for key in (defect.kind, half):
            self.planted[key] += 1
            self.stopped[key] += not verdict.has_passed
        self.reasons.update({reason.code for reason in verdict.reasons})
        if verdict.has_passed:
            self.missed.append(f"{published.agent.name}: {defect.what}")


def published_versions(
    count: int, seeds: tuple[int, int], make_llm: MakeLlm
) -> Iterator[tuple[GateSide, list[Scenario]]]:
    """Yields published versions with what their scenarios show: first the catalog's, then generated ones."""
    for number in range(count):
        agent: ScenarioAgent
        scenarios: list[Scenario] = []
        if number < len(TEMPLATE_IDS):
            agent = build_template_agent(load_template(TEMPLATE_IDS[number]))
            scenarios = list(template_scenarios(TEMPLATE_IDS[number]))
        else:
            name, definition, tools = generate_graph(seeds[number % 2] * 1000 + number)
            agent = build_scenario_agent(name, definition, tools=tools)
        scenarios += propose_scenarios(agent, make_llm, beside=scenarios)
        yield examine_version(agent, scenarios, make_llm), scenarios


def measure(graphs: int, defects: int, seeds: tuple[int, int], make_llm: MakeLlm) -> dict[str, Any]:
    tally = DefectTally(make_llm)
    for number, (published, scenarios) in enumerate(published_versions(graphs, seeds, make_llm)):
        effects = CallEffects(published.agent, scenarios, make_llm)
        tally.judge_clean(published, scenarios, random.Random(f"{seeds[0]}/{number}/clean"))
        share = defects // graphs + (number < defects % graphs)
        known: set[str] = set()
        for half, seed, count in (("kept", seeds[0], share // 2), ("fresh", seeds[1], share - share // 2)):
            for defect in plant_defects(published.agent, random.Random(f"{seed}/{number}/{half}"), count, known):
                tally.judge_defect(defect, published, scenarios, half)
                if not effects.has_change(defect.agent):
                    tally.without_effect.append(f"{published.agent.name}: {defect.what}")
    return _summarize(tally, graphs, seeds)


def _summarize(tally: DefectTally, graphs: int, seeds: tuple[int, int]) -> dict[str, Any]:
    shares = {key: f"{tally.stopped[key]}/{tally.planted[key]}" for key in sorted(tally.planted)}
    halves = {half: shares.pop(half) for half in ("kept", "fresh")}
    total = tally.planted["kept"] + tally.planted["fresh"]
    stopped = tally.stopped["kept"] + tally.stopped["fresh"]
    check_s, gate_s = time_large_graph(seeds[1], tally.make_llm)
    return {
        "graphs": graphs,
        "seed": seeds[0],
        "fresh_seed": seeds[1],
        "defects": total,
        "stopped": stopped,
        "stopped_share": round(stopped / max(total, 1), 4),
        "by_seed": halves,
        "clean": tally.clean,
        "false_alarms": len(tally.alarms),
        "alarms": tally.alarms,
        "by_kind": shares,
        "by_reason": dict(tally.reasons.most_common()),
        "missed": tally.missed,
        "without_effect": tally.without_effect,
        "slowest_gate_cpu_s": round(tally.slowest_s, 2),
        "check_of_100_nodes_cpu_s": check_s,
        "gate_of_100_nodes_cpu_s": gate_s,
        "is_within_goal": stopped >= GOAL_SHARE * total and not tally.alarms and check_s + gate_s <= GOAL_CHECK_S,
    }


def time_large_graph(seed: int, make_llm: MakeLlm) -> tuple[float, float]:
    """Returns the CPU seconds for a graph of 100 nodes: of validation and analysis, and of the whole gate."""
    name, definition, tools = generate_large_graph(seed)
    agent = build_scenario_agent(name, definition, tools=tools)
    scenarios = propose_scenarios(agent, make_llm)
    published = examine_version(agent, scenarios, make_llm)
    began = time.process_time()
    check_agent(agent)
    checked = time.process_time()
    judge_draft(examine_version(agent, scenarios, make_llm), published, GatePolicy())
    return round(checked - began, 3), round(time.process_time() - checked, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=25)
    parser.add_argument("--defects", type=int, default=520)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fresh", type=int, default=secrets.randbelow(2**31), help="by default a random one")
    parser.add_argument("--models", help="the folder that keeps the prepared offline model; 'words': compare words")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        by_words = arguments.models == "words"
        make_llm = BuiltinLlm if by_words else build_offline_model(Path(arguments.models or folder))
        seeds = (arguments.seed, arguments.fresh)
        figures = measure(arguments.graphs, arguments.defects, seeds, make_llm)
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:26} {value}")
    sys.exit(0 if figures["is_within_goal"] else 1)


if __name__ == "__main__":
    main()
