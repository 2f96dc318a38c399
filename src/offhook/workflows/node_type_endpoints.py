"""The kinds of nodes over HTTP, as editors and SDKs read them."""

from offhook.kit.http.openapi import sdk_method
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg
from offhook.workflows.errors import NodeTypeNotFound
from offhook.workflows.nodes import KINDS
from offhook.workflows.nodes.spec import SPEC_VERSION, InstanceLimits, NodeSpec, NodeTypesResponse

router = Router(prefix="/node-types", tags=["workflows"])


@router.get(
    "",
    response_model=NodeTypesResponse,
    response_model_exclude_none=True,
    operation_id="list_node_types",
    openapi_extra=sdk_method("list_node_types", "List the kinds of nodes and their fields."),
)
async def list_node_types(org: CurrentOrg) -> NodeTypesResponse:
    offered = [kind for kind in KINDS.values() if kind.is_offered]
    return NodeTypesResponse(
        spec_version=SPEC_VERSION,
        node_types=[kind.spec for kind in offered],
        instance_limits={kind.name: kind.instances for kind in offered if kind.instances != InstanceLimits()},
    )


@router.get(
    "/{name}",
    response_model=NodeSpec,
    response_model_exclude_none=True,
    operation_id="get_node_type",
    openapi_extra=sdk_method("get_node_type", "Get one kind of node."),
)
async def get_node_type(name: str, org: CurrentOrg) -> NodeSpec:
    # Includes kinds hidden from editors: a stored agent may have one, and client libraries look up each node here.
    if name not in KINDS:
        raise NodeTypeNotFound
    return KINDS[name].spec
