"""PostgreSQL in memory, as the engine uses it: READ COMMITTED, row locks that wait, SKIP LOCKED, unique indexes,
commits whose answer is lost. It is not yet compared with the real one."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self, TypeVar

from offhook.campaigns.engine.ports import DialRoute, NoRoute
from tests.campaigns.sim.kernel import Kernel, Pause, Process, Wait

T = TypeVar("T")
Row = dict[str, Any]
Key = tuple[str, Any]


class Blocked(Exception):
    """Somebody else holds this lock."""

    def __init__(self, key: Key) -> None:
        self.key = key


class UniqueViolation(Exception):
    """Two live dials to one contact, said the index."""


class Deadlock(Exception):
    """Two transactions wait for each other."""


@dataclass
class Faults:
    """Chances by statement; all zero once the storm is over."""

    drop: float = 0.0
    commit_lost: float = 0.0
    commit_unheard: float = 0.0
    stall: float = 0.0


@dataclass
class Memory:
    """The committed tables, the locks and the sequences, which never go back."""

    kernel: Kernel
    wall: Callable[[], datetime]
    tables: dict[str, dict[Any, Row]] = field(
        default_factory=lambda: {
            name: {} for name in ("campaigns", "contacts", "attempts", "runs", "jobs", "buckets", "passes")
        }
    )
    locks: dict[Key, "Transaction"] = field(default_factory=dict)
    sequences: dict[str, int] = field(default_factory=dict)
    limits: dict[int, int] = field(default_factory=dict)
    do_not_call: set[str] = field(default_factory=set)
    routes: dict[int, DialRoute | NoRoute] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    deadlocks: int = 0
    violations: list[str] = field(default_factory=list)
    trace: list[tuple[Any, ...]] | None = None
    # Keys of jobs that wait or run, and campaigns that are not over: asked for more often than they change.
    keys: set[Any] = field(default_factory=set)
    unfinished: int = 0
    on_job: Callable[[Row], None] = lambda job: None
    on_wake: Callable[[Process, int], None] = lambda process, organization_id: None
    on_reserved: Callable[[int], None] = lambda campaign_id: None

    def __post_init__(self) -> None:
        self.kernel.is_held = self.locks.__contains__

    def count_unfinished(self) -> None:
        self.unfinished = sum(row["status"] not in {"completed", "failed"} for row in self.tables["campaigns"].values())

    def job_is_done(self, job: Row) -> None:
        job["is_done"] = True
        self.keys.discard(job["key"])
        self.tables["jobs"].pop(job["id"], None)

    def next_id(self, table: str) -> int:
        self.sequences[table] = self.sequences.get(table, 0) + 1
        return self.sequences[table]


class Transaction:
    """Rows as this transaction sees them, the locks that it holds, and what it has written."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.kernel = memory.kernel
        self.task: Any = None
        self.own: dict[Key, Row] = {}
        self.held: list[Key] = []
        self.waits_for: Key | None = None
        self.number = memory.next_id("tx")
        self.process: Process | None = None
        self.awake: set[int] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if kind is not None:
            self.rollback()
            return False
        faults, rng = self.memory.faults, self.kernel.rng
        try:
            await Pause(rng.random() * 0.004)
        except GeneratorExit:
            self.rollback()
            raise
        if rng.random() < faults.commit_lost:
            self.rollback()
            raise ConnectionResetError("lost before the commit")
        self.commit()
        if rng.random() < faults.commit_unheard:
            self.awake.clear()
            raise ConnectionResetError("committed, but nobody was told")
        if self.process is not None:
            for organization_id in sorted(self.awake):
                self.memory.on_wake(self.process, organization_id)
        return False

    def commit(self) -> None:
        jobs = []
        reserved = {
            row["campaign_id"]
            for (table, key), row in self.own.items()
            if table == "attempts" and row["state"] == "placing"
        }
        for (table, key), row in self.own.items():
            self.memory.tables[table][key] = row
            if table == "jobs" and row.get("is_new"):
                row["is_new"] = False
                jobs.append(row)
                if row["key"] is not None:
                    self.memory.keys.add(row["key"])
            elif table == "campaigns":
                self.memory.count_unfinished()
        self._trace("commit", (), None)
        self._unlock()
        for job in jobs:
            self.memory.on_job(job)
        for campaign_id in sorted(reserved):
            self.memory.on_reserved(campaign_id)

    def rollback(self) -> None:
        self._trace("rollback", (), None)
        self._unlock()

    def _unlock(self) -> None:
        self.own = {}
        for key in self.held:
            self.memory.locks.pop(key, None)
            self.kernel.release(key)
        self.held = []

    def _trace(self, name: str, args: tuple[Any, ...], result: Any) -> None:
        if self.memory.trace is not None:
            self.memory.trace.append((self.number, name, args, result))

    # rows and locks

    async def _do(self, name: str, args: tuple[Any, ...], work: Callable[[], T]) -> T:
        """One statement: time passes, the connection may break, locks are waited for, and then it happens at once."""
        rng, faults = self.kernel.rng, self.memory.faults
        await Pause(rng.random() * 0.004 + (rng.random() * 6 if rng.random() < faults.stall else 0))
        if rng.random() < faults.drop:
            self.rollback()
            raise ConnectionResetError("the connection broke")
        while True:
            try:
                result = work()
                break
            except Blocked as blocked:
                self.waits_for = blocked.key
                self._look_for_deadlock()
                await Wait(blocked.key)
                self.waits_for = None
        self._trace(name, args, result)
        return result

    def _look_for_deadlock(self) -> None:
        holder: Transaction | None = self
        for _ in range(50):
            if holder is None or holder.waits_for is None:
                return
            holder = self.memory.locks.get(holder.waits_for)
            if holder is self:
                self.memory.deadlocks += 1
                self.rollback()
                raise Deadlock

    def get(self, table: str, key: Any) -> Row | None:
        mine = self.own.get((table, key))
        return mine if mine is not None else self.memory.tables[table].get(key)

    def rows(self, table: str) -> list[Row]:
        """As this transaction sees them now."""
        seen = self.memory.tables[table]
        if not self.own:
            return list(seen.values())
        found = [self.own.get((table, key), row) for key, row in seen.items()]
        return found + [row for (name, key), row in self.own.items() if name == table and key not in seen]

    def lock(self, key: Key, *, skip: bool = False) -> bool:
        holder = self.memory.locks.get(key)
        if holder is self:
            return True
        if holder is not None:
            if skip:
                return False
            raise Blocked(key)
        self.memory.locks[key] = self
        self.held.append(key)
        return True

    def change(self, table: str, key: Any, condition: Callable[[Row], bool], **values: Any) -> bool:
        """UPDATE … WHERE id = … AND condition: waits for the row's lock, then looks again."""
        row = self.get(table, key)
        if row is None or not condition(row):
            return False
        self.lock((table, key))
        row = self.get(table, key)
        if row is None or not condition(row):
            return False
        self.own[table, key] = {**row, **values}
        return True

    def insert(self, table: str, **values: Any) -> int:
        key = self.memory.next_id(table)
        self.own[table, key] = {"id": key, **values}
        return key
