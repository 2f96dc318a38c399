"""What was heard of a version whose scenarios were played with sound, and what got worse than in the published one. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from offhook.kit.json_values import JsonObject
from offhook.scenarios.engine.suite import SuiteResult
from offhook.scenarios.gate.reasons import GateReason

# A voice begins each sentence with a silence of its own, so that another wording moves an answer by some hundredths.
MEAN_ANSWER_SLACK_MS: Final = 100
# The recognizer reports a word up to 0.48 s sooner or later, which shows once a conversation has gone another way.
ONE_ANSWER_SLACK_MS: Final = 500


@dataclass(frozen=True, slots=True)
class HeardAnswerPlace:
    """Where an answer was given: the scenario, the place in its turns (None: by a rule), and which answer there."""

    scenario: str
    turn: int | None
    number: int


@dataclass(frozen=True, slots=True)
class HeardSuite:
    """``answers_ms`` are the silences before the agent's answers; ``talk_overs`` how often it began while the caller
    spoke, by scenario. ``titles`` are those of the scenarios."""

    answers_ms: Mapping[HeardAnswerPlace, int]
    talk_overs: Mapping[str, int]
    titles: Mapping[str, str]

    def as_json(self) -> JsonObject:
        silences = self.answers_ms.values()
        return {
            "answers": len(silences),
            "mean_answer_ms": round(fmean(silences)) if silences else None,
            "max_answer_ms": max(silences, default=None),
            "talk_overs": sum(self.talk_overs.values()),
        }


def summarize_sound(suite: SuiteResult) -> HeardSuite | None:
    """Returns what was heard; None for scenarios that were played as text."""
    heard = [
        (result, result.played.sound)
        for result in suite.results
        if result.played is not None and result.played.sound is not None
    ]
    if not heard:
        return None
    answers: dict[HeardAnswerPlace, int] = {}
    for result, sound in heard:
        seen: Counter[int | None] = Counter()
        for answer in sound.answers:
            answers[HeardAnswerPlace(result.name, answer.turn, seen[answer.turn])] = answer.silence_ms
            seen[answer.turn] += 1
    return HeardSuite(
        answers,
        {result.name: len(sound.talk_overs) for result, sound in heard},
        {result.name: result.title for result, _ in heard},
    )


def find_slower_answers(draft: HeardSuite, published: HeardSuite) -> Iterator[GateReason]:
    """Yields a reason when the answers of both versions to the same turns take longer, in the mean or one by far."""
    pairs = {
        place: (now, published.answers_ms[place])
        for place, now in draft.answers_ms.items()
        if place in published.answers_ms
    }
    if not pairs:
        return
    mean_now, mean_before = (fmean(sides) for sides in zip(*pairs.values(), strict=True))
    place, (now, before) = max(pairs.items(), key=lambda pair: pair[1][0] - pair[1][1])
    if mean_now > mean_before + MEAN_ANSWER_SLACK_MS:
        message = f"Answers take {mean_now:.0f} ms on average; in the published version they take {mean_before:.0f} ms"
    elif now > before + ONE_ANSWER_SLACK_MS:
        title = draft.titles[place.scenario]
        message = f"{title}: an answer takes {now} ms; in the published version it takes {before} ms"
    else:
        return
    yield GateReason("answer_time_lost", message, scenario=place.scenario, turn=place.turn)


def find_more_talk_overs(draft: HeardSuite, published: HeardSuite) -> Iterator[GateReason]:
    """Yields a reason for each scenario in which the agent talks over the caller more often."""
    for scenario, now in draft.talk_overs.items():
        before = published.talk_overs.get(scenario)
        if before is not None and now > before:
            title = draft.titles[scenario]
            turns = "1 turn" if now == 1 else f"{now} turns"
            message = f"{title}: the agent talks over the caller in {turns}; in the published version in {before}"
            yield GateReason("talks_over_callers", message, scenario=scenario)
