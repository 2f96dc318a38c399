"""Whatever JSON a client sends as a definition, it gets an answer and never a 500."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from offhook.workflows.nodes import KINDS
from tests.workflows.conftest import Editor
from tests.workflows.strategies import json_values

_fields = sorted({spec.name for kind in KINDS.values() for spec in kind.spec.properties})
_data = st.dictionaries(st.sampled_from(_fields), json_values, max_size=4) | json_values
_nodes = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["a", "b"]) | json_values,
        "type": st.sampled_from(sorted(KINDS)) | json_values,
        "data": _data,
    },
    optional={"position": json_values},
)
_ends = st.sampled_from(["a", "b", "c"]) | json_values
_edges = st.fixed_dictionaries({}, optional={"id": json_values, "source": _ends, "target": _ends, "data": _data})
_definitions = st.fixed_dictionaries(
    {"nodes": st.lists(_nodes | json_values, max_size=3), "edges": st.lists(_edges | json_values, max_size=3)}
)


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(raw=_definitions | json_values)
@pytest.mark.slow
async def test_create_validate_publish(editor: Editor, raw: Any) -> None:
    # not by the client's own encoder, which refuses NaN: a stranger's does not
    body = json.dumps({"name": "A", "workflow_definition": raw})
    created = await editor.post("/workflow/create/definition", content=body)
    assert created.status_code in (200, 422), created.text
    if created.status_code == 200:
        workflow_id = created.json()["id"]
        assert (await editor.post(f"/workflow/{workflow_id}/validate")).status_code == 200
        assert (await editor.publish(workflow_id)).status_code in (200, 409, 422)
        assert (await editor.get(f"/workflow/{workflow_id}/versions")).status_code == 200
