"""Errors of scenarios, with their codes."""

from dataclasses import dataclass
from typing import Final

from offhook.errors import Conflict, DomainError, Forbidden, NotFound, TooManyRequests

MAX_ISSUES: Final = 100


@dataclass(frozen=True, slots=True)
class ScenarioIssue:
    """One thing that is wrong in a file. ``path`` names the field: ``scenarios[2].expect.edges``."""

    path: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class ScenariosInvalid(DomainError):
    """The scenarios cannot be read."""

    code = "scenarios_invalid"
    status = 422

    def __init__(self, issues: tuple[ScenarioIssue, ...]) -> None:
        self.issues = issues
        shown = "; ".join(str(issue) for issue in issues[:5])
        more = f"; and {len(issues) - 5} more" if len(issues) > 5 else ""
        message = f"{shown}{more}"
        parts = [{"path": issue.path, "code": issue.code, "message": issue.message} for issue in issues[:MAX_ISSUES]]
        super().__init__(message, detail={"message": message, "issues": parts}, field=issues[0].path or None)


class AgentNotTestable(DomainError):
    """The agent cannot hold a conversation."""

    code = "agent_not_testable"
    status = 422


class ScenarioNotFound(NotFound):
    """Scenario not found."""

    code = "scenario_not_found"


class RunWithoutWords(Conflict):
    """The caller of this run said nothing and pressed no keys, so there is nothing to make a scenario from."""

    code = "run_without_words"


class RunNotKept(Conflict):
    """This agent does not keep what is said on its calls, so no scenario can be made from them."""

    code = "run_not_kept"


class RunRewound(Conflict):
    """This text chat was rewound, so it is not one continuous conversation. Use a chat that was not rewound."""

    code = "run_rewound"


class RunNotOver(Conflict):
    """This conversation is still in progress. Try again after it has ended."""

    code = "run_not_over"


class ScenarioPlayNotFound(NotFound):
    """Scenario run not found."""

    code = "scenario_play_not_found"


class ScenarioRecordingNotFound(NotFound):
    """This result has no recording. Only failed calls with sound have one."""

    code = "scenario_recording_not_found"


class NoScenarios(Conflict):
    """This agent has no scenarios. Add one first."""

    code = "no_scenarios"


class TooManyPlays(TooManyRequests):
    """Your organization already has 10 scenario runs waiting or in progress. Wait until one ends, or cancel one."""

    code = "too_many_plays"


class AnswersFileInvalid(DomainError):
    """This is not a file of recorded answers."""

    code = "answers_file_invalid"
    status = 422


class ModelRequired(DomainError):
    """This agent uses the built-in model, which has no live or recorded answers. Choose a language model first."""

    code = "model_required"
    status = 422


class RecordNeedsRecorded(DomainError):
    """Missing answers can be recorded only in a run with recorded answers."""

    code = "record_needs_recorded"
    status = 422


class TooManyProposals(TooManyRequests):
    """Scenarios are already being proposed. Try again in a few seconds."""

    code = "too_many_proposals"


class ProposalsFailed(Conflict):
    """No scenarios could be proposed for this agent because the process that tries them stopped early. Try again, or
    write one."""

    code = "proposals_failed"


class PublishNotTested(Conflict):
    """This agent can be published only after its scenarios pass with this exact draft. Run them first."""

    code = "publish_not_tested"


class PublishGateFailed(Conflict):
    """This draft does not meet the agent's publishing rules."""

    code = "publish_gate_failed"


class GateOverrideForbidden(Forbidden):
    """Only an admin can publish a draft that does not meet the agent's publishing rules."""

    code = "gate_override_forbidden"


class VersionChanged(Conflict):
    """This call used a draft that has changed since then, so it cannot be replayed."""

    code = "version_changed"


class NoDraft(Conflict):
    """This agent has no draft. Edit it first, or replay with the number of a version."""

    code = "no_draft"


class ReplayFailed(Conflict):
    """This call could not be replayed: the process that replays calls stopped early, or took too long."""

    code = "replay_failed"


class TooManyScenarioFiles(TooManyRequests):
    """Other files of scenarios are still being read. Try again in a few seconds."""

    code = "too_many_scenario_files"


class TooManyReplays(TooManyRequests):
    """A call is already being replayed. Try again in a few seconds."""

    code = "too_many_replays"


class NothingToReplay(Conflict):
    """This agent has no runs in this period."""

    code = "nothing_to_replay"
