"""Every fault of every vendor, each judged by all of: silence, tools, what was heard, usage. `bench.speech_faults` prints it."""

import pytest

from tests.voice.speech_to_speech.fault_call import NO_FAULT, Fault
from tests.voice.speech_to_speech.fault_list import FAULTS, cells
from tests.voice.speech_to_speech.fault_verdict import judge_fault
from tests.voice.speech_to_speech.spoken_call import GEMINI, NOVA, OPENAI, VENDORS, XAI, VendorKind

MIN_FAULTS = 25
# Four of each vendor, which differ, in `make test`; all of them in `make test-all`.
QUICK = {
    (OPENAI.provider, "connection lost in an answer"),
    (OPENAI.provider, "internal error after a result"),
    (OPENAI.provider, "first sound late"),
    (OPENAI.provider, "canceled late"),
    (GEMINI.provider, "away while a tool runs"),
    (GEMINI.provider, "stalled after a result"),
    (GEMINI.provider, "an answer unasked before an answer"),
    (GEMINI.provider, "turns end late"),
    (XAI.provider, "reset in a sentence"),
    (XAI.provider, "connection lost as the caller interrupts"),
    (XAI.provider, "refused cut without a name"),
    (XAI.provider, "canceled response never ends"),
    (NOVA.provider, "connection lost in the greeting"),
    (NOVA.provider, "arguments that are none"),
    (NOVA.provider, "a session's limit three times"),
    (NOVA.provider, "calls come twice"),
}


def _cell(kind: VendorKind, fault: Fault) -> object:
    marks = () if (kind.provider, fault.name) in QUICK else pytest.mark.slow
    return pytest.param(kind, fault, id=f"{kind.provider}: {fault.name}", marks=marks)


@pytest.mark.parametrize(("kind", "fault"), [_cell(*cell) for cell in cells(VENDORS)])
def test_a_caller_notices_no_fault(kind: VendorKind, fault: Fault) -> None:
    assert judge_fault(kind, fault).problems == []


def test_a_call_without_a_fault_is_the_same_twice(kind: VendorKind) -> None:
    first, second = judge_fault(kind, NO_FAULT), judge_fault(kind, NO_FAULT)

    assert first.problems == []
    assert first.trace == second.trace


def test_each_vendor_has_faults_of_many_names(kind: VendorKind) -> None:
    names = [fault.name for fault in FAULTS[kind.provider]]

    assert len(set(names)) == len(names) >= MIN_FAULTS
    assert {name for provider, name in QUICK if provider == kind.provider} <= set(names)
