"""The invariants of the architecture, asked of the database at the end; the far end has sworn to the others already."""

from collections import Counter, defaultdict
from typing import Any

from offhook.campaigns.rules.outcomes import OUTCOMES
from offhook.runs.states import LIVE_STATES


def judge(world: Any) -> None:
    """Add what is wrong to the world's violations."""
    tables, found = world.memory.tables, world.violations
    if world.memory.deadlocks:
        found.append(f"{world.memory.deadlocks} deadlocks")
    for row in tables["campaigns"].values():
        if row["starts"] != 1:
            found.append(f"campaign {row['id']} was started {row['starts']} times")
    if not all(row["status"] in {"completed", "failed"} for row in tables["campaigns"].values()):
        return
    for row in tables["contacts"].values():
        if row["state"] != "done" or row["outcome"] not in OUTCOMES:
            found.append(f"contact {row['id']} has no final state: {row['state']} {row['outcome']}")
    for row in tables["attempts"].values():
        if row["state"] != "final":
            found.append(f"attempt {row['id']} is {row['state']} after the end")
    for run_id, run in tables["runs"].items():
        if run["status"] in LIVE_STATES or run["lease_until"] is not None:
            found.append(f"run {run_id} holds a slot after the end")
    _dials(world)
    _reached(world)


def _dials(world: Any) -> None:
    """Every ringing phone has its attempt, and every attempt after the first its reason."""
    attempts = world.memory.tables["attempts"].values()
    by_run = {row["run_id"]: row for row in attempts}
    for call in world.far_end.history:
        if call.run_id not in by_run:
            world.violations.append(f"a phone rang for run {call.run_id}, which has no attempt")
    numbers: dict[int, list[int]] = defaultdict(list)
    for row in attempts:
        numbers[row["contact_id"]].append(row["number"])
        if row["number"] > 1 and not row["because"]:
            world.violations.append(f"contact {row['contact_id']} was dialed again without a reason")
    for contact_id, listed in numbers.items():
        if sorted(listed) != list(range(1, len(listed) + 1)):
            world.violations.append(f"the attempts of contact {contact_id} are numbered {sorted(listed)}")
    free = {"not_dialed", "never_reached_carrier"}
    rang = {call.run_id for call in world.far_end.history}
    for row in attempts:
        if row["reason"] in free and row["run_id"] in rang:
            world.violations.append(f"attempt {row['id']} is {row['reason']}, and a phone rang for it")
    asked = Counter(row["contact_id"] for row in attempts if row["reason"] not in free)
    for row in world.memory.tables["contacts"].values():
        if row["dials"] != asked[row["id"]] and row["reason"] not in free:
            world.violations.append(f"contact {row['id']} says {row['dials']} dials, its attempts {asked[row['id']]}")


def _reached(world: Any) -> None:
    """Who talked with us is answered, and who was not called knows why."""
    talked = {call.contact_id for call in world.far_end.history if world.far_end.was_talked_to(call)}
    rang = {call.contact_id for call in world.far_end.history}
    for row in world.memory.tables["contacts"].values():
        if row["id"] in talked and row["outcome"] != "answered":
            world.violations.append(f"contact {row['id']} answered and is {row['outcome']}")
        if row["outcome"] == "answered" and row["id"] not in rang:
            world.violations.append(f"contact {row['id']} is answered and was never called")
        if row["id"] not in rang and row["outcome"] in {"no_answer", "busy", "voicemail"} and row["reason"] is None:
            world.violations.append(f"contact {row['id']} is {row['outcome']} and was never called")
