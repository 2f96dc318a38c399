"""What a replay is given: a run with its journal, and its agent twice, as JSON that a process of its own reads. Pure."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from offhook.kit.json_values import JsonObject
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.scenarios.plays.orders import agent_as_json, read_agent
from offhook.scenarios.replays.comparison import ReplayDifference


@dataclass(frozen=True, slots=True)
class ReplayedVersion:
    """A version as this run's call used it or would have: ``configurations`` are its own with those of the run."""

    id: int
    number: int
    agent: ScenarioAgent
    configurations: Mapping[str, Any]

    def as_json(self) -> JsonObject:
        # the journal has what was found in documents
        agent = agent_as_json(replace(self.agent, documents={}))
        return {"id": self.id, "number": self.number, "agent": agent, "configurations": dict(self.configurations)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "ReplayedVersion":
        return cls(raw["id"], raw["number"], read_agent(raw["agent"]), raw["configurations"])


@dataclass(frozen=True, slots=True)
class ReplayableRun:
    """A run with everything that a replay needs. ``own`` is the version that it was held with, ``other`` the one that it is
    played with; the same for an exact replay. ``given`` names the variables that the run brought along."""

    run_id: int
    journal: bytes
    stored: Sequence[Mapping[str, Any]]
    given: Sequence[str]
    own: ReplayedVersion
    other: ReplayedVersion

    @property
    def is_own(self) -> bool:
        return self.other.id == self.own.id

    def as_json(self) -> JsonObject:
        stored: list[Any] = [[event["type"], event["at_ms"], event["data"]] for event in self.stored]
        return {
            "run_id": self.run_id,
            "journal": base64.b64encode(self.journal).decode(),
            "stored": stored,
            "given": list(self.given),
            "own": self.own.as_json(),
            "other": None if self.is_own else self.other.as_json(),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "ReplayableRun":
        own = ReplayedVersion.from_json(raw["own"])
        return cls(
            run_id=raw["run_id"],
            journal=base64.b64decode(raw["journal"]),
            stored=[{"type": kind, "at_ms": at_ms, "data": data} for kind, at_ms, data in raw["stored"]],
            given=raw["given"],
            own=own,
            other=own if raw["other"] is None else ReplayedVersion.from_json(raw["other"]),
        )


@dataclass(frozen=True, slots=True)
class RunReplay:
    """What came of a replay. ``is_exact``: with its own version the call was the same; without that, nothing can be said about
    another one. ``difference`` is None for the same call."""

    run_id: int
    version_number: int
    is_own: bool
    is_exact: bool
    events: int
    hash: str
    difference: ReplayDifference | None

    def as_json(self) -> JsonObject:
        return {
            "run_id": self.run_id,
            "version": self.version_number,
            "is_own_version": self.is_own,
            "is_same": self.difference is None,
            "is_exact": self.is_exact,
            "events": self.events,
            "hash": self.hash,
            "first_difference": None if self.difference is None else asdict(self.difference),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "RunReplay":
        found = raw["first_difference"]
        return cls(
            run_id=raw["run_id"],
            version_number=raw["version"],
            is_own=raw["is_own_version"],
            is_exact=raw["is_exact"],
            events=raw["events"],
            hash=raw["hash"],
            difference=None if found is None else ReplayDifference(**found),
        )
