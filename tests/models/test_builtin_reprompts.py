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
