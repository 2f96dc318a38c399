"""The services of scenarios, built once per process by ``register`` and passed to requests by one dependency."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from offhook.root import use_service
from offhook.scenarios.answers.desk import AnswerDesk
from offhook.scenarios.plays.recordings import PlayRecordings
from offhook.scenarios.proposals.service import ScenarioProposalService
from offhook.scenarios.replays.requests import RunReplayService
from offhook.scenarios.stored.reading import ScenarioFiles


@dataclass(frozen=True, slots=True)
class ScenarioServices:
    """The services that the endpoints of scenarios use."""

    proposals: ScenarioProposalService
    replays: RunReplayService
    recordings: PlayRecordings
    answers: AnswerDesk
    files: ScenarioFiles


Services = Annotated[ScenarioServices, Depends(use_service(ScenarioServices))]
