"""Prices of models and carriers: the dated table, an organization's own prices, and the cost of a run."""

from offhook.models.prices.calculation import PricedUsage, PriceList, UnpricedUsage
from offhook.models.prices.endpoints import router
from offhook.models.prices.ports import BillingPolicy, InstallationBillingPolicy
from offhook.models.prices.published_prices import Price, price_table
from offhook.models.prices.service import price_list

__all__ = [
    "BillingPolicy",
    "InstallationBillingPolicy",
    "Price",
    "PriceList",
    "PricedUsage",
    "UnpricedUsage",
    "price_list",
    "price_table",
    "router",
]
