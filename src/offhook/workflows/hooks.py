"""Hooks for the domains above workflows when a workflow is duplicated or deleted."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession


@dataclass(frozen=True, slots=True)
class WorkflowDuplication:
    """A duplication of ``source_id`` into ``copy_id``; ``user_id`` is None for API keys."""

    organization_id: int
    source_id: int
    copy_id: int
    user_id: int | None


# Raises a Conflict (409) while the workflow (organization, id) must not be deleted.
DeletionCheck = Callable[[AsyncSession, int, int], Awaitable[None]]
# Copies the source's belongings in the same transaction; returns the new id, as text, of everything that a definition
# may refer to by id (a recording). The copy's references are updated.
Copier = Callable[[AsyncSession, WorkflowDuplication], Awaitable[Mapping[str, str]]]
# Removes a batch of a deleted workflow's belongings (organization, id) in its own transactions; True if more is left.
Eraser = Callable[[int, int], Awaitable[bool]]


class WorkflowHooks:
    """The hooks of domains above, one instance per process at the root; a domain adds its own in its ``register``."""

    def __init__(self) -> None:
        self.deletion_checks: list[DeletionCheck] = []
        self.copiers: list[Copier] = []
        self.erasers: list[Eraser] = []

    def before_delete(self, check: DeletionCheck) -> None:
        self.deletion_checks.append(check)

    def on_duplicate(self, copier: Copier) -> None:
        self.copiers.append(copier)

    def on_delete(self, eraser: Eraser) -> None:
        """Registers ``eraser``, which a job calls until nothing is left."""
        self.erasers.append(eraser)
