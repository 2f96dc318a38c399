"""Measures whole conversations by voice with the offline agent: its ears, its mind and its voice in calls on virtual time.

    python -m bench.spoken_conversations [--models FOLDER] [--verbose]

Callers speak with espeak-ng over a telephone band with noise; they correct themselves, decline, ask and fall silent. They say
each sentence once, whatever the agent understood. Prints for each agent how many calls end where they should, and how many
entered a step that is against what was said. The same build of espeak-ng gives the same figures.
"""

import argparse
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pydantic import TypeAdapter

from offhook.scenarios.definition import Scenario
from offhook.scenarios.engine.player import PlayedScenario
from offhook.scenarios.engine.suite import MakeLlm, run_scenario
from offhook.scenarios.offline import build_offline_model
from offhook.scenarios.sound.offline_recognizer import OfflineListener
from offhook.scenarios.sound.player import SoundPlayer
from offhook.scenarios.templates import build_template_agent
from offhook.voice import events
from offhook.workflows.catalog.templates import load_template

CONVERSATIONS: Final = Path(__file__).parents[1] / "tests" / "data" / "conversations_by_voice.json"
AGENTS: Final = ("appointment_booking", "order_status", "survey")
# A scenario must expect something; what comes of these is judged here.
_NEVER_SAID: Final = "technical trouble"


@dataclass(frozen=True, slots=True)
class SpokenConversation:
    """What a caller says; a number is a silence in seconds. ``node``: where the call may stand at its end; ``never``: steps
    against what was said; ``variables``: patterns of the values that were taken down."""

    agent: str
    voice: str
    kind: str
    turns: tuple[str | int, ...]
    node: tuple[str, ...]
    never: tuple[str, ...]
    variables: dict[str, str]


@dataclass(frozen=True, slots=True)
class HeldConversation:
    """What came of a conversation."""

    conversation: SpokenConversation
    played: PlayedScenario

    @property
    def is_harmful(self) -> bool:
        return not set(self.conversation.never).isdisjoint(self.played.nodes)

    @property
    def is_understood(self) -> bool:
        kept = self.played.variables
        wanted = self.conversation.variables.items()
        has_values = all(re.search(pattern, str(kept.get(name, "")), re.IGNORECASE) for name, pattern in wanted)
        return not self.is_harmful and self.played.nodes[-1] in self.conversation.node and has_values

    def lines(self) -> Iterator[str]:
        for event in self.played.journal:
            if event.type in (events.CALLER_SAID, events.AGENT_SAID):
                yield f"    {'caller' if event.type == events.CALLER_SAID else 'agent'}: {event.data['text']}"


def read_conversations(agent: str) -> list[SpokenConversation]:
    rows = TypeAdapter(list[SpokenConversation]).validate_json(CONVERSATIONS.read_bytes())
    return [row for row in rows if row.agent == agent]


@contextmanager
def open_player() -> Iterator[SoundPlayer]:
    """Yields what plays calls in which the offline recognizer listens."""
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        listener = stack.enter_context(closing(OfflineListener()))
        yield stack.enter_context(closing(SoundPlayer(Path(folder), listener.recognize_speech)))


def hold_conversation(player: SoundPlayer, conversation: SpokenConversation, make_llm: MakeLlm) -> HeldConversation:
    """Holds one call with the agent of the catalog."""
    turns = [{"silence_s": turn} if isinstance(turn, int) else {"say": turn} for turn in conversation.turns]
    scenario = Scenario.model_validate(
        {
            "name": conversation.kind,
            "caller": {"turns": turns, "manner": {"voice": conversation.voice}},
            "expect": {"never_says": [_NEVER_SAID]},
        }
    )
    agent = build_template_agent(load_template(conversation.agent))
    result = run_scenario(agent, scenario, make_llm, 0, play=player.play_call)
    if result.played is None:
        raise RuntimeError(f"a call was not held: {result.faults}")
    return HeldConversation(conversation, result.played)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, help="the folder that keeps the prepared offline model")
    parser.add_argument("--verbose", action="store_true", help="print what was said and heard")
    given = parser.parse_args()
    with TemporaryDirectory() as folder, open_player() as player:
        make_llm = build_offline_model(given.models or Path(folder))
        print("| agent | understood | harmful |\n|---|---|---|")
        for agent in AGENTS:
            held = [hold_conversation(player, conversation, make_llm) for conversation in read_conversations(agent)]
            understood, harmful = sum(one.is_understood for one in held), sum(one.is_harmful for one in held)
            print(f"| {agent} | {understood} of {len(held)} | {harmful} |", flush=True)
            for one in held if given.verbose else ():
                print(
                    f"  {one.conversation.kind}, {'right' if one.is_understood else 'not understood'}",
                    *one.lines(),
                    sep="\n",
                )


if __name__ == "__main__":
    main()
