"""The errors of tools and credentials."""

from offhook.errors import Conflict, NotFound, UnprocessableRequest


class ToolNotFound(NotFound):
    """There is no such tool."""

    code = "tool_not_found"


class ToolArchived(Conflict):
    """This tool is archived: bring it back first."""

    code = "tool_archived"


class CategoryImmutable(Conflict):
    """The category of a tool cannot be changed: make a new tool."""

    code = "tool_category_fixed"


class ToolNotTestable(UnprocessableRequest):
    """This kind of tool acts on a call and cannot be tried without one."""

    code = "tool_not_testable"


class ToolNotMcp(UnprocessableRequest):
    """Only tools of the category mcp have a catalogue that can be read again."""

    code = "tool_is_no_mcp"


class CredentialNotFound(NotFound):
    """There is no such credential."""

    code = "credential_not_found"


class CredentialUnknown(UnprocessableRequest):
    """The credential that this refers to does not exist."""

    code = "credential_unknown"


class CredentialHostRefused(UnprocessableRequest):
    """This credential may not be sent to this server."""

    code = "credential_host_refused"


class CredentialNameTaken(Conflict):
    """A credential with this name exists."""

    code = "credential_name_taken"


class CredentialInUse(Conflict):
    """This credential is in use."""

    code = "credential_in_use"


class CredentialUnreadable(Conflict):
    """This credential was sealed with a key that is gone: enter its secret again."""

    code = "credential_unreadable"


class ToolCallFailed(Exception):
    """A tool could not do its work; the sentence is for the model."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable
