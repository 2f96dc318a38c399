"""One entry of an export: a line of NDJSON, written from the database and read back for the check without one."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Final

from pydantic import ConfigDict, Field, ValidationError

from offhook.kit.json_values import JsonObject
from offhook.kit.schema import Schema
from offhook.orgs.audit_trail.chain import (
    AuditChain,
    ChainReport,
    ChainVerifier,
    EntryContent,
    ExpectedHead,
    Seal,
)

MEDIA_TYPE: Final = "application/x-ndjson"
_HexDigest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class ExportedFileInvalid(Exception):
    """A line is no entry of an export: one sentence."""


class ExportedEntry(Schema):
    """``actor_email``, ``actor_key_name`` and ``impersonator_email`` are names of today, which the seal does not cover.

    ``position``, ``previous_seal`` and ``seal`` are all null while the entry is not sealed; seals are 64 hex digits.
    """

    model_config = ConfigDict(frozen=True)

    organization_id: int | None
    position: int | None
    id: int
    created_at: datetime
    action: str
    target: str | None
    actor_user_id: int | None
    actor_email: str | None = None
    actor_key_id: int | None
    actor_key_name: str | None = None
    impersonator_id: int | None
    impersonator_email: str | None = None
    ip: str | None
    data: JsonObject
    previous_seal: _HexDigest | None
    seal: _HexDigest | None

    def to_line(self) -> bytes:
        return self.model_dump_json().encode("utf-8", "replace") + b"\n"

    @property
    def content(self) -> EntryContent:
        return EntryContent(
            self.id,
            self.organization_id,
            self.actor_user_id,
            self.actor_key_id,
            self.impersonator_id,
            self.action,
            self.target,
            self.ip,
            self.data,
            self.created_at,
        )

    @property
    def place(self) -> Seal | None:
        """The entry's place in its chain; None while it is not sealed."""
        if self.position is None or self.previous_seal is None or self.seal is None:
            return None
        return Seal(self.position, bytes.fromhex(self.previous_seal), bytes.fromhex(self.seal))


def verify_lines(
    lines: Iterable[bytes], chain: AuditChain | None = None, expected: Sequence[ExpectedHead] = ()
) -> list[ChainReport]:
    """Checks the chains of an export, or only this one, line by line. A chain may begin after its first position, with
    what its first entry says of the seal before. Raises ExportedFileInvalid."""
    verifiers: dict[AuditChain, ChainVerifier] = {}

    def find_verifier(of: AuditChain) -> ChainVerifier:
        if of not in verifiers:
            verifiers[of] = ChainVerifier(of, expected, may_begin_later=True)
        return verifiers[of]

    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = ExportedEntry.model_validate_json(line)
        except ValidationError:
            raise ExportedFileInvalid(f"Line {number} is not an entry of an exported audit log.") from None
        of = AuditChain(entry.organization_id)
        if chain is not None and of != chain:
            continue
        if entry.place is None:
            find_verifier(of).add_unsealed()
        else:
            find_verifier(of).add_sealed(entry.content, entry.place)
    for wanted in [chain, *(kept.chain for kept in expected if chain in (None, kept.chain))]:
        if wanted is not None:
            find_verifier(wanted)
    return [verifiers[of].finish() for of in sorted(verifiers, key=lambda of: of.organization_id or 0)]
