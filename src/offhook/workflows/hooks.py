"""Hooks for the domains above workflows when a workflow is duplicated or deleted."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller


@dataclass(frozen=True, slots=True)
class WorkflowDuplication:
    """A duplication of ``source_id`` into ``copy_id``; ``user_id`` is None for API keys."""

    organization_id: int
    source_id: int
    copy_id: int
    user_id: int | None


# Raises a Conflict (409) while the workflow (by its id) must not be deleted, Forbidden (403) when not by this caller.
DeletionCheck = Callable[[AsyncSession, Caller, int], Awaitable[None]]
# Copies the source's belongings in the same transaction; returns the new id, as text, of everything that a definition
# may refer to by id (a recording). The copy's references are updated.
Copier = Callable[[AsyncSession, WorkflowDuplication], Awaitable[Mapping[str, str]]]
# Removes a batch of a deleted workflow's belongings (organization, id) in its own transactions; True if more is left.
Eraser = Callable[[int, int], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class PublishAttempt:
    """A draft that is about to be published. ``gate`` is what its workflow demands, ``override_reason`` why somebody
    publishes it all the same."""

    workflow_id: int
    draft_id: int
    gate: JsonObject
    override_reason: str | None


# Raises a Conflict (409) while the draft must not be published, Forbidden (403) when not by this caller.
PublishCheck = Callable[[AsyncSession, Caller, PublishAttempt], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class WorkflowHooks:
    """The hooks of domains above, one instance per process; a domain appends its own in its ``register``.

    A job calls ``erasers`` until nothing is left.
    """

    deletion_checks: list[DeletionCheck] = field(default_factory=list)
    copiers: list[Copier] = field(default_factory=list)
    erasers: list[Eraser] = field(default_factory=list)
    publish_checks: list[PublishCheck] = field(default_factory=list)
