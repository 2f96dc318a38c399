"""The variables available to a run's templates."""

from offhook.kit.json_values import JsonObject
from offhook.runs.tables import Run
from offhook.workflows.service import VersionToRun


def call_context(run: Run, version: VersionToRun) -> JsonObject:
    """Merges facts of the run, the workflow's template variables and the run's ``initial_context``; later ones win.

    Only ``direction`` is always the run's own, because the voice loop depends on it.
    """
    facts: JsonObject = {
        "workflow_run_id": run.id,
        "workflow_run_name": run.name,
        "workflow_id": run.workflow_id,
        "workflow_name": version.workflow_name,
        "campaign_id": run.campaign_id,
        "mode": run.mode,
        "phone_number": run.phone_number,
        "caller_number": run.caller_number,
        "called_number": run.called_number,
        "call_id": run.call_id,
    }
    known = {name: value for name, value in facts.items() if value is not None}
    return {**known, **version.template_context_variables, **run.initial_context, "direction": run.direction}


def call_configurations(run: Run, version: VersionToRun) -> JsonObject:
    """Returns the workflow's configurations with the platform's overrides, such as a campaign's voicemail."""
    own = run.initial_context.get("runtime_configuration")
    return {**version.configurations, **(own if isinstance(own, dict) else {})}
