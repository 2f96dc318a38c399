"""API Trigger: a public address that places a call with this agent."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from offhook.workflows.nodes.common import AT_MOST_ONE, define_property, name_property
from offhook.workflows.nodes.spec import FieldProblem, GraphConstraints, NodeExample, NodeKind, NodeSpec

MAX_PATH: Final = 36
_PATH: Final = re.compile(r"[A-Za-z0-9_-]+")


def _check_path(data: Mapping[str, Any]) -> Iterator[FieldProblem]:
    path = data.get("trigger_path")
    if not isinstance(path, str) or not path.strip():
        return
    if len(path) > MAX_PATH:
        yield FieldProblem(
            "data.trigger_path", "trigger_path_too_long", f"Trigger path must be {MAX_PATH} characters or fewer."
        )
    if not _PATH.fullmatch(path):
        yield FieldProblem(
            "data.trigger_path",
            "trigger_path_invalid",
            "Trigger path must be a single URL path segment: letters, digits, - and _.",
        )


KIND = NodeKind(
    spec=NodeSpec(
        name="trigger",
        display_name="API Trigger",
        description="A public address: a POST to it places a call with this agent.",
        llm_hint="At most one. The address takes effect when the workflow is published.",
        category="trigger",
        icon="Webhook",
        properties=[
            name_property("API Trigger"),
            define_property("enabled", "boolean", "Enabled", "Whether the address answers.", default=True),
            define_property(
                "trigger_path",
                "string",
                "Path",
                "Last part of the address. If empty, the server creates one.",
                max_length=MAX_PATH,
                pattern=f"^{_PATH.pattern}$",
            ),
        ],
        examples=[NodeExample(name="default", data={"name": "API Trigger", "enabled": True})],
        graph_constraints=GraphConstraints(min_incoming=0, max_incoming=0),
    ),
    instances=AT_MOST_ONE,
    check=_check_path,
)
