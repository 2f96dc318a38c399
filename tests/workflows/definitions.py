"""Short ways to write a definition in a test; ids are s (start), a, b … (agents), e (end)."""

from typing import Any


def node(node_id: str, kind: str, **data: Any) -> dict[str, Any]:
    return {"id": node_id, "type": kind, "position": {"x": 0, "y": 0}, "data": {"name": f"Node {node_id}", **data}}


def start(node_id: str = "s", **data: Any) -> dict[str, Any]:
    return node(node_id, "startCall", **{"prompt": "Greet the caller.", **data})


def agent(node_id: str = "a", **data: Any) -> dict[str, Any]:
    return node(node_id, "agentNode", **{"prompt": "Help the caller.", **data})


def end(node_id: str = "e", **data: Any) -> dict[str, Any]:
    return node(node_id, "endCall", **{"prompt": "Say goodbye.", **data})


def global_node(prompt: str = "Be kind.", node_id: str = "g") -> dict[str, Any]:
    return node(node_id, "globalNode", prompt=prompt)


def trigger(path: str | None = None, node_id: str = "t", **data: Any) -> dict[str, Any]:
    return node(node_id, "trigger", **({"trigger_path": path} if path is not None else {}), **data)


def edge(source: str, target: str, label: str = "Go on", **data: Any) -> dict[str, Any]:
    return {
        "id": f"{source}-{target}",
        "source": source,
        "target": target,
        "data": {"label": label, "condition": f"The caller wants: {label}", **data},
    }


def definition(*nodes: dict[str, Any], edges: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {"nodes": list(nodes), "edges": edges or [], "viewport": {"x": 0, "y": 0, "zoom": 1}}


def simple(**start_data: Any) -> dict[str, Any]:
    """Start → agent → end: valid and without a warning."""
    return definition(start(**start_data), agent(), end(), edges=[edge("s", "a", "Begin"), edge("a", "e", "Finish")])
