"""Every kind of node, one module each."""

from typing import Final

from offhook.workflows.nodes import agent_node, end_call, global_node, integrations, qa, start_call, trigger, webhook
from offhook.workflows.nodes.spec import NodeKind

KINDS: Final[dict[str, NodeKind]] = {
    kind.name: kind
    for kind in (
        start_call.KIND,
        agent_node.KIND,
        end_call.KIND,
        global_node.KIND,
        trigger.KIND,
        webhook.KIND,
        qa.KIND,
        integrations.TUNER,
        integrations.NOVEUM,
        integrations.PAYGENT,
    )
}
