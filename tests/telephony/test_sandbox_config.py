"""Which phone a sandbox number is."""

from collections import Counter
from typing import Any

import pytest
from pydantic import ValidationError

from offhook.telephony.providers.sandbox.config import SandboxConfig


class TestBehaviors:
    def test_the_nine_numbers_have_their_own_whatever_the_mix(self) -> None:
        config = SandboxConfig.model_validate({"mix": {"silent": 1}})

        assert [config.behavior_of(f"+1201555010{digit}") for digit in range(1, 10)] == [
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

    def test_every_other_number_talks_by_default(self) -> None:
        assert {SandboxConfig().behavior_of(f"+1415555{n:04d}") for n in range(200)} == {"talks"}

    def test_a_mix_is_kept_over_many_numbers(self) -> None:
        config = SandboxConfig.model_validate({"mix": {"talks": 0.7, "busy": 0.2, "no_answer": 0.1}})
        found = Counter(config.behavior_of(f"+1415555{n:04d}") for n in range(3000))

        assert found["talks"] == pytest.approx(2100, rel=0.1)
        assert found["busy"] == pytest.approx(600, rel=0.2)
        assert found["no_answer"] == pytest.approx(300, rel=0.25)

    def test_a_number_keeps_its_behavior_until_the_seed_changes(self) -> None:
        mix = {"mix": {"talks": 1, "busy": 1}}
        one, same, other = (SandboxConfig.model_validate({**mix, "seed": seed}) for seed in (1, 1, 2))
        numbers = [f"+1415555{n:04d}" for n in range(50)]

        assert [one.behavior_of(n) for n in numbers] == [same.behavior_of(n) for n in numbers]
        assert [one.behavior_of(n) for n in numbers] != [other.behavior_of(n) for n in numbers]

    def test_a_weight_of_nothing_is_never_chosen(self) -> None:
        config = SandboxConfig.model_validate({"mix": {"voicemail": 0, "talks": 1, "asks_for_person": 0}})

        assert {config.behavior_of(f"+1415555{n:04d}") for n in range(200)} == {"talks"}


@pytest.mark.parametrize(
    "config",
    [
        {"mix": {}},
        {"mix": {"talks": 0}},
        {"mix": {"sings": 1}},
        {"mix": {"talks": -1}},
        {"mix": {"talks": float("inf")}},
        {"mix": "talks"},
        {"ring_s": -1},
        {"from_number": "911"},
        {"unknown": 1},
    ],
)
def test_a_wrong_configuration_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SandboxConfig.model_validate(config)
