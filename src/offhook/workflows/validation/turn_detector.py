"""Warns authors if an agent uses a turn detector that the server does not have; calls then use rules alone."""

from collections.abc import Iterator, Mapping
from typing import Any

from offhook.settings import Settings
from offhook.workflows.validation.issues import ValidationIssue


def lacks_turn_detector(configurations: Mapping[str, Any], settings: Settings) -> bool:
    """Returns whether an agent uses a turn detector that the server does not have."""
    return bool(configurations.get("turn_detector")) and settings.turn_detector_file is None


def detector_warnings(configurations: Mapping[str, Any], settings: Settings) -> Iterator[ValidationIssue]:
    if lacks_turn_detector(configurations, settings):
        message = "This server has no turn detector, so rules alone decide when a caller has finished."
        field = "workflow_configurations.turn_detector"
        yield ValidationIssue("workflow", None, field, "turn_detector_unavailable", message)
