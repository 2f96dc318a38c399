"""The carriers' published cases of signed webhooks, and how a verifier is asked."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from offhook.telephony.ports import CarrierWebhook, WebhookVerifier
from tests.telephony.carrier_kit import account

CASES: dict[str, list[dict[str, Any]]] = {
    name: carrier["vectors"]
    for name, carrier in json.loads((Path(__file__).parents[1] / "data" / "signatures.json").read_text())[
        "providers"
    ].items()
}
NOW = 1_700_000_000.0
Case = dict[str, Any]


def cases(carrier: str, **wanted: object) -> list[Any]:
    """The carrier's cases whose fields are these, named by their names."""
    return [
        pytest.param(case, id=case["name"])
        for case in CASES[carrier]
        if all(case.get(name) == value for name, value in wanted.items())
    ]


def accepts(verifier: WebhookVerifier, webhook: CarrierWebhook, now_s: float = NOW, **config: Any) -> bool:
    return verifier.verify(account("any", **config), webhook, now_s) is not None


def flat(params: Mapping[str, str | list[str]]) -> list[tuple[str, str]]:
    return [
        (name, value) for name, values in params.items() for value in (values if isinstance(values, list) else [values])
    ]
