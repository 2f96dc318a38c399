"""The results of scenarios for people and for CI."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, tostring

from offhook.scenarios.engine.faults import ScenarioFault
from offhook.scenarios.engine.judging import ModelVerdict
from offhook.scenarios.engine.suite import ScenarioResult, SuiteResult

_UNSPEAKABLE = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "�")


def report_lines(result: SuiteResult) -> Iterator[str]:
    """Yields one line for each scenario, with the first thing that did not hold, and the sum."""
    for found in result.results:
        yield f"{'passed' if found.has_passed else 'FAILED'}  {found.name}"
        for fault in found.faults[:1]:
            yield f"        {_sentence_of(fault)}"
        yield from (f"        {_verdict_line(verdict)}" for verdict in found.verdicts)
    yield f"{result.agent}: {result.passed} of {len(result.results)} passed, hash {result.hash[:16]}"


def junit_xml(result: SuiteResult) -> bytes:
    """Returns the results in JUnit's format, as CI servers read it."""
    seconds = sum(_duration_of(found) for found in result.results)
    suite = Element(
        "testsuite",
        name=_clean(result.agent),
        tests=str(len(result.results)),
        failures=str(result.failed),
        errors="0",
        time=f"{seconds:.3f}",
    )
    for found in result.results:
        case = SubElement(
            suite, "testcase", classname=_clean(result.agent), name=found.name, time=f"{_duration_of(found):.3f}"
        )
        if found.faults:
            first = found.faults[0]
            failure = SubElement(case, "failure", type=first.code, message=_clean(first.message))
            failure.text = _clean("\n".join(_sentence_of(fault) for fault in found.faults))
        if found.verdicts:
            SubElement(case, "system-out").text = _clean("\n".join(map(_verdict_line, found.verdicts)))
    root = Element("testsuites")
    root.append(suite)
    xml: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _sentence_of(fault: ScenarioFault) -> str:
    where = f" in turn {fault.turn + 1}" if fault.turn is not None else ""
    return f"{fault.code}{where}: {fault.message}"


def _verdict_line(verdict: ModelVerdict) -> str:
    found = {True: "met", False: "not met", None: "not judged"}[verdict.has_passed]
    how = "recorded" if verdict.is_recorded else "live"
    model = verdict.model
    by = f" by {model.provider} {model.model}, {how}" if model is not None else ""
    quote = f" (“{verdict.quote}”)" if verdict.quote else ""
    return f"{found}{by}: “{verdict.criterion}”: {verdict.reason}{quote}"


def _duration_of(found: ScenarioResult) -> float:
    return found.played.duration_s if found.played is not None else 0.0


def _clean(text: str) -> str:
    # XML has no way to write them
    return text.translate(_UNSPEAKABLE)
