"""The template language of prompts and conditions; it lives in the kit because tools use it too."""

from offhook.kit.template import TemplateVariable, find_variables, render_template
from offhook.kit.time_zones import find_zone

__all__ = ["TemplateVariable", "find_variables", "find_zone", "render_template"]
