"""Template variables, form by form."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook.kit.template import MAX_FILLED_CHARS, render_json
from offhook.workflows.template import TemplateVariable, find_variables, render_template
from tests.workflows.strategies import patient

NOON = datetime(2026, 1, 5, 12, 0, 0, tzinfo=UTC)  # a Monday


@pytest.mark.parametrize(
    ("text", "context", "rendered"),
    [
        ("Hi {{ name }}!", {"name": "Ada"}, "Hi Ada!"),
        ("Hi {{name}}!", {}, "Hi !"),
        ("Hi {{ name | there }}!", {}, "Hi there!"),
        ("Hi {{ name | there }}!", {"name": None}, "Hi there!"),
        ("Hi {{ name | there }}!", {"name": ""}, "Hi there!"),
        ("Hi {{ name | there }}!", {"name": "Ada"}, "Hi Ada!"),
        ("{{ n | 5 }}", {"n": 0}, "0"),
        ("{{ first_name | fallback:friend }}", {}, "friend"),
        ("{{ first_name | fallback }}", {}, "First Name"),
        ("{{ order.id }}", {"order": {"id": 7}}, "7"),
        ("{{ order.items.1 }}", {"order": {"items": ["a", "b"]}}, "b"),
        ("{{ order.id.deeper }}", {"order": {"id": 7}}, ""),
        ("{{ initial_context.city }}", {"city": "Oslo"}, "Oslo"),
        ("{{ initial_context.city }}", {"initial_context": {"city": "Rome"}, "city": "Oslo"}, "Rome"),
        ("{{ order }}", {"order": {"id": 7}}, '{"id": 7}'),
        ("{{ items }}", {"items": ["ä", 1]}, '["ä", 1]'),
        ("{{ First Name }}", {"First Name": "Ada"}, "Ada"),
        (r"one\ntwo", {}, "one\ntwo"),
        ("{ not } {{}} {{", {}, "{ not } {{}} {{"),
        ("{{ a }}", {"a": "{{ b }}", "b": "x"}, "{{ b }}"),
    ],
)
def test_variables_are_filled(text: str, context: dict[str, Any], rendered: str) -> None:
    assert render_template(text, context) == rendered


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("{{ current_time }}", "2026-01-05 12:00:00 UTC"),
        ("{{ current_weekday }}", "Monday"),
        ("{{ current_time_Asia/Tokyo }}", "2026-01-05 21:00:00 JST"),
        ("{{ current_weekday_Pacific/Auckland }}", "Tuesday"),
        ("{{ current_weekday }} {{ current_time_Asia/Tokyo }}", "Monday 2026-01-05 21:00:00 JST"),
        ("{{ current_time }} {{ current_weekday_America/New_York }}", "2026-01-05 07:00:00 EST Monday"),
        ("{{ current_time_Nowhere/Land | later }}", "later"),
    ],
)
def test_the_clock_is_built_in(text: str, rendered: str) -> None:
    assert render_template(text, {}, now=NOON) == rendered


def test_the_variables_of_a_text_are_listed() -> None:
    assert list(find_variables("{{ a }} {{ b.c | d }} {{ current_time }}")) == [
        TemplateVariable("a", None),
        TemplateVariable("b.c", "d"),
        TemplateVariable("current_time", None),
    ]
    assert [item.is_built_in for item in find_variables("{{ a }}{{ current_weekday_Europe/Oslo }}")] == [False, True]


@patient
@given(st.text(alphabet="{}|. \\nabcurent_tim/", max_size=60), st.dictionaries(st.text(max_size=3), st.integers()))
def test_any_text_is_rendered(text: str, context: dict[str, Any]) -> None:
    render_template(text, context, now=NOON)


class TestTooMuch:
    """A template can name a value of 60 kB a hundred thousand times."""

    def test_values_are_cut(self) -> None:
        rendered = render_template("a{{ x }}b{{ x }}c{{ y }}d", {"x": "x" * (MAX_FILLED_CHARS - 1), "y": "y"})
        assert rendered == "a" + "x" * (MAX_FILLED_CHARS - 1) + "bxcd"

    def test_what_is_cut_is_not_written_first(self) -> None:
        class Costly(dict[str, str]):
            asked = 0

            def __getitem__(self, key: str) -> str:
                self.asked += 1
                return super().__getitem__(key)

        context = Costly(x="x" * 1000)
        assert len(render_template("{{ x }}" * 10_000, context)) == MAX_FILLED_CHARS
        assert context.asked == MAX_FILLED_CHARS // 1000

    def test_a_whole_body_has_one_limit(self) -> None:
        body = render_json(
            ["{{ x }}", "n {{ x }}", "{{ x }}", "{{ n }}"], {"x": "x" * (MAX_FILLED_CHARS - 2), "n": 123}
        )
        assert body[1:] == ["n xx", "", ""]
        assert render_json(["{{ x }}", "{{ n }}", "{{ n }}"], {"x": "x" * (MAX_FILLED_CHARS - 4), "n": 123}) == [
            "x" * (MAX_FILLED_CHARS - 4),
            123,
            None,
        ]

    def test_less_room_where_it_is_asked_for(self) -> None:
        assert render_template("{{ x }}!", {"x": "abc"}, max_filled=2) == "ab!"
