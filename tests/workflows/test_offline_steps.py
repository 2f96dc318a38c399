"""Which steps run without a vendor's model: told from the graph, and true of what the offline model does."""

from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.models.ports import LlmMessage, LlmRequest, NodeHint, TextDelta
from offhook.models.providers.builtin.abilities import can_open_node
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.workflows.analysis.offline_steps import find_offline_steps
from offhook.workflows.catalog.templates import TEMPLATE_IDS, load_template
from offhook.workflows.graph import parse_graph
from tests.fixtures_orgs import OrgFixture
from tests.workflows.definitions import agent, definition, edge, end, simple, start

SPANISH = (
    "Buenos días, le atiende la clínica dental. Puedo darle una cita, cambiarla o cancelarla. Dígame qué necesita hoy "
    "y cuándo le vendría bien, por favor. También puedo pasarle con una persona de la recepción."
)
# Prompts that name nothing to say, and prompts that do.
WORDLESS = "Be professional at all times and follow the policy of the house."
SPOKEN = ("Ask for the caller's order number.", 'Say "We open at nine in the morning."', "Ask which day suits them.")


def variable(name: str, kind: str = "string", prompt: str = "") -> dict[str, Any]:
    return {"extraction_enabled": True, "extraction_variables": [{"name": name, "type": kind, "prompt": prompt}]}


def graph(*ways: dict[str, Any], **data: Any) -> dict[str, Any]:
    return definition(
        start(), agent(**data), end(), edges=[edge("s", "a", "Begin"), *(ways or (edge("a", "e", "Done"),))]
    )


def reasons(raw: dict[str, Any], node_id: str = "a") -> list[tuple[str, str]]:
    [step] = [step for step in find_offline_steps(parse_graph(raw)) if step.node_id == node_id]
    return [(reason.code, reason.mode) for reason in step.reasons]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (graph(prompt=SPOKEN[0]), []),
        (graph(prompt=WORDLESS), [("no_sentence", "needs_model")]),
        (graph(prompt=WORDLESS, offline_say="Which day?"), []),
        (graph(prompt=WORDLESS, say="Which day?"), []),
        (graph(prompt=SPOKEN[0], **variable("day")), []),
        (graph(prompt=SPOKEN[0], **variable("is_new", "boolean")), []),
        (graph(prompt=SPOKEN[0], **variable("complaint", prompt="What went wrong")), [("free_text", "limited")]),
        (graph(prompt=SPOKEN[0], tool_uuids=["lookup"]), [("tools", "limited")]),
        (
            graph(edge("a", "e", "Done"), edge("a", "s", "Again"), prompt=SPOKEN[0]),
            [("no_examples", "limited")],
        ),
        (
            graph(edge("a", "e", "Done", examples=["That was all."]),
                  edge("a", "s", "Again", examples=["Once more. " * 4000]), prompt=SPOKEN[0]),
            [("long_edges", "limited")],
        ),
        (graph(prompt=SPOKEN[0] + " Be kind." * 5000), [("long_prompt", "limited")]),
    ],
)  # fmt: skip
def test_what_a_step_needs(raw: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert reasons(raw) == expected


def test_an_agent_in_another_language_needs_a_model_everywhere() -> None:
    steps = find_offline_steps(parse_graph(simple(greeting=SPANISH)))
    assert {step.mode for step in steps} == {"needs_model"}


@pytest.mark.parametrize("template_id", TEMPLATE_IDS)
def test_the_catalog_runs_offline(template_id: str) -> None:
    steps = find_offline_steps(parse_graph(load_template(template_id).definition))
    assert [(step.name, step.reasons) for step in steps if step.mode == "needs_model"] == []


@pytest.mark.parametrize("prompt", [WORDLESS, *SPOKEN])
async def test_the_offline_model_says_what_is_promised(prompt: str) -> None:
    """A step that needs a model gets a sentence that fits any step; the others get one of their prompt."""
    hint = NodeHint("a", "Step", "agentNode", prompt, entered=True)
    request = LlmRequest([LlmMessage("system", prompt), LlmMessage("user", "hello")], hint=hint)
    said = "".join([piece.text async for piece in BuiltinLlm().stream(request) if isinstance(piece, TextDelta)])
    assert (said == "How can I help you with that?") == (not can_open_node("agentNode", prompt))


async def test_the_validation_has_it(client: AsyncClient, org: OrgFixture) -> None:
    made = await client.post(
        "/workflow/create/definition",
        json={"name": "Front desk", "workflow_definition": graph(prompt=WORDLESS)},
        headers=org.owner_headers,
    )
    assert made.status_code == 200, made.text
    report = (await client.post(f"/workflow/{made.json()['id']}/validate", headers=org.owner_headers)).json()
    assert report["can_run_offline"] is False
    modes = {step["node_id"]: step["mode"] for step in report["offline"]}
    assert (modes["s"], modes["a"], modes["e"]) == ("runs", "needs_model", "runs")
