"""The offline agent, one turn at a time: what it says and which way it goes for what the caller says."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offhook.models.ports import (
    EdgeHint,
    LlmEvent,
    LlmMessage,
    LlmRequest,
    LlmUsage,
    ModelRef,
    NodeHint,
    TextDelta,
    ToolCall,
    ToolCalled,
    ToolHint,
    ToolSpec,
)
from offhook.models.providers.builtin.llm import BuiltinLlm

SALES = EdgeHint("sales", "sales", "The caller wants to buy something or asks for a price.")
SUPPORT = EdgeHint("support", "technical support", "Something is broken or does not work.", ("my internet is down",))
PERSON = EdgeHint("person", "talk to a person", "The caller wants a human.")
YES = EdgeHint("yes", "go on", "The caller agrees.", ("yes", "sure"))
NO = EdgeHint("no", "stop", "The caller does not want to go on.", ("no", "no thank you"))
ORDER = ToolHint(
    "order_status",
    "Looks an order up.",
    ("where is my order", "track my order"),
    {
        "type": "object",
        "properties": {"order_number": {"type": "string", "description": "the order number"}},
        "required": ["order_number"],
    },
)
BALANCE = ToolHint("balance", "The caller's balance.", ("what is my balance", "how much do I have"))


def node(*edges: EdgeHint, tools: tuple[ToolHint, ...] = (), **given: Any) -> NodeHint:
    fields: dict[str, Any] = {"kind": "agentNode", "prompt": "", "entered": False, "say_text": "What can I do for you?"}
    return NodeHint("n", "Node", edges=edges, tools=tools, **{**fields, **given})


def request(hint: NodeHint, *history: LlmMessage) -> LlmRequest:
    names = [*(edge.tool for edge in hint.edges), *(tool.name for tool in hint.tools)]
    return LlmRequest([LlmMessage("system", hint.prompt), *history], [ToolSpec(name, "") for name in names], hint=hint)


async def answer(hint: NodeHint, *history: LlmMessage | str) -> tuple[str, ToolCall | None]:
    """Text and call; strings are what the caller said after the node's question."""
    messages: list[LlmMessage] = []
    for entry in history:
        if isinstance(entry, str):
            messages += [LlmMessage("assistant", hint.say_text or ""), LlmMessage("user", entry)]
        else:
            messages.append(entry)
    events = await run(request(hint, *messages))
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    return text, next((event.call for event in events if isinstance(event, ToolCalled)), None)


async def run(asked: LlmRequest) -> list[LlmEvent]:
    return [event async for event in BuiltinLlm().stream(asked)]


async def way(hint: NodeHint, said: str) -> str | None:
    _, call = await answer(hint, said)
    return call.name if call else None


class TestEntering:
    @pytest.mark.parametrize(
        ("prompt", "said"),
        [
            ('Greet the caller. Say: "Welcome to the zoo, may I help?" Be kind.', "Welcome to the zoo, may I help?"),
            ("You are Max. Ask the caller for their date of birth.", "Could you please tell me your date of birth?"),
            ("Ask what the customer wants to eat.", "What do you want to eat?"),
            ("Tell the caller that the shop is closed.", "The shop is closed."),
        ],
    )
    async def test_a_prompt_without_a_sentence_of_its_own_is_turned_into_one(self, prompt: str, said: str) -> None:
        assert await answer(node(YES, NO, prompt=prompt, entered=True, say_text=None)) == (said, None)

    async def test_a_written_sentence_goes_first(self) -> None:
        hint = node(YES, prompt='Say "Something else."', entered=True, say_text="Good day to you.")
        assert (await answer(hint))[0] == "Good day to you."

    async def test_an_end_without_words_says_goodbye(self) -> None:
        text, call = await answer(node(kind="endCall", entered=True, say_text=None))
        assert "goodbye" in text.lower()
        assert call is None

    async def test_a_node_that_leads_on_by_itself_speaks_and_goes(self) -> None:
        hint = node(EdgeHint("next", "next", "always"), entered=True, say_text="One moment.")
        text, call = await answer(hint)
        assert (text, call.name if call else None) == ("One moment.", "next")

    async def test_words_come_one_by_one(self) -> None:
        events = await run(request(node(entered=True, say_text="Hello to you.")))
        assert events == [TextDelta("Hello "), TextDelta("to "), TextDelta("you."), LlmUsage(0, 0)]

    def test_it_is_named_in_usage_and_events(self) -> None:
        assert BuiltinLlm().model_ref == ModelRef("llm", "builtin", "rules")


class TestWays:
    @pytest.mark.parametrize(
        ("said", "taken"),
        [
            ("my internet is down", "support"),
            ("the router is broken", "support"),
            ("it doesn't work any more", "support"),
            ("I'd like to buy a router", "sales"),
            ("what does it cost", "sales"),
            ("could I speak to somebody please", "person"),
            ("give me a real person", "person"),
            ("bananas are yellow", None),
            ("hm", None),
        ],
    )
    async def test_by_label_condition_and_examples(self, said: str, taken: str | None) -> None:
        assert await way(node(SALES, SUPPORT, PERSON), said) == taken

    @pytest.mark.parametrize("said", ["yes", "Yeah, sure.", "okay", "that's right", "of course", "sounds good", "yup"])
    async def test_yes(self, said: str) -> None:
        assert await way(node(YES, NO), said) == "yes"

    @pytest.mark.parametrize("said", ["no", "Nope.", "not really", "no thanks", "I don't think so", "probably not"])
    async def test_no(self, said: str) -> None:
        assert await way(node(YES, NO), said) == "no"

    @pytest.mark.parametrize(("said", "taken"), [("yes", "owner"), ("no", "not_owner"), ("no I rent", "not_owner")])
    async def test_a_denied_fact_is_the_no(self, said: str, taken: str) -> None:
        owner = EdgeHint("owner", "owner", "The caller owns the house.")
        other = EdgeHint("not_owner", "not owner", "The caller does not own the house.")
        assert await way(node(owner, other), said) == taken

    @pytest.mark.parametrize(
        ("said", "taken"),
        [
            ("tuesday", "weekday"),
            ("next friday would be good", "weekday"),
            ("on saturday", "weekend"),
            ("at the weekend", "weekend"),
            ("yes", None),
            ("nine", None),
        ],
    )
    async def test_days(self, said: str, taken: str | None) -> None:
        weekday = EdgeHint("weekday", "a weekday", "The caller has named a day from Monday to Friday.")
        weekend = EdgeHint("weekend", "the weekend", "The caller asks for a Saturday or a Sunday.")
        assert await way(node(weekday, weekend), said) == taken

    @pytest.mark.parametrize(
        ("said", "taken"), [("five", "good"), ("4", "good"), ("I'd say a one", "bad"), ("nine", None)]
    )
    async def test_numbers_on_a_scale(self, said: str, taken: str | None) -> None:
        good = EdgeHint("good", "four or five", "Four or five stars.", ("four", "five"))
        bad = EdgeHint("bad", "one or two", "One or two stars.", ("one", "two"))
        assert await way(node(good, bad), said) == taken

    async def test_a_way_that_is_not_offered_is_not_taken(self) -> None:
        hint = node(YES, NO)
        asked = LlmRequest(
            [LlmMessage("assistant", "Shall we?"), LlmMessage("user", "yes")], [ToolSpec("no", "")], hint=hint
        )
        assert not [event for event in await run(asked) if isinstance(event, ToolCalled)]


class TestAskingAgain:
    async def test_in_different_words_each_time_and_never_with_a_label(self) -> None:
        hint = node(SALES, SUPPORT)
        history: list[LlmMessage] = [LlmMessage("assistant", "What can I do for you?")]
        said = []
        for _ in range(3):
            history.append(LlmMessage("user", "bananas"))
            text, call = await answer(hint, *history)
            assert call is None
            said.append(text)
            history.append(LlmMessage("assistant", text))
        assert len(set(said)) == 3
        assert all(text.endswith("What can I do for you?") for text in said)

    async def test_what_can_be_said_is_told_by_examples(self) -> None:
        red = EdgeHint("red", "rot-label", "The caller likes red.", ("I like red", "red"))
        blue = EdgeHint("blue", "blau-label", "The caller likes blue.", ("blue please",))
        first = await answer(node(red, blue), "bananas")
        asked = [
            LlmMessage("assistant", "Which one?"),
            LlmMessage("user", "bananas"),
            LlmMessage("assistant", first[0]),
        ]
        text, _ = await answer(node(red, blue), *asked, LlmMessage("user", "bananas"))
        assert text.endswith("You can say: I like red or blue please.")

    async def test_the_third_miss_in_a_row_leads_to_a_person(self) -> None:
        person = EdgeHint("person", "talk to a person", "The caller wants to talk to a person.")
        history: list[LlmMessage] = [LlmMessage("assistant", "What can I do for you?")]
        for _ in range(2):
            history.append(LlmMessage("user", "bananas"))
            text, call = await answer(node(SALES, person), *history)
            assert call is None
            history.append(LlmMessage("assistant", text))
        text, call = await answer(node(SALES, person), *history, LlmMessage("user", "bananas"))
        assert (text, call and call.name) == ("I'm sorry, I'm having trouble understanding you.", "person")

    @pytest.mark.parametrize("said", ["sorry?", "what was that", "can you repeat that please", "hello are you there"])
    async def test_who_did_not_hear_gets_the_question_again(self, said: str) -> None:
        assert await answer(node(SALES, SUPPORT), said) == ("What can I do for you?", None)

    @pytest.mark.parametrize("said", ["m0", "bananas", "my name is Ann", "yes", "tell me a joke", "on Monday"])
    async def test_the_only_way_is_no_way_out_for_words_that_do_not_mean_it(self, said: str) -> None:
        """A start with nothing but the way to the goodbye must not hang up on the first word."""
        leave = EdgeHint("done", "Done", "the caller wants to end the call", ("goodbye", "bye"))
        assert await way(node(leave), said) is None
        asked_twice = [LlmMessage("assistant", "What can I do for you?"), LlmMessage("user", said)] * 2
        assert (await answer(node(leave), *asked_twice))[1] is None
        named = node(leave, variables=({"name": "topic", "type": "string", "prompt": "The topic"},))
        assert await way(named, said) is None

    @pytest.mark.parametrize("said", ["goodbye", "ok bye", "that is all"])
    async def test_the_only_way_is_taken_by_words_that_mean_it(self, said: str) -> None:
        leave = EdgeHint("done", "Done", "the caller wants to end the call", ("goodbye", "bye"))
        assert await way(node(leave), said) == "done"

    @pytest.mark.parametrize(
        "condition",
        ["The person has answered", "After the caller responds", "The caller has told their name", "always"],
    )
    async def test_the_only_way_of_who_has_answered(self, condition: str) -> None:
        assert await way(node(EdgeHint("on", "Go on", condition)), "Ann Miller") == "on"

    async def test_the_only_way_of_an_answer_that_was_asked_for(self) -> None:
        on = EdgeHint("on", "Go on", "The day is known")
        asked = node(on, variables=({"name": "day", "type": "string", "prompt": "The day of the visit"},))
        assert await way(asked, "on Monday") == "on"

    async def test_the_way_for_everything_else_is_taken(self) -> None:
        other = EdgeHint("other", "something else", "Otherwise.")
        assert await way(node(SALES, other), "bananas are yellow") == "other"


class TestTools:
    @pytest.mark.parametrize(
        ("said", "number"),
        [
            ("four two seven one", "4271"),
            ("it's 4271", "4271"),
            ("(entered on the keypad) 4711", "4711"),
            ("where is my order double seven oh one", "7701"),
        ],
    )
    async def test_are_called_when_the_caller_said_what_they_need(self, said: str, number: str) -> None:
        _, call = await answer(node(tools=(ORDER,)), said)
        assert call is not None
        assert (call.name, call.arguments) == ("order_status", {"order_number": number})

    async def test_ask_for_what_is_missing(self) -> None:
        hint = node(SALES, tools=(ORDER, BALANCE))
        text, call = await answer(hint, "where is my order")
        assert (text, call) == ("Could you please tell me the order number?", None)

    async def test_without_parameters_are_called_when_asked_for(self) -> None:
        assert await way(node(SALES, tools=(ORDER, BALANCE)), "how much do I have") == "balance"

    @pytest.mark.parametrize(
        ("result", "said"),
        [
            ({"status": "shipped", "message": "Your order is on its way"}, "Your order is on its way."),
            ({"say": "It is there.", "summary": "Something else."}, "It is there."),
            ({"balance": 12.5, "currency": "euros"}, "Balance: 12.5, currency: euros."),
            ("All done", "All done."),
            (17, "The answer is 17."),
            ({}, "That is done."),
        ],
    )
    async def test_results_are_told_and_the_call_goes_on(self, result: object, said: str) -> None:
        text, call = await answer(node(SALES, tools=(BALANCE,)), *self.called(BALANCE, json.dumps(result)))
        assert text == f"{said} Is there anything else I can help you with?"
        assert call is None

    async def test_an_error_for_the_model_is_not_read_out(self) -> None:
        error = json.dumps({"error": "Ask the caller to say it again."})
        text, _ = await answer(node(tools=(ORDER,), say_text="Which order?"), *self.called(ORDER, error))
        assert text == "I'm sorry, that didn't work. Which order?"

    async def test_an_error_takes_the_way_that_is_meant_for_it(self) -> None:
        lost = EdgeHint("lost", "order not found", "The order was not found.")
        error = json.dumps({"error": "There is no order 1."})
        text, call = await answer(node(SALES, lost, tools=(ORDER,)), *self.called(ORDER, error))
        assert (text, call.name if call else None) == ("I'm sorry. There is no order 1.", "lost")

    async def test_a_result_is_told_once(self) -> None:
        history = self.called(BALANCE, '{"say": "You have ten."}')
        hint = node(SALES, tools=(BALANCE,))
        text, _ = await answer(hint, *history, LlmMessage("assistant", "You have ten."), LlmMessage("user", "bananas"))
        assert "ten" not in text

    @staticmethod
    def called(tool: ToolHint, result: str) -> list[LlmMessage]:
        call = ToolCall("c1", tool.name, {})
        return [
            LlmMessage("user", "please look"),
            LlmMessage("assistant", "", (call,)),
            LlmMessage("tool", result, tool_call_id="c1"),
        ]


class TestExtraction:
    @pytest.mark.parametrize(
        ("kind", "name", "prompt", "asked", "said", "value"),
        [
            ("string", "name", "The caller's name.", "What is your name?", "my name is alex morgan", "Alex Morgan"),
            ("string", "customer", "Full name of the caller", "Who is calling?", "It's Ann.", "Ann"),
            ("string", "day", "The day that was chosen.", "Which day?", "next friday please", "next Friday"),
            ("string", "time", "The time.", "What time?", "half past ten", "half past ten"),
            ("string", "order_number", "", "Your order number?", "four two seven one", "4271"),
            ("string", "email", "E-mail address", "Your e-mail?", "alex at example dot com", "alex@example.com"),
            ("string", "topic", "What was best.", "What was best?", "well it was the food.", "food"),
            ("number", "rating", "From 1 to 5.", "How do you rate it?", "four I'd say", 4),
            ("number", "rating", "From 1 to 5.", "How do you rate it?", "nine", None),
            ("number", "people", "How many people.", "How many people?", "twenty one", 21),
            ("boolean", "agreed", "True when they agree.", "Do you agree?", "yes please", True),
            ("boolean", "agreed", "True when they agree.", "Do you agree?", "I'd rather not", False),
            ("boolean", "agreed", "True when they agree.", "Do you agree?", "what?", None),
            ("boolean", "is_new", "True when they were not here before.", "Were you here before?", "yes", False),
            ("boolean", "is_new", "True when they were not here before.", "Were you here before?", "I am new", True),
            ("boolean", "is_new", "True for a new patient.", "Have you been here before?", "yes, I have", False),
            ("boolean", "is_new", "True for a new order.", "Is this a new order?", "yes please", True),
            ("boolean", "is_new", "True for a new order.", "Is this a new order?", "no", False),
            ("string", "reason", "Why they call.", "Why do you call?", "Do you have a parking lot?", None),
            ("string", "reason", "Why they call.", "Why do you call?", "A sink leaks. Have you time?", "sink leaks"),
        ],
    )
    async def test_values_by_type_and_prompt(
        self, kind: str, name: str, prompt: str, asked: str, said: str, value: object
    ) -> None:
        spoken = f"Agent: Hello, how are you?\nCaller: Fine.\nAgent: {asked}\nCaller: {said}"
        assert await self.extracted(spoken, {"name": name, "type": kind, "prompt": prompt}) == {name: value}

    async def test_the_question_decides_which_answer_it_is(self) -> None:
        spoken = "Agent: Do you like tea?\nCaller: No.\nAgent: Do you like coffee?\nCaller: Yes."
        tea = {"name": "likes_tea", "type": "boolean", "prompt": "True when they like tea."}
        coffee = {"name": "likes_coffee", "type": "boolean", "prompt": "True when they like coffee."}
        assert await self.extracted(spoken, tea, coffee) == {"likes_tea": False, "likes_coffee": True}

    async def test_what_was_not_said_is_null(self) -> None:
        variables = [{"name": kind, "type": kind, "prompt": ""} for kind in ("string", "number", "boolean")]
        assert await self.extracted("Agent: Hello?", *variables) == {"string": None, "number": None, "boolean": None}

    @staticmethod
    async def extracted(spoken: str, *variables: dict[str, Any]) -> dict[str, Any]:
        schema = {
            "type": "object",
            "properties": {v["name"]: {"type": [v["type"], "null"], "description": v["prompt"]} for v in variables},
        }
        asked = LlmRequest(
            [LlmMessage("system", "Answer in JSON."), LlmMessage("user", spoken)],
            response_schema=schema,
            hint=node(variables=variables),
        )
        (text, usage) = await run(asked)
        assert isinstance(text, TextDelta)
        assert usage == LlmUsage(0, 0)
        found: dict[str, Any] = json.loads(text.text)
        return found


class TestWhateverComes:
    @settings(max_examples=150)
    @given(
        said=st.lists(st.text(max_size=60), max_size=4),
        label=st.text(max_size=30),
        condition=st.text(max_size=60),
        prompt=st.text(max_size=120),
        entered=st.booleans(),
        kind=st.sampled_from(["startCall", "agentNode", "endCall"]),
    )
    async def test_there_is_always_an_answer_and_always_the_same(
        self, said: list[str], label: str, condition: str, prompt: str, entered: bool, kind: str
    ) -> None:
        hint = node(
            EdgeHint("a", label, condition, (label,)), YES, tools=(ORDER,), prompt=prompt, entered=entered, kind=kind,
            say_text=None,
        )  # fmt: skip
        text, call = await answer(hint, *said)
        assert text.strip() or call
        assert (text, call) == await answer(hint, *said)

    async def test_a_request_without_hints_is_answered_too(self) -> None:
        offered = [ToolSpec("book", "Go on when the caller wants to book a table."), ToolSpec("bye", "Says goodbye.")]
        history = [LlmMessage("assistant", "How can I help?"), LlmMessage("user", "I want to book a table")]
        (call, _) = await run(LlmRequest(history, offered))
        assert isinstance(call, ToolCalled)
        assert call.call.name == "book"
