"""An agent that could start a canary."""

import pytest

from tests.canary.steps import save_draft
from tests.workflows.conftest import Editor, editor, other_editor, viewer

__all__ = ["editor", "other_editor", "viewer"]


@pytest.fixture
async def workflow_id(editor: Editor) -> int:
    """Version 1 is published, and there is a draft."""
    made = await editor.create_published()
    await save_draft(editor, made)
    return made
