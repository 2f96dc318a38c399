"""Checks that the recordings of a definition and its configuration exist when it is published."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.workflows.graph import WorkflowGraph
from offhook.workflows.validation.issues import IssueKind, ValidationIssue

# (field that switches to audio, field that names the recording)
NODE_FIELDS: Final = (("greeting_type", "greeting_recording_id"), ("say_type", "say_recording_id"))
EDGE_FIELDS: Final = (("transition_speech_type", "transition_speech_recording_id"),)
CONFIGURATION_FIELDS: Final = (
    ("ambient_noise_configuration", "recording_id"),
    ("voicemail_detection", "message_recording_id"),
    ("disclosure", "recording_id"),
)


@dataclass(frozen=True, slots=True)
class RecordingReference:
    """A reference to a recording; ``recording_id`` is empty where one is required but missing."""

    kind: IssueKind
    id: str | None
    field: str
    recording_id: str


def recording_references(graph: WorkflowGraph, configurations: Mapping[str, Any]) -> Iterator[RecordingReference]:
    for node in graph.nodes.values():
        for (switch, name), recording in zip(NODE_FIELDS, (node.greeting_recording, node.say_recording), strict=True):
            if node.data.get(switch) == "audio":
                yield RecordingReference("node", node.id, f"data.{name}", recording or "")
    for group in graph.edges.values():
        for edge in group:
            if edge.is_transition_recorded:
                field = f"data.{EDGE_FIELDS[0][1]}"
                yield RecordingReference("edge", edge.id, field, edge.transition_recording or "")
    for part, key in CONFIGURATION_FIELDS:
        values = configurations.get(part)
        named = values.get(key) if isinstance(values, Mapping) else None
        if isinstance(named, str) and named.strip():
            yield RecordingReference("workflow", None, f"workflow_configurations.{part}.{key}", named.strip())


def check_recordings(found: Collection[RecordingReference], known: Collection[str]) -> Iterator[ValidationIssue]:
    """Yields the issues. ``known``: the ids that are recordings of the organization."""
    for place in found:
        if not place.recording_id:
            yield ValidationIssue(place.kind, place.id, place.field, "field_required", "Choose the recording to play.")
        elif place.recording_id not in known:
            message = f"Recording {place.recording_id!r} does not exist."
            yield ValidationIssue(place.kind, place.id, place.field, "recording_unknown", message)


def replace_configured_recordings(configurations: Mapping[str, Any], new_ids: Mapping[str, str]) -> JsonObject:
    """Returns the configurations with renamed recordings; see ``definition.replace_references`` for graphs."""
    changed = dict(configurations)
    for part, key in CONFIGURATION_FIELDS:
        values = changed.get(part)
        if isinstance(values, Mapping) and isinstance(values.get(key), str):
            changed[part] = {**values, key: new_ids.get(values[key].strip(), values[key])}
    return changed
