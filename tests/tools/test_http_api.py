"""What an HTTP tool sends and what the model is given to read."""

import asyncio
from typing import Any

import pytest

from offhook.tools import http_api
from offhook.tools.definitions import HttpApiConfig
from offhook.tools.errors import ToolCallFailed
from tests.fakes.web import Reply, egress_to_loopback, json_reply, local_server


def config(url: str = "https://shop.test/orders/{{order}}", **more: Any) -> HttpApiConfig:
    parameters = more.pop("parameters", [{"name": "order", "type": "string", "description": "The number."}])
    return HttpApiConfig.model_validate({"url": url, "parameters": parameters, **more})


def request(made: HttpApiConfig, given: dict[str, Any], context: dict[str, Any] | None = None) -> http_api.HttpRequest:
    arguments = http_api.resolve_arguments(made, given, context or {})
    return http_api.build_request(made, arguments, context or {}, {})


class TestArguments:
    def test_missing_is_named_with_its_description(self) -> None:
        with pytest.raises(ToolCallFailed, match=r"'order' is missing. The number."):
            request(config(), {})

    @pytest.mark.parametrize(
        ("kind", "given", "sent"),
        [
            ("number", "12", 12),
            ("number", 1.5, 1.5),
            ("boolean", "yes", True),
            ("boolean", False, False),
            ("object", '{"a": 1}', {"a": 1}),
            ("array", ["x"], ["x"]),
            ("string", 12, "12"),
        ],
    )
    def test_types(self, kind: str, given: Any, sent: Any) -> None:
        made = config("https://shop.test/", method="POST", parameters=[{"name": "value", "type": kind}])
        assert request(made, {"value": given}).body == {"value": sent}

    @pytest.mark.parametrize(
        ("kind", "given"),
        [
            ("number", "many"),
            ("number", "nan"),
            ("number", 10**400),
            ("array", "[" * 200 + "]" * 200),
            ("number", True),
            ("boolean", "perhaps"),
            ("object", "[1]"),
            ("array", "x"),
        ],
    )
    def test_wrong_types_are_told_to_the_model(self, kind: str, given: Any) -> None:
        with pytest.raises(ToolCallFailed, match=kind):
            request(config("https://shop.test/", method="POST", parameters=[{"name": "v", "type": kind}]), {"v": given})

    @pytest.mark.parametrize(
        ("kind", "given", "sent"),
        [
            ("string", "a\ud800b\0", "a?b"),
            ("array", '["\\ud800", NaN, 1e999]', ["?", None, None]),
            ("object", {"a\udfff": float("inf")}, {"a?": None}),
        ],
    )
    def test_what_cannot_be_sent_is_taken_out(self, kind: str, given: Any, sent: Any) -> None:
        made = config("https://shop.test/", method="POST", parameters=[{"name": "value", "type": kind}])
        assert request(made, {"value": given}).body == {"value": sent}

    def test_half_of_a_surrogate_pair_in_the_call_s_own_values(self) -> None:
        made = config(headers={"X-Name": "{{order}}"}, method="POST", body_template={"name": "{{name}}"})
        sent = request(made, {"order": "\ud800"}, {"name": "A\ud800", "order": "x"})
        assert (sent.url, sent.headers, sent.body) == (
            "https://shop.test/orders/%3F",
            {"X-Name": "?"},
            {"name": "A?"},
        )

    def test_presets_come_from_the_call_and_the_model_cannot_replace_them(self) -> None:
        made = config(
            "https://shop.test/",
            method="POST",
            preset_parameters=[
                {"name": "caller", "value_template": "{{initial_context.phone_number}}"},
                {"name": "source", "value_template": "phone"},
                {"name": "note", "value_template": "{{gathered_context.note}}", "required": False},
            ],
        )
        sent = request(made, {"order": "7", "caller": "+15550000", "x": "y"}, {"phone_number": "+14155550100"})
        assert sent.body == {"order": "7", "caller": "+14155550100", "source": "phone"}
        with pytest.raises(ToolCallFailed, match="'caller' is not available"):
            request(made, {"order": "7"})


class TestAddresses:
    def test_a_value_stays_within_its_part(self) -> None:
        made = config("https://shop.test/o/{{order}}/x?q={{ city | - }}&fixed=1")
        sent = request(made, {"order": "a/b?c#d&e=f %2e"}, {"city": "São Paulo&admin=1"})
        assert sent.url == "https://shop.test/o/a%2Fb%3Fc%23d%26e%3Df%20%252e/x?q=S%C3%A3o%20Paulo%26admin%3D1&fixed=1"

    @pytest.mark.parametrize("value", ["..", "."])
    def test_no_way_up(self, value: str) -> None:
        with pytest.raises(ToolCallFailed):
            request(config("https://shop.test/o/{{order}}/secret"), {"order": value})

    def test_what_the_address_does_not_use_becomes_the_query(self) -> None:
        made = config("https://shop.test/?a=1#top", parameters=[{"name": "b"}, {"name": "c", "type": "boolean"}])
        assert request(made, {"b": "x y&z", "c": True}).url == "https://shop.test/?a=1&b=x+y%26z&c=true#top"

    @pytest.mark.parametrize(
        "url",
        [
            "https://{{host}}/",
            "https://shop.test{{more}}/",
            "https://shop.test:{{port}}/",
            "{{url}}",
            "ftp://shop.test",
            "https://user:pass@shop.test/",
            "https://127.1/",
            "shop.test",
            "",
        ],
    )
    def test_a_variable_never_chooses_the_server(self, url: str) -> None:
        with pytest.raises(ValueError, match=r"address|host|credential|character"):
            config(url)


class TestBodies:
    def test_templates_keep_types_and_structure(self) -> None:
        made = config(
            "https://shop.test/",
            method="PUT",
            parameters=[{"name": "count", "type": "number"}, {"name": "tags", "type": "array"}],
            body_template={
                "n": "{{count}}",
                "nested": [{"tags": "{{ tags }}", "text": "{{count}} of {{first_name | somebody}}"}, 5, None],
            },
        )
        sent = request(made, {"count": 3, "tags": ["a"]}, {"first_name": '"}, {"admin": true'})
        assert sent.body == {"n": 3, "nested": [{"tags": ["a"], "text": '3 of "}, {"admin": true'}, 5, None]}

    def test_a_header_cannot_become_two(self) -> None:
        made = config(headers={"X-Name": "{{name}}"})
        assert request(made, {"order": "1"}, {"name": "Ann"}).headers == {"X-Name": "Ann"}
        with pytest.raises(ToolCallFailed, match="header"):
            request(made, {"order": "1"}, {"name": "Ann\r\nX-Admin: 1"})


class TestAnswers:
    async def ask(self, reply: Reply | Any, **more: Any) -> http_api.HttpResult:
        egress = egress_to_loopback("shop.test")
        async with local_server(reply) as server:
            self.server = server
            made = config(f"http://shop.test:{server.port}/{{{{order}}}}", **more)
            try:
                return await http_api.send_request(egress, made, request(made, {"order": "7"}))
            finally:
                await egress.aclose()

    async def test_json_and_text_and_nothing(self) -> None:
        assert (await self.ask(json_reply({"state": "sent"}))).data == {"state": "sent"}
        assert (await self.ask(Reply(body=b"it was sent"))).data == "it was sent"
        assert (await self.ask(Reply(204))).data is None

    @pytest.mark.parametrize("name", ["Zoë", "日本", "😀"])
    async def test_a_header_may_hold_any_text(self, name: str) -> None:
        await self.ask(Reply(), headers={"X-Name": name})
        assert self.server.seen[0].headers["x-name"].encode("latin-1").decode() == name

    @pytest.mark.parametrize(
        ("body", "data"),
        [
            (b'{"a": NaN, "b": 1e999, "c": "x\\u0000\\ud800"}', {"a": None, "b": None, "c": "x?"}),
            (b"[" * 300 + b"]" * 300, "[" * 300 + "]" * 300),
            (b"a\0b\xff", "ab\ufffd"),
        ],
    )
    async def test_an_answer_that_could_not_be_passed_on(self, body: bytes, data: Any) -> None:
        assert (await self.ask(Reply(body=body))).data == data

    async def test_mapping(self) -> None:
        reply = json_reply({"order": {"state": "sent", "items": [{"name": "lamp"}]}, "internal": "x"})
        mapping = {"state": "order.state", "first": "order.items.0.name", "gone": "a.b"}
        assert (await self.ask(reply, response_mapping=mapping)).data == {
            "state": "sent",
            "first": "lamp",
            "gone": None,
        }

    async def test_long_answers_are_cut(self) -> None:
        data = (await self.ask(json_reply({"text": "x" * 50_000}))).data
        assert data["truncated"]
        assert len(data["beginning"]) == http_api.MAX_RESULT_CHARS

    async def test_a_passing_failure_is_tried_again_where_that_is_safe(self) -> None:
        replies = [Reply(503), json_reply({"ok": True})]
        assert (await self.ask(lambda _: replies.pop(0))).status == 200
        for method in ("POST", "PATCH"):
            result = await self.ask(Reply(503, b"busy"), method=method)
            assert (result.status, len(self.server.seen)) == (503, 1)
            assert http_api.describe_failure(result) == "The service answered with status 503: busy"
        assert len(self.server.seen) == 1

    async def test_time_is_up(self) -> None:
        never = asyncio.Event()
        with pytest.raises(ToolCallFailed, match="did not respond"):
            await self.ask(Reply(after=never), timeout_ms=50)
        never.set()

    async def test_where_nothing_may_be_called(self) -> None:
        made = config("http://169.254.169.254/{{order}}")
        with pytest.raises(ToolCallFailed, match="not public"):
            await http_api.send_request(egress_to_loopback("shop.test"), made, request(made, {"order": "x"}))
