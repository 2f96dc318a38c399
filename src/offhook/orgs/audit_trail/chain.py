"""The chain of hashes over the entries of one audit log: seals, and what breaks them. Pure.

``seal`` = SHA-256(``previous_seal`` ‖ canonical JSON of the entry with its position); before the first one stand 32 zero bytes.
Whoever can write to the database can compute a whole new chain. A head that is kept elsewhere shows that.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal, Self

from offhook.kit.json_values import JsonObject

FIRST_PREVIOUS_SEAL: Final = bytes(32)
INSTALLATION: Final = "installation"
AUDIT_LOG_TRIMMED: Final = "audit_log.trimmed"

BreakReason = Literal[
    "changed_entry",
    "missing_position",
    "repeated_position",
    "wrong_previous_seal",
    "truncated",
    "another_head",
    "unexplained_checkpoint",
]


@dataclass(frozen=True, slots=True, order=True)
class AuditChain:
    """The entries of one organization; without one, those of the whole installation."""

    organization_id: int | None

    @property
    def name(self) -> str:
        return INSTALLATION if self.organization_id is None else str(self.organization_id)

    @classmethod
    def parse(cls, name: str) -> Self:
        """Reads a chain's name. Raises ValueError."""
        return cls(None if name == INSTALLATION else int(name))


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The last sealed entry of a chain. ``position`` 0 is that of a chain without any."""

    position: int = 0
    seal: bytes = FIRST_PREVIOUS_SEAL


@dataclass(frozen=True, slots=True)
class ExpectedHead:
    """A head that was stored outside of the database."""

    chain: AuditChain
    head: ChainHead

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads ``CHAIN:POSITION:SEAL``. Raises ValueError."""
        name, position, seal = text.split(":")
        head = ChainHead(int(position), bytes.fromhex(seal))
        if head.position < 1 or len(head.seal) != len(FIRST_PREVIOUS_SEAL):
            raise ValueError(text)
        return cls(AuditChain.parse(name), head)


@dataclass(frozen=True, slots=True)
class EntryContent:
    """What an entry says, and its seal covers."""

    id: int
    organization_id: int | None
    actor_user_id: int | None
    actor_key_id: int | None
    impersonator_id: int | None
    action: str
    target: str | None
    ip: str | None
    data: JsonObject
    created_at: datetime

    def to_canonical_json(self, position: int) -> bytes:
        """Returns UTF-8 with sorted names and no spaces; the time is in UTC with microseconds."""
        created_at = self.created_at.astimezone(UTC).isoformat(timespec="microseconds")
        content = {
            "action": self.action,
            "actor_key_id": self.actor_key_id,
            "actor_user_id": self.actor_user_id,
            "created_at": created_at,
            "data": self.data,
            "id": self.id,
            "impersonator_id": self.impersonator_id,
            "ip": self.ip,
            "organization_id": self.organization_id,
            "position": position,
            "target": self.target,
        }
        text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Seal:
    """An entry's place in its chain."""

    position: int
    previous_seal: bytes
    seal: bytes


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """The first position at which a chain does not hold, and why."""

    position: int
    reason: BreakReason
    message: str

    def to_json(self) -> JsonObject:
        return {"position": self.position, "reason": self.reason, "message": self.message}


@dataclass(slots=True)
class ChainReport:
    """What the check of one chain found. ``first_position`` is above 1 in a file that begins later, and after
    ``removed_until``, the last position that the organization's retention has removed (0: none)."""

    chain: AuditChain
    sealed: int = 0
    unsealed: int = 0
    first_position: int | None = None
    removed_until: int = 0
    head: ChainHead = field(default_factory=ChainHead)
    broken: ChainBreak | None = None

    @property
    def entries(self) -> int:
        return self.sealed + self.unsealed

    def to_json(self) -> JsonObject:
        return {
            "organization_id": self.chain.organization_id,
            "entries": self.entries,
            "sealed": self.sealed,
            "unsealed": self.unsealed,
            "first_position": self.first_position,
            "removed_until": self.removed_until,
            "head": {"position": self.head.position, "seal": self.head.seal.hex()} if self.sealed else None,
            "broken": self.broken.to_json() if self.broken else None,
        }


def compute_seal(head: ChainHead, content: EntryContent) -> Seal:
    """Returns the seal of the entry that follows the head."""
    position = head.position + 1
    digest = hashlib.sha256(head.seal + content.to_canonical_json(position)).digest()
    return Seal(position, head.seal, digest)


class ChainVerifier:
    """Checks one chain, entry by entry in the order of positions, in constant memory."""

    def __init__(
        self,
        chain: AuditChain,
        expected: Sequence[ExpectedHead] = (),
        *,
        may_begin_later: bool = False,
        checkpoint: ChainHead | None = None,
    ) -> None:
        self._checkpoint = checkpoint or ChainHead()
        self.report = ChainReport(chain, removed_until=self._checkpoint.position, head=self._checkpoint)
        self._expected = sorted((kept.head for kept in expected if kept.chain == chain), key=lambda kept: kept.position)
        self._may_begin_later = may_begin_later

    def add_sealed(self, content: EntryContent, seal: Seal) -> None:
        """Takes the next sealed entry."""
        report = self.report
        if report.first_position is None:
            report.first_position = seal.position
            if self._may_begin_later and seal.position > 1:
                report.head = ChainHead(seal.position - 1, seal.previous_seal)
        report.sealed += 1
        if report.broken is None:
            report.broken = self._find_break(content, seal)
            if any(kept.position == seal.position and kept.seal != seal.seal for kept in self._expected):
                report.broken = report.broken or _another_head(seal.position)
        report.head = ChainHead(seal.position, seal.seal)

    def add_unsealed(self, count: int = 1) -> None:
        self.report.unsealed += count

    def note_unexplained_checkpoint(self) -> None:
        """Takes note that no entry of the log says that it was trimmed."""
        position = self._checkpoint.position
        self.report.broken = self.report.broken or ChainBreak(
            position, "unexplained_checkpoint", f"No entry says that the log was trimmed up to position {position}."
        )

    def finish(self) -> ChainReport:
        """Returns the report, after the last entry."""
        report = self.report
        for kept in self._expected:
            if kept.position <= self._checkpoint.position:
                # What was removed cannot be compared, but for the last of it.
                if kept.position == self._checkpoint.position and kept.seal != self._checkpoint.seal:
                    report.broken = report.broken or _another_head(kept.position)
                continue
            if report.broken is None and kept.position > report.head.position:
                report.broken = ChainBreak(
                    report.head.position + 1,
                    "truncated",
                    f"The chain ends at position {report.head.position}, before the expected head at {kept.position}.",
                )
            elif report.broken is None and kept.position < (report.first_position or 1):
                report.broken = ChainBreak(
                    kept.position,
                    "missing_position",
                    f"The file begins at position {report.first_position}, after the expected head at {kept.position}.",
                )
        return report

    def _find_break(self, content: EntryContent, seal: Seal) -> ChainBreak | None:
        head = self.report.head
        expected = head.position + 1
        if seal.position > expected:
            return ChainBreak(expected, "missing_position", f"Position {expected} is missing.")
        if seal.position < expected:
            return ChainBreak(seal.position, "repeated_position", f"Position {seal.position} comes again.")
        if seal.previous_seal != head.seal:
            return ChainBreak(
                expected, "wrong_previous_seal", f"Entry {content.id} does not follow the seal at {head.position}."
            )
        if content.organization_id != self.report.chain.organization_id or compute_seal(head, content) != seal:
            return ChainBreak(expected, "changed_entry", f"Entry {content.id} is not what was sealed.")
        return None


def _another_head(position: int) -> ChainBreak:
    return ChainBreak(position, "another_head", "The seal is not that of the expected head.")
