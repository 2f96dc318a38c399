"""``offhook credits add``: money by the command line."""

import json

from tests.commands.conftest import Offhook


def test_credit_adds_up(shared: Offhook) -> None:
    first = json.loads(shared.run("credits", "add", "--cents", "500", "--note", "Welcome", "--json").stdout)
    assert (first["kind"], first["amount_cents"], first["organization"]) == ("credit", 500, "Default")
    done = shared.run("credits", "add", "--cents", "-150")
    assert done.stdout == f"Default: {first['balance_cents'] - 150} cents.\n"


def test_wrong_use_is_one_sentence(shared: Offhook) -> None:
    for arguments in (["--cents", "0"], ["--cents", "5", "--org", "Nobody"], ["--cents", "5", "--org", "99999"]):
        done = shared.run("credits", "add", *arguments)
        assert done.returncode == 1
        assert done.stderr.startswith("offhook: ")
        assert done.stderr.count("\n") == 1
