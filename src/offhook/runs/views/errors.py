"""Errors of saved views."""

from offhook.errors import Conflict, Forbidden, NotFound


class ViewNotFound(NotFound):
    """View not found."""

    code = "view_not_found"


class ViewNameTaken(Conflict):
    """You already have a view with this name. Choose another name."""

    code = "view_name_taken"


class TooManyViews(Conflict):
    """You can save up to 100 views. Delete one first."""

    code = "too_many_views"


class ViewNotShareable(Forbidden):
    """Viewers cannot share views. Ask a member of the organization."""

    code = "view_not_shareable"


class ViewNotEditable(Forbidden):
    """Only admins and the person who saved a shared view can change it."""

    code = "view_not_editable"
