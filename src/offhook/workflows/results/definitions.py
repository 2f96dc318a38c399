"""The definition of results, success criteria and summaries in an agent's settings (``call_analysis``)."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import ConfigDict, Field, StringConstraints, ValidationError, model_validator

from offhook.kit.schema import Schema

SETTING: Final = "call_analysis"
MAX_RESULT_CHARS: Final = 40
MAX_RESULTS: Final = 12
MAX_CRITERIA: Final = 10
MAX_RULES: Final = 10

ResultName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_RESULT_CHARS)]
CriterionName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
Description = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]
RuleText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class _StrictModel(Schema):
    model_config = ConfigDict(extra="forbid")


class CallRule(_StrictModel):
    """One fact of a call. ``name`` is a variable, the id or the name of a node, the id of an edge, or an end reason.

    ``values`` belong to variables: ``is`` and ``contains`` match if one of them fits, ``is_not`` if none does.
    """

    check: Literal["variable", "node", "edge", "end_reason"]
    name: RuleText
    operator: Literal["is", "is_not", "contains", "is_set", "is_not_set"] = "is"
    values: list[RuleText] = Field(default_factory=list, max_length=20)

    @model_validator(mode="after")
    def _check_operator(self) -> Self:
        if self.check != "variable":
            if self.operator not in {"is", "is_not"} or self.values:
                raise ValueError("node, edge and end_reason take the operator is or is_not, and no values.")
        elif (self.operator in {"is_set", "is_not_set"}) == bool(self.values):
            raise ValueError("is, is_not and contains need values; is_set and is_not_set take none.")
        return self


class _RuledDefinition(_StrictModel):
    """Without rules, only a language model decides, by name and description."""

    description: Description | None = None
    match: Literal["all", "any"] = "all"
    rules: list[CallRule] = Field(default_factory=list, max_length=MAX_RULES)


class ResultDefinition(_RuledDefinition):
    """A result such as "Booked". ``is_success`` null: neither a success nor a failure."""

    name: ResultName
    is_success: bool | None = None


class CriterionDefinition(_RuledDefinition):
    """What a good call does, such as "The caller's name was asked"."""

    name: CriterionName


class CallAnalysis(_StrictModel):
    """A call has the first of ``results`` that fits, and is a success when it meets all ``criteria``; without criteria,
    when its result is one."""

    write_summary: bool = False
    results: list[ResultDefinition] = Field(default_factory=list, max_length=MAX_RESULTS)
    criteria: list[CriterionDefinition] = Field(default_factory=list, max_length=MAX_CRITERIA)

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for names in ([one.name for one in self.results], [one.name for one in self.criteria]):
            if len({name.casefold() for name in names}) < len(names):
                raise ValueError("Each result and each criterion needs a name of its own.")
        return self

    @property
    def needs_reading(self) -> bool:
        """Returns whether more is needed than the rules of results, which are decided when a call ends."""
        return self.write_summary or bool(self.criteria) or any(not one.rules for one in self.results)

    def find_result(self, name: str | None) -> ResultDefinition | None:
        return next((one for one in self.results if one.name == name), None)


def parse_call_analysis(configurations: Mapping[str, Any]) -> CallAnalysis:
    """Returns the definition in a version's settings; an empty one when there is none."""
    try:
        return CallAnalysis.model_validate(configurations.get(SETTING) or {})
    except ValidationError:  # settings that were stored by another version of Offhook
        return CallAnalysis()
