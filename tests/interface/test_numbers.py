"""True and false are no numbers, although Python takes them for 1 and 0: tried over every body that the API takes."""

from collections.abc import Iterator
from typing import Any, get_args

from fastapi import FastAPI
from pydantic import BaseModel, ValidationError

from tests.orgs.test_every_change import routes

_NUMBERS = ("integer", "number")


def models_in(annotation: Any, seen: set[type[BaseModel]]) -> None:
    """Every model that an annotation leads to."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation not in seen:
            seen.add(annotation)
            for field in annotation.model_fields.values():
                models_in(field.annotation, seen)
        return
    for part in get_args(annotation):
        models_in(part, seen)


def bodies(app: FastAPI) -> set[type[BaseModel]]:
    found: set[type[BaseModel]] = set()
    for route in routes(app).values():
        for parameter in route.dependant.body_params:
            models_in(parameter.field_info.annotation, found)
    return found


def numbers(model: type[BaseModel]) -> Iterator[str]:
    """Names of the fields that are numbers by their schema, as themselves or beside null."""
    for name, shown in model.model_json_schema(by_alias=False).get("properties", {}).items():
        kinds = [shown, *shown.get("anyOf", ())]
        if any(kind.get("type") in _NUMBERS for kind in kinds) and not any(
            kind.get("type") in ("boolean", None) for kind in kinds if kind is not shown
        ):
            yield name


def takes_true(model: type[BaseModel], name: str) -> bool:
    try:
        model.__pydantic_validator__.validate_assignment(model.model_construct(), name, True)
    except ValidationError as error:
        return not any(problem["loc"][:1] == (name,) for problem in error.errors())
    return True


def test_no_body_takes_true_for_a_number(app: FastAPI) -> None:
    found = [(model, name) for model in bodies(app) for name in numbers(model)]
    assert len(found) > 60
    assert sorted(f"{model.__name__}.{name}" for model, name in found if takes_true(model, name)) == []
