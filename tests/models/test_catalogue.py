"""Vendors by kind and name, and how settings, an organization and a workflow become choices."""

from typing import Any

import pytest
from pydantic import SecretStr

from offhook.kit.egress import EgressClient
from offhook.models.catalog import VendorCatalog
from offhook.models.configuration.resolution import ModelResolver
from offhook.models.errors import UnknownModel
from offhook.models.ports import Stt
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.models.vendors import ModelChoice, ModelInfo, ModelVendor, VendorContext
from offhook.settings import Settings


def llm_vendor(name: str, **more: Any) -> ModelVendor[Any]:
    async def check(choice: ModelChoice) -> None:
        """Any key works."""

    return ModelVendor("llm", name, name.title(), (ModelInfo(f"{name}-1"),), lambda _: BuiltinLlm(), check, **more)


def chooser(*vendors: Any, **settings: Any) -> ModelResolver:
    offline = VendorCatalog.load_providers(VendorContext(Settings(), EgressClient())).list_vendors()
    return ModelResolver(
        VendorCatalog([*(v for v in offline if v.provider == "builtin"), *vendors]), Settings(**settings)
    )


def llms(
    chooser: ModelResolver, organization: dict[str, Any], workflow: dict[str, Any] | None = None
) -> list[ModelChoice]:
    return list(chooser.resolve(organization, workflow or {}).by_kind["llm"])


ACME, OTHER = llm_vendor("acme"), llm_vendor("other", takes_any_model=True)


def test_two_vendors_of_one_name_and_kind_are_a_fault() -> None:
    with pytest.raises(ValueError, match="two vendors are llm acme"):
        VendorCatalog([ACME, llm_vendor("acme")])


class TestLayers:
    def test_the_organization_over_the_settings(self) -> None:
        (choice,) = llms(chooser(ACME), {"llm": {"provider": "acme", "api_key": "k"}})
        assert (choice.provider, choice.model, choice.api_key) == ("acme", "acme-1", "k")

    def test_the_workflow_changes_one_thing_and_keeps_the_rest(self) -> None:
        organization = {"llm": {"provider": "acme", "api_key": "k", "temperature": 0.9}}
        (choice,) = llms(chooser(ACME), organization, {"llm": {"temperature": 0.1}})
        assert (choice.provider, choice.api_key, choice.temperature) == ("acme", "k", 0.1)

    def test_another_provider_of_the_workflow_does_not_get_the_first_ones_key(self) -> None:
        organization = {"llm": {"provider": "acme", "api_key": "secret", "base_url": "https://acme.example/v1"}}
        (choice,) = llms(chooser(ACME, OTHER), organization, {"llm": {"provider": "other"}})
        assert (choice.provider, choice.api_key, choice.base_url) == ("other", "", None)

    def test_but_the_key_that_the_organization_has_for_it(self) -> None:
        organization = {
            "llm": {"provider": "acme", "api_key": "a"},
            "fallbacks": {"llm": [{"provider": "other", "api_key": "o"}]},
        }
        first, second = llms(chooser(ACME, OTHER), organization, {"llm": {"provider": "other"}})
        assert (first.api_key, second.api_key) == ("o", "o")

    def test_a_key_of_another_address_stays_there(self) -> None:
        def build(_: ModelChoice) -> Stt:
            raise AssertionError("only chosen, never built")

        speech = ModelVendor("stt", "acme", "Acme", (ModelInfo("acme-ears"),), build, ACME.check)
        organization = {"stt": {"provider": "acme", "api_key": "a", "base_url": "https://proxy.example"}}
        (choice,) = llms(chooser(ACME, speech), organization, {"llm": {"provider": "acme"}})
        assert choice.api_key == ""
        del organization["stt"]["base_url"]
        (choice,) = llms(chooser(ACME, speech), organization, {"llm": {"provider": "acme"}})
        assert choice.api_key == "a"

    def test_an_address_of_an_organization_gets_no_key_of_the_installation(self) -> None:
        settings = {"llm_provider": "acme", "llm_api_key": SecretStr("operators")}
        organization = {"llm": {"provider": "other", "model": "m", "base_url": "https://evil.example"}}
        (choice,) = llms(chooser(ACME, OTHER, **settings), organization)
        assert choice.api_key == ""
        same = {"llm": {"provider": "acme", "base_url": "https://evil.example"}}
        (choice,) = llms(chooser(ACME, OTHER, **settings), same)
        assert (choice.api_key, choice.base_url) == ("", "https://evil.example")

    def test_only_the_operators_address_counts_as_their_own_network(self) -> None:
        settings = {"llm_provider": "acme", "llm_base_url": "http://10.0.0.5/v1"}
        (choice,) = llms(chooser(ACME, **settings), {})
        assert choice.is_own_network
        (choice,) = llms(chooser(ACME, **settings), {"llm": {"base_url": "http://10.0.0.6/v1"}})
        assert not choice.is_own_network


@pytest.mark.parametrize(
    ("service", "named"),
    [
        ({"provider": "acme", "model": "acme-2"}, "acme-1"),
        ({"provider": "acme", "model": "acme-2", "base_url": "https://acme.example"}, "acme-1"),
        ({"provider": "acme", "temperature": 2.5}, "0 to 2"),
        ({"provider": "acme", "max_tokens": 0}, "max_tokens"),
        ({"provider": "acme", "max_tokens": True}, "max_tokens"),
        ({"provider": "acme", "api_key": 7}, "api_key"),
        ({"provider": "builtin", "base_url": "https://acme.example"}, "base_url"),
    ],
)
def test_what_does_not_fit_is_named(service: dict[str, Any], named: str) -> None:
    with pytest.raises(UnknownModel, match=named):
        llms(chooser(ACME, OTHER), {"llm": service})


def test_models_at_an_address_of_ones_own_and_dated_editions() -> None:
    own = {"llm": {"provider": "other", "model": "llama3.2", "base_url": "https://own.example/v1"}}
    assert llms(chooser(OTHER), own)[0].model == "llama3.2"
    assert (
        llms(chooser(ACME), {"llm": {"provider": "acme", "model": "acme-1-2026-01-31"}})[0].model == "acme-1-2026-01-31"
    )


def test_a_key_is_not_shown_by_a_choice() -> None:
    assert "sk-secret" not in repr(llms(chooser(ACME), {"llm": {"provider": "acme", "api_key": "sk-secret"}}))
