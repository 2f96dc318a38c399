"""Validators of schemas are built when they are first used."""

from pydantic import TypeAdapter

from offhook.kit.schema import Schema


class Thing(Schema):
    size: int


def test_a_validator_waits_for_its_first_use() -> None:
    assert not Thing.__pydantic_complete__
    assert TypeAdapter(list[Thing]).validate_python([{"size": "3"}]) == [Thing(size=3)]
    assert Thing.__pydantic_complete__
