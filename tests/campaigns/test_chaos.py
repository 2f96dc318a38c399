"""For real: worker processes that are killed while they dial. A small list here; ``bench/campaign_chaos.py`` has 5,000."""

from pathlib import Path

import pytest
from bench.campaign_chaos import PHONES, SETTINGS, chaos, is_well
from bench.campaign_rig import rig

CONTACTS = 120


@pytest.mark.slow
@pytest.mark.real_time
@pytest.mark.timeout(400)
async def test_a_list_is_called_to_its_end_while_workers_are_killed(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path, phones=PHONES, live_calls=50, **SETTINGS) as one:
        report = await chaos(one, contacts=CONTACTS, seed=1, kill_every_s=6.0, within_s=300)
    assert is_well(report, CONTACTS), "\n".join(f"{name}: {value}" for name, value in report.items())
