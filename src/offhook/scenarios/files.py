"""Scenarios as YAML: ``{scenarios: [...]}``. JSON is read too.

Only what JSON knows is special: ``yes``, ``no``, ``11:30`` and ``007`` are words, as callers say them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml
from pydantic import ValidationError

from offhook.kit.json_values import JsonObject
from offhook.scenarios.definition import MAX_SCENARIOS, Scenario
from offhook.scenarios.errors import ScenarioIssue, ScenariosInvalid

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 40
# Of mappings, lists, keys and words. Our own templates have one in 10 bytes.
MAX_VALUES: Final = 250_000
MAX_KEY: Final = 1000
# Every directive is compared with all before it.
_MAX_TAG_DIRECTIVES: Final = 20
# The first 100 issues are shown.
_MAX_MISTAKES: Final = 1000
_MAPPING: Final = "tag:yaml.org,2002:map"
_Path = tuple[str | int, ...]
_WORDS: Final = {"": None, "~": None, "null": None, "true": True, "false": False}
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+([eE][-+][0-9]+)?")


def read_scenarios(text: str | bytes) -> tuple[Scenario, ...]:
    """Reads a file. Raises ScenariosInvalid, which names every field that is wrong."""
    data = text.encode() if isinstance(text, str) else text
    if len(data) > MAX_BYTES:
        raise _refused("file_too_large", "a file of scenarios is limited to 1 MB")
    try:
        root = _compose(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise _refused("not_text", "the file is not UTF-8 text") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it is not YAML"
        raise _refused("yaml_invalid", f"the file cannot be read{where}: {problem}") from None
    value = None if root is None else _construct(root, ())
    if isinstance(value, dict) and set(value) == {"scenarios"}:
        value = value["scenarios"]
    if not isinstance(value, list):
        raise _refused("scenarios_missing", "the file must hold a list under the key 'scenarios', and no other keys")
    return parse_scenarios(value)


def parse_scenarios(raw: Sequence[Any]) -> tuple[Scenario, ...]:
    """Checks scenarios that are plain JSON. Raises ScenariosInvalid."""
    if len(raw) > MAX_SCENARIOS:
        raise _refused("too_many_scenarios", f"an agent is limited to {MAX_SCENARIOS} scenarios")
    found: list[Scenario] = []
    issues: list[ScenarioIssue] = []
    seen: dict[str, int] = {}
    for index, item in enumerate(raw):
        path = f"scenarios[{index}]"
        try:
            scenario = Scenario.model_validate(item)
        except ValidationError as error:
            issues += _issues_of(path, error)
            if len(issues) > _MAX_MISTAKES:
                break
            continue
        first = seen.setdefault(scenario.name, index)
        if first != index:
            issues.append(
                ScenarioIssue(f"{path}.name", "name_taken", f"{scenario.name!r} is the name of scenarios[{first}] too")
            )
        found.append(scenario)
    if issues:
        raise ScenariosInvalid(tuple(issues))
    return tuple(found)


def scenario_as_json(scenario: Scenario) -> JsonObject:
    """Returns a scenario without what is default; a turn that only says something is a string."""
    plain: JsonObject = scenario.model_dump(mode="json", exclude_defaults=True)
    caller: Any = plain["caller"]
    if "turns" in caller:
        caller["turns"] = [turn["say"] if set(turn) == {"say"} else turn for turn in caller["turns"]]
    return plain


def write_scenarios(scenarios: Sequence[Scenario]) -> str:
    """Returns the YAML from which :func:`read_scenarios` makes the same scenarios."""
    value = {"scenarios": [scenario_as_json(scenario) for scenario in scenarios]}
    text: str = yaml.dump(value, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=110)
    return text


def _compose(text: str) -> yaml.Node | None:
    if text.count("%TAG") > _MAX_TAG_DIRECTIVES:
        raise _refused("yaml_tag", f"more than {_MAX_TAG_DIRECTIVES} tag directives (%TAG) are not allowed")
    depth = values = 0
    # counted while it is read: the time that the reader takes grows with the square of the depth
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if not isinstance(event, yaml.NodeEvent):
            continue
        values += 1
        if isinstance(event, yaml.AliasEvent):
            # a few lines of them stand for gigabytes
            raise _refused("yaml_alias", f"aliases (*{event.anchor}) are not allowed; write the value again")
        if depth > MAX_DEPTH:
            line = 1 + event.start_mark.line if event.start_mark is not None else 1
            raise _refused("nested_too_deeply", f"line {line} is nested more than {MAX_DEPTH} deep")
        if values > MAX_VALUES:
            raise _refused("too_many_values", f"a file of scenarios is limited to {MAX_VALUES} keys and values")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
    root: yaml.Node | None = yaml.compose(text, Loader=yaml.CSafeLoader)
    return root


def _construct(node: yaml.Node, path: _Path) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_construct(item, (*path, index)) for index, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        if node.tag != _MAPPING:
            raise _refused("yaml_tag", f"the tag {node.tag} is not allowed", _show_path(path))
        made: dict[str, Any] = {}
        for key, value in node.value:
            name = _name_of(key, path)
            where = (*path, name)
            if name in made:
                line = key.start_mark.line + 1
                raise _refused("key_twice", f"line {line} gives the key {name!r} a second time", _show_path(where))
            made[name] = _construct(value, where)
        return made
    return _plain_value(node)


def _name_of(key: yaml.Node, path: _Path) -> str:
    line = key.start_mark.line + 1
    if not isinstance(key, yaml.ScalarNode):
        raise _refused("key_not_text", f"line {line} has a list or a mapping as a key", _show_path(path))
    name = str(key.value)
    if len(name) > MAX_KEY:
        # every issue of what is below would name it
        raise _refused("key_too_long", f"line {line} has a key of more than {MAX_KEY} characters", _show_path(path))
    return name


def _show_path(path: _Path) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _plain_value(node: yaml.Node) -> Any:
    text = str(node.value)
    is_quoted = isinstance(node, yaml.ScalarNode) and bool(node.style)
    if is_quoted or not node.tag.startswith("tag:yaml.org,2002:"):
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text) and len(text) < 19:
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _issues_of(path: str, error: ValidationError) -> list[ScenarioIssue]:
    count = error.error_count()
    if count > _MAX_MISTAKES:
        # a list of half a million wrong turns: naming each takes seconds in which no other thread runs
        return [ScenarioIssue(path, "too_many_mistakes", f"{count} values of this scenario are wrong")]
    return [_issue_of(path, fault) for fault in error.errors(include_url=False)]


def _issue_of(path: str, fault: Mapping[str, Any]) -> ScenarioIssue:
    message = str(fault["msg"]).removeprefix("Value error, ")
    return ScenarioIssue(_show_path((path, *fault["loc"])), str(fault["type"]), message[:1].lower() + message[1:])


def _refused(code: str, message: str, path: str = "") -> ScenariosInvalid:
    return ScenariosInvalid((ScenarioIssue(path, code, message),))
