"""Loaded by schemathesis itself: every request carries the credential of a superuser, and no invented one beside it."""

import os
from typing import Any

import schemathesis


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    for name in [name for name in case.headers or {} if name.lower() in ("x-api-key", "authorization")]:
        del case.headers[name]
    case.headers = {**(case.headers or {}), "Authorization": f"Bearer {os.environ['FUZZ_TOKEN']}"}
