"""The services of campaigns, built once per process by ``register``; one dependency gives them to requests."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from offhook.campaigns.deletion import CampaignEraser
from offhook.campaigns.engine.engine import CampaignEngine
from offhook.campaigns.intake.call_me_first import CampaignTestCalls
from offhook.campaigns.intake.contact_files import ContactFiles
from offhook.campaigns.intake.creation import CampaignCreation
from offhook.campaigns.intake.preflight import CampaignPreflight
from offhook.campaigns.reports.presenter import CampaignPresenter
from offhook.campaigns.reports.progress_streams import ProgressStreams
from offhook.campaigns.reports.report import CampaignReports
from offhook.campaigns.service import CampaignService
from offhook.root import use_service


@dataclass(frozen=True, slots=True)
class CampaignServices:
    """The services that the endpoints of campaigns call."""

    engine: CampaignEngine
    campaigns: CampaignService
    eraser: CampaignEraser
    files: ContactFiles
    creation: CampaignCreation
    preflight: CampaignPreflight
    test_calls: CampaignTestCalls
    presenter: CampaignPresenter
    streams: ProgressStreams
    reports: CampaignReports


Services = Annotated[CampaignServices, Depends(use_service(CampaignServices))]
