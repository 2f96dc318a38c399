"""Takes up the days and times that a caller names, refuses or corrects."""

import re
from collections.abc import Sequence
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import (
    arguments,
    edge_matching,
    edge_values,
    phrases,
)
from offhook.models.providers.builtin.edge_matching import EdgeMatch
from offhook.models.providers.builtin.english import offered_options, spoken_values
from offhook.models.providers.builtin.english.choices import drop_mentions
from offhook.models.providers.builtin.english.corrections import corrected_part, replace_part, values_in
from offhook.models.providers.builtin.english.numbers.ratings import changes_to_number, rating_in, says_it_again
from offhook.models.providers.builtin.english.utterance import CallerUtterance
from offhook.models.providers.builtin.english.words import word_tokens
from offhook.models.providers.builtin.turns.node_turn import MAX_EDGES_A_TURN, SURE_SCORE, RuleReply
from offhook.models.providers.builtin.turns.tool_turn import ToolTurn
from offhook.models.providers.builtin.value_kinds import kind_of
from offhook.models.spoken_text import join_choices

# No day yet: "could I come in sometime next week?"
_SPAN: Final = re.compile(r"^(?:some ?time )?(?:next|this|the (?:following|coming)) (?:week|month)$", re.IGNORECASE)
_ASKS_WHICH: Final = re.compile(r"\b(?:which|what|when|how soon|how long|or)\b")
_OFFERS_NEW: Final = re.compile(
    r"\b(?:new|another|different|other) (?:time|day|date|appointment|visit|slot|one)\b", re.IGNORECASE
)
# Of a telephone number, three digits can be a time.
MIN_SPOKEN_NUMBERS: Final = 5
# "my appointment on the ninth" is the one that there is, and no wish.
_OF_EXISTING: Final = re.compile(
    r"\bmy (?:\w+ )?(?:appointment|booking|visit|lesson|delivery|reservation)(?:'s| is| was| that is)? (?:on|for|at|this|next)\b(?!.*\b(?:to|instead|make it|rather|move)\b)",
    re.IGNORECASE,
)


class ValueTurn(ToolTurn):
    """A turn with values that a caller gives."""

    def _answered_ahead(self, said: CallerUtterance) -> RuleReply | None:
        """Handles "I would like an appointment on Tuesday": the day needs no question, unless it led to this node."""
        if self._tools or self._edges_since_heard() > MAX_EDGES_A_TURN or self._has_no_room(said):
            return None
        if len(spoken_values.all_numbers(said.heard)) >= MIN_SPOKEN_NUMBERS or _OF_EXISTING.search(said.heard):
            return None
        choice = self._edge_of_value(said, may_pick=False)
        if choice is None or self._last_edge() == choice.edge.tool:
            return None
        return RuleReply(call=(choice.edge.tool, {}))

    def _edge_by_value(self, said: CallerUtterance, text: str) -> EdgeMatch | None:
        """Returns the edge of the day or time that is named, or whose limit the number keeps."""
        if not said.is_modified and (by_value := self._edge_of_value(said)) is not None:
            return by_value
        within = edge_values.edge_within_limit(text, self._edges, self._current_question())
        return None if within is None else EdgeMatch(within, SURE_SCORE)

    def _edge_of_value(self, said: CallerUtterance, *, may_pick: bool = True) -> EdgeMatch | None:
        """Returns the edge of the day or the time that the caller names and this node asks for."""
        text = self._chosen_text(said)
        is_hour = may_pick or _is_lone_hour(text) or changes_to_number(said, text)
        hour = self._hour_said(text) if is_hour else None
        takes_day = any("day" in edge_values.asked_value_kinds(edge) for edge in self._edges)
        offers_hours = bool(offered_options.offered_hours(self._opening))
        day_of = (
            offered_options.answered_day if takes_day and not offers_hours and may_pick else spoken_values.day_phrase
        )
        values = {
            "day": day_of(text),
            "time": self._time_said(text) if hour is None else offered_options.spoken_hour(hour),
        }
        for kind, value in values.items():
            if value is None or (not may_pick and _SPAN.match(value)):
                continue
            choice = edge_matching.choose_edge(value, self._edges)
            edge = None if choice is None else choice.edge
            if choice is None and kind == "day":
                edge = self._edge_of_any_day(value)
            if edge is not None and kind in edge_values.asked_value_kinds(edge):
                return EdgeMatch(edge, SURE_SCORE)
        return None

    def _edge_of_any_day(self, day: str) -> EdgeHint | None:
        """Returns the only edge that a day takes, for one without a name: "as soon as possible", "the fifteenth"."""
        if spoken_values.day_phrase(day) is not None:
            return None
        taking = [edge for edge in self._edges if "day" in edge_values.asked_value_kinds(edge)]
        ways = [edge for edge in taking if not edge_matching.is_about_change(edge)]
        return ways[0] if len(ways) == 1 else None

    def _chosen_text(self, said: CallerUtterance) -> str:
        """Returns what stands of an utterance, without days and times that are only mentioned."""
        known = ". ".join((self._opening, *(phrase for edge in self._edges for phrase in (edge.label, *edge.examples))))
        text = said.statement or said.standing
        if said.is_modified and spoken_values.day_phrase(text) is None and spoken_values.time_of_day(text) is None:
            # "yes, but could it be four?"
            text = said.standing
        return drop_mentions(text, known)

    def _time_said(self, text: str) -> str | None:
        """Returns a clock time, or a part of the day where the node offers no hours."""
        clock = spoken_values.clock_time(text)
        if clock is not None or offered_options.offered_hours(self._opening):
            return clock
        return spoken_values.time_of_day(text, may_be_lone=False)

    def _values_said(self, said: CallerUtterance) -> dict[str, str | None]:
        text = self._chosen_text(said)
        is_lone = len(word_tokens(text)) <= 2 and "time" in self._kinds_at_stake()
        return {
            "day": spoken_values.day_phrase(text),
            "time": spoken_values.time_of_day(text, may_be_lone=is_lone or said.wants_change or said.is_correction),
        }

    def _names_new_value(self, said: CallerUtterance) -> bool:
        """Returns True for a day or a time that is at stake and not the one that the agent has just repeated."""
        day, time = spoken_values.day_phrase(self._opening), spoken_values.clock_time(self._opening)
        agreed = set() if edge_values.names_weekdays(self._opening) else {day, time}
        at_stake = self._kinds_at_stake()
        if (
            day
            and not time
            and (self._values_said(said)["day"] or "").removeprefix("this ") == day.removeprefix("this ")
        ):
            # "Thursday's fine, and mornings are best" changes nothing that the agent has named
            return False
        return any(
            value and kind in at_stake and value not in agreed for kind, value in self._values_said(said).items()
        )

    def _wants_other_value(self, said: CallerUtterance) -> bool:
        """Returns True for a change; "yes, give me another one" to "would you like to find a new time?" is none."""
        agrees = said.polarity == "yes" and not said.is_modified
        is_asked = agrees and _OFFERS_NEW.search(self._current_question()) is not None
        return not is_asked and (said.wants_change or self._names_new_value(said))

    def _altering_edge(self, said: CallerUtterance, edges: Sequence[EdgeHint]) -> EdgeHint | None:
        """Returns the edge to something else than was said; of one to another day and one to another time, the one for
        what the caller names.
        """
        altering = [edge for edge in edges if edge_matching.is_about_change(edge)]
        if len(altering) > 1:
            named = {kind for kind, value in self._values_said(said).items() if value}
            fitting = [edge for edge in altering if named & edge_values.changed_kinds(edge)]
            altering = fitting if len(fitting) == 1 else []
        return altering[0] if len(altering) == 1 else None

    def _kinds_at_stake(self) -> set[str]:
        """Returns the kinds of value (day, time) that this node's sentence names or that the caller has given before."""
        known = {kind_of(str(v.get("name")), str(v.get("prompt") or "")) for v in self._hint.known_variables}
        named = {"day": spoken_values.day_phrase(self._opening), "time": spoken_values.clock_time(self._opening)}
        if edge_values.names_weekdays(self._opening):
            named = {}
        return {*(kind for kind in known if kind), *(kind for kind, value in named.items() if value)}

    def _hour_said(self, text: str) -> int | None:
        """Returns the hour that a text names or picks of those that the node offers."""
        offered = offered_options.offered_hours(self._opening)
        if not offered:
            return None
        time = spoken_values.time_of_day(text)
        hour = None if time is None or time.startswith("in the") else offered_options.hour_of(time)
        return hour if hour in offered else offered_options.pick_hour(offered, text)

    def _has_no_room(self, said: CallerUtterance) -> bool:
        """Returns True when the node offers times, and the caller names another one or part of a day with several."""
        return self._offer_of_hours(said) is not None

    def _offer_of_hours(self, said: CallerUtterance) -> RuleReply | None:
        """Offers what there is, when the caller names a time that is not among those offered, or only a part of a day."""
        offered = offered_options.offered_hours(self._opening)
        text = self._chosen_text(said)
        text = text if spoken_values.time_of_day(text) else said.statement or said.standing
        if not offered or (said.polarity == "no" and not spoken_values.clock_time(text)):
            return None
        time = spoken_values.time_of_day(text, may_be_lone=len(word_tokens(text)) <= 4)
        if time is None:
            return None
        hour = offered_options.hour_of(time)
        if not time.startswith("in the") and hour not in offered:
            return RuleReply(f"I'm sorry, {time} is not free. {self._opening}")
        within = offered_options.hours_in_part(offered, text)
        if time.startswith("in the") and hour is None and offered_options.pick_hour(offered, text) is None:
            if not within:
                return RuleReply(f"I'm sorry, nothing is free {time}. {self._opening}")
            if len(within) > 1:
                names = join_choices([offered_options.spoken_hour(hour) for hour in within])
                return RuleReply(f"{time[:1].upper()}{time[1:]} I have {names}. Which one would you like?")
        return None

    def _note_correction(self, said: CallerUtterance) -> RuleReply | None:
        """Acknowledges a new value for what an earlier node asked; the extraction stores it."""
        known = {kind_of(str(v.get("name")), str(v.get("prompt") or "")) for v in self._hint.known_variables}
        asked = {kind for edge in self._edges for kind in edge_values.asked_value_kinds(edge)}
        if any(map(edge_matching.is_about_change, self._edges)):
            known = set()
        for kind, value in self._values_said(said).items():
            if (
                value is not None
                and kind in known - asked
                and (said.is_correction or said.wants_change or said.is_modified)
            ):
                return RuleReply(f"{value[:1].upper()}{value[1:]}, all right. {self._current_question()}")
        return self._note_part(said) or self._note_rating(said)

    def _note_part(self, said: CallerUtterance) -> RuleReply | None:
        """Acknowledges a correction within an earlier answer: "did I say 41? It's 14", "it's 0112, not 0121"."""
        part = corrected_part(said.heard)
        if part is None or not self._hint.known_variables or values_in(part[0]) & {"day", "time"}:
            return None
        if not any(replace_part(earlier, *part) for earlier in self._earlier_utterances()):
            return None
        return RuleReply(f"{part[1][:1].upper()}{part[1][1:]}, all right. {self._current_question()}")

    def _note_rating(self, said: CallerUtterance) -> RuleReply | None:
        """Acknowledges another number for what an earlier node asked: "I said four, not five"."""
        if edge_values.is_scale(self._edges) or not says_it_again(said.heard):
            return None
        for variable in self._hint.known_variables:
            scale = arguments.scale_of(str(variable.get("prompt") or ""))
            if variable.get("type") in ("integer", "number") and rating_in(said.heard, scale) is not None:
                return RuleReply(f"I've changed that. {self._current_question()}")
        return None

    def _asked_again(self) -> str:
        """Returns the whole sentence with what there is to choose from; of a greeting only the question."""
        return self._current_question() if self._hint.kind == "startCall" else phrases.drop_pleasantry(self._opening)

    def _note_refusal(self, said: CallerUtterance) -> RuleReply | None:
        """Acknowledges a value that the caller does not want, where they name no other and this node asks for one."""
        is_rated = edge_values.is_rated(said.heard, self._edges)
        if not said.refused or is_rated or any(self._values_said(said).values()):
            return None
        kinds = {
            "day": any(map(spoken_values.day_phrase, said.refused)),
            "time": any(map(spoken_values.time_of_day, said.refused)),
        }
        about = edge_matching.question_edges(self._edges)
        altering = [edge for edge in self._edges if edge_matching.is_about_change(edge)]
        asked = {kind for edge in self._edges if edge not in about for kind in edge_values.asked_value_kinds(edge)}
        onward = {kind for edge in self._edges if edge not in altering for kind in edge_values.asked_value_kinds(edge)}
        named = {"day": spoken_values.day_phrase(self._opening), "time": spoken_values.clock_time(self._opening)}
        if len(altering) == 1 and any(kinds[kind] and named[kind] and kind not in onward for kind in named):
            return RuleReply(call=(altering[0].tool, {}))
        is_asked = any(kinds[kind] and kind in asked for kind in kinds)
        if (said.standing or said.polarity == "no") and not is_asked:
            # "not today" to "shall I send it?" is a no
            return None
        question = " ".join(word_tokens(self._last_question()))
        is_named = any(re.search(rf"\b{re.escape(value)}\b", question) for value in said.refused)
        if is_named and not _ASKS_WHICH.search(question):
            # so is "I can't pay this week" to "can you pay this week?"
            return None
        return RuleReply(f"All right, not {_written_value(said.refused[0])}. {self._asked_again()}")


def _written_value(value: str) -> str:
    """Returns a value as it is written: "on tuesday" → "on Tuesday"."""
    return " ".join(
        word.capitalize() if word.removesuffix("s") in spoken_values.WEEKDAYS else word for word in value.split()
    )


def _is_lone_hour(text: str) -> bool:
    return len(word_tokens(text)) <= 2 and spoken_values.first_number(text) is not None
