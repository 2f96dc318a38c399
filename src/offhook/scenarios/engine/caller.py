"""The caller of a scenario: says, presses and keeps silent by rule, or by a model. The seed decides what is left open."""

import random
from collections import Counter
from dataclasses import replace
from typing import Final

from offhook.kit.template import render_template
from offhook.scenarios.definition import CallerRule, CallerTurn, Scenario
from offhook.scenarios.engine.model_caller import ModelCaller
from offhook.scenarios.engine.moves import ScenarioMove
from offhook.scenarios.engine.outside_models import OutsideModels

_FILLERS: Final = ("Um, ", "Uh, ", "Well, ", "Er, ", "So, ")


class ScenarioCaller:
    """One caller. Equal scenarios and equal replies of the agent give equal moves; those of a model are from ``outside``."""

    def __init__(self, scenario: Scenario, seed: int, outside: OutsideModels | None = None) -> None:
        self._caller = scenario.caller
        self._random = random.Random(f"{scenario.name}/{scenario.seed}/{seed}")  # noqa: S311 - reproducible
        self._done = 0
        self._uses: Counter[int] = Counter()
        manner = self._caller.manner
        places = max(len(self._caller.turns), manner.wrong_answers)
        self._wrong_before = set(self._random.sample(range(places), manner.wrong_answers))
        self._asked = 0
        self._by_model: ModelCaller | None = None
        if scenario.caller.model is not None and outside is not None:
            self._by_model = ModelCaller(scenario, seed, outside)

    def next_move(self, node_id: str, reply: str) -> ScenarioMove | None:
        """Returns the answer to what the agent said; None when the caller has nothing left to do."""
        if self._by_model is None:
            return self._next_by_rule(node_id, reply)
        self._by_model.hear_agent(reply)
        move = self._next_by_rule(node_id, reply)
        if move is None and (move := self._by_model.choose_move()) is not None and move.say is not None:
            filler, sentence = self._hesitate(move.say)
            move = replace(move, say=sentence, filler=filler)
        if move is not None:
            self._by_model.add_move(move)
        return move

    def _next_by_rule(self, node_id: str, reply: str) -> ScenarioMove | None:
        act = self._next_act(node_id, reply)
        if act is None:
            return None
        if act.say is not None and self._asked in self._wrong_before:
            self._wrong_before.discard(self._asked)
            return ScenarioMove(say=self._random.choice(self._caller.manner.wrong_sentences))
        self._asked += 1
        turn, filler, sentence = None, "", None
        if act.say is not None:
            filler, sentence = self._sentence_of(act)
        if isinstance(act, CallerTurn):
            turn, self._done = self._done, self._done + 1
        else:
            self._uses[self._caller.rules.index(act)] += 1
        return ScenarioMove(
            say=sentence,
            press=act.press,
            silence_s=act.silence_s,
            hangs_up=act.hang_up,
            agent_says=act.agent_says if isinstance(act, CallerTurn) else None,
            turn=turn,
            filler=filler,
        )

    @property
    def may_interrupt(self) -> bool:
        """Returns whether a sentence of the turns comes next, which does not depend on what the agent says."""
        turns = self._caller.turns
        return self._done < len(turns) and turns[self._done].say is not None

    def _next_act(self, node_id: str, reply: str) -> CallerTurn | CallerRule | None:
        if self._done < len(self._caller.turns):
            return self._caller.turns[self._done]
        heard = reply.casefold()
        for index, rule in enumerate(self._caller.rules):
            fits = rule.at == node_id if rule.at is not None else str(rule.when_agent_says).casefold() in heard
            if fits and self._uses[index] < rule.times:
                return rule
        return None

    def _sentence_of(self, act: CallerTurn | CallerRule) -> tuple[str, str]:
        """Returns the filler that a sentence begins with, if any, and the whole sentence."""
        choices = act.one_of if isinstance(act, CallerRule) else ()
        return self._hesitate(
            render_template(self._random.choice(choices) if choices else str(act.say), self._caller.facts)
        )

    def _hesitate(self, sentence: str) -> tuple[str, str]:
        if self._random.random() >= self._caller.manner.hesitates:
            return "", sentence
        filler = self._random.choice(_FILLERS)
        return filler, filler + sentence[:1].lower() + sentence[1:]
