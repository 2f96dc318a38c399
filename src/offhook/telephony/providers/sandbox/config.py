"""The behavior of each sandbox number, and an organization's settings for its simulated network."""

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import ConfigDict, Field, ValidationError, model_validator

from offhook.kit.schema import Schema
from offhook.telephony.errors import ConfigurationInvalid
from offhook.telephony.ports import ConfigSpec

NAME: Final = "sandbox"

Behavior = Literal[
    # in the order of their numbers, 01 to 09
    "talks",
    "busy",
    "no_answer",
    "voicemail",
    "hangs_up",
    "silent",
    "interrupts",
    "presses_keys",
    "asks_for_person",
]
BEHAVIORS: Final[tuple[Behavior, ...]] = get_args(Behavior)

# +1 201 555 0101 … 0109: numbers that the North American plan reserves for fiction.
_FIXED: Final = re.compile(r"\+120155501(0[1-9])")


class SandboxConfig(Schema):
    """``TelephonyConfiguration.config`` of the sandbox. ``mix`` weights the behaviors of all numbers without one of
    their own; times are in seconds.

    ``instant``: no media and no waiting, for load tests and big demonstrations. A call is answered at once and ended by
    script ``instant_call_s`` later; a busy or silent phone ends at once. ``calls_per_second`` limits how fast campaigns
    dial.
    """

    model_config = ConfigDict(extra="forbid")

    mix: dict[Behavior, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field({"talks": 1.0}, min_length=1)
    seed: int = 0
    ring_s: float = Field(default=1.5, ge=0, le=60)
    no_answer_after_s: float = Field(default=8.0, ge=0, le=120)
    instant: bool = False
    instant_call_s: float = Field(default=0.0, ge=0, le=600)
    calls_per_second: float | None = Field(default=None, gt=0, le=1000)
    from_number: str = Field(default="+12015550100", pattern=r"^\+[1-9]\d{6,14}$")

    @model_validator(mode="after")
    def _mix_has_weight(self) -> "SandboxConfig":
        if sum(self.mix.values()) <= 0:
            raise ValueError("mix needs at least one behavior with a weight above 0")
        return self

    def behavior_of(self, number: str) -> Behavior:
        """Returns the number's behavior, which stays the same until the seed or the mix changes."""
        fixed = _FIXED.fullmatch(number)
        if fixed:
            return BEHAVIORS[int(fixed.group(1)) - 1]
        digest = hashlib.sha256(f"{self.seed}:{number}".encode()).digest()
        point = int.from_bytes(digest[:8], "big") / 2**64 * sum(self.mix.values())
        chosen = None
        for behavior, weight in sorted(self.mix.items()):
            if weight > 0:
                chosen = behavior
                point -= weight
                if point < 0:
                    break
        assert chosen is not None
        return chosen


def validate_account(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of an account. Raises ConfigurationInvalid (422), which names every invalid one."""
    values = {name: value for name, value in raw.items() if name != "provider"}
    try:
        SandboxConfig.model_validate(values)
    except ValidationError as error:
        problems = [
            {"loc": ["body", "config", *problem["loc"]], "msg": problem["msg"], "type": problem["type"]}
            for problem in error.errors(include_input=False, include_url=False, include_context=False)
        ]
        raise ConfigurationInvalid(detail=problems) from None
    return values


CONFIG: Final = ConfigSpec("Sandbox", (), account_field="", validate=validate_account)
