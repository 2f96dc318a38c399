"""What the offline agent says when words were recognized and not understood."""

from offhook.models.ports import EdgeHint, LlmMessage
from tests.models.test_builtin_llm import answer, node


async def test_keys_are_offered_after_two_misses() -> None:
    red = EdgeHint("red", "rot-label", "The caller likes red.", ("red",), digits="1")
    blue = EdgeHint("blue", "blau-label", "The caller likes blue.", ("blue please",), digits="2")
    history = [LlmMessage("assistant", "Which one?")]
    for _ in range(3):
        history.append(LlmMessage("user", "bananas"))
        text, _ = await answer(node(red, blue), *history)
        history.append(LlmMessage("assistant", text))
    assert text == "I still didn't catch that. You can also press a key: 1 for red or 2 for blue please."


async def test_days_that_can_be_said_are_written_as_days() -> None:
    weekday = EdgeHint("weekday", "a weekday", "The caller names a day.", ("tuesday",))
    person = EdgeHint("person", "talk to a person", "The caller wants a person.", ("talk to a person",))
    history = [LlmMessage("assistant", "Which day?")]
    for _ in range(2):
        history.append(LlmMessage("user", "bananas"))
        text, _ = await answer(node(weekday, person), *history)
        history.append(LlmMessage("assistant", text))
    assert text == "I'm sorry, I'm not sure I understood. You can say: Tuesday or talk to a person."
