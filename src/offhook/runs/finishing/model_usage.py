"""Adds what a model used after a call to the usage of its run."""

from collections.abc import Mapping
from typing import Any

from offhook.kit.json_values import JsonObject


def add_usage(usage: Mapping[str, Any], more: Mapping[str, Any]) -> JsonObject:
    """Adds the usage of a language model to a run's; both in the form of ``UsageCounter.as_dict``."""
    llm = [dict(entry) for entry in usage.get("llm") or ()]
    for entry in more.get("llm", ()):
        same = next((e for e in llm if (e["provider"], e["model"]) == (entry["provider"], entry["model"])), None)
        if same is None:
            llm.append(dict(entry))
            continue
        for name, value in entry.items():
            if name not in {"provider", "model"}:
                same[name] = same.get(name, 0) + value
    return {**usage, "llm": llm}
