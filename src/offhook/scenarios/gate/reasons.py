"""One reason not to publish. Pure."""

from dataclasses import dataclass

from offhook.kit.json_values import JsonObject


@dataclass(frozen=True, slots=True)
class GateReason:
    """One reason not to publish. ``scenario`` and ``turn`` say where to look in a failed call."""

    code: str
    message: str
    kind: str | None = None
    id: str | None = None
    scenario: str | None = None
    turn: int | None = None

    def as_json(self) -> JsonObject:
        return {
            "code": self.code,
            "message": self.message,
            "kind": self.kind,
            "id": self.id,
            "scenario": self.scenario,
            "turn": self.turn,
        }
