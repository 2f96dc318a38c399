"""The template language of prompts and conditions; it lives in the kit, because tools speak it too."""

from offhook.kit.template import Variable, render, variables
from offhook.kit.time_zones import zone_named

__all__ = ["Variable", "render", "variables", "zone_named"]
