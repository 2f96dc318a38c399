"""The languages that an agent speaks (``workflow_configurations.languages``), as the choice of models sees them. Pure."""

from collections.abc import Mapping
from typing import Any, Final

# Each language has voices of its own, and a recognizer that tells more apart is wrong more often.
MAX_LANGUAGES: Final = 6


def agent_languages(configurations: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Returns what the agent says of each language, by tag, the one that calls begin in first. Ignores what is not one."""
    listed = configurations.get("languages")
    entries = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []
    found = {str(entry["language"]): entry for entry in entries if isinstance(entry.get("language"), str)}
    return dict(list(found.items())[:MAX_LANGUAGES])


def models_in(language: str, workflow: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a workflow's own choice of models with what a language changes of it."""
    own = entry.get("models")
    own = own if isinstance(own, Mapping) else {}
    tts, stt = (_merged(workflow.get(kind), own.get(kind)) for kind in ("tts", "stt"))
    return {**workflow, **({"tts": tts} if tts else {}), "stt": {**stt, "language": language}}


def _merged(general: Any, own: Any) -> dict[str, Any]:
    general = general if isinstance(general, Mapping) else {}
    own = own if isinstance(own, Mapping) else {}
    # a voice and a model belong to their provider
    is_other = own.get("provider") not in (None, general.get("provider"))
    return {**({} if is_other else general), **own}
