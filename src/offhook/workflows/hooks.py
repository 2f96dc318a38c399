"""What domains above hang on workflows, and what they do when one is duplicated or deleted."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession


@dataclass(frozen=True, slots=True)
class WorkflowDuplication:
    """``copy_id`` is becoming a copy of ``source_id``; ``user_id`` is None for API keys."""

    organization_id: int
    source_id: int
    copy_id: int
    user_id: int | None


# Raises a Conflict (409) while the workflow, by organization and id, may not be deleted.
DeletionCheck = Callable[[AsyncSession, int, int], Awaitable[None]]
# Copies what belongs to the source, in the same transaction; the new id, as text, of everything that a definition may
# refer to by id (a recording): such references are changed in the copy.
Copier = Callable[[AsyncSession, WorkflowDuplication], Awaitable[Mapping[str, str]]]
# Removes a part of a deleted workflow's things, by organization and id, in transactions of its own; whether more is left.
Eraser = Callable[[int, int], Awaitable[bool]]


class WorkflowHooks:
    """One a process, found at the root; a domain adds its hooks in its ``register``."""

    def __init__(self) -> None:
        self.deletion_checks: list[DeletionCheck] = []
        self.copiers: list[Copier] = []
        self.erasers: list[Eraser] = []

    def before_delete(self, check: DeletionCheck) -> None:
        self.deletion_checks.append(check)

    def on_duplicate(self, copier: Copier) -> None:
        self.copiers.append(copier)

    def on_delete(self, eraser: Eraser) -> None:
        """``eraser`` is called in a job, again and again until it says that nothing is left."""
        self.erasers.append(eraser)
