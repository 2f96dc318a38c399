"""Prices of models and carriers: the dated table, an organization's own prices, and what a run costs by them."""

from offhook.models.prices.calculation import CostLine, PriceList, Unpriced
from offhook.models.prices.endpoints import router
from offhook.models.prices.ports import Charging, ChargingByInstallation
from offhook.models.prices.published_prices import Price, price_table
from offhook.models.prices.service import price_list

__all__ = [
    "Charging",
    "ChargingByInstallation",
    "CostLine",
    "Price",
    "PriceList",
    "Unpriced",
    "price_list",
    "price_table",
    "router",
]
