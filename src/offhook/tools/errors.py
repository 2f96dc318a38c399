"""The errors of tools and credentials."""

from offhook.errors import Conflict, NotFound, UnprocessableRequest


class ToolNotFound(NotFound):
    """Tool not found."""

    code = "tool_not_found"


class ToolArchived(Conflict):
    """This tool is archived. Unarchive it first."""

    code = "tool_archived"


class CategoryImmutable(Conflict):
    """The category of a tool cannot be changed; create a new tool instead."""

    code = "tool_category_fixed"


class ToolNotTestable(UnprocessableRequest):
    """This kind of tool acts on a call, so it cannot be tested outside of one."""

    code = "tool_not_testable"


class ToolNotMcp(UnprocessableRequest):
    """Only tools of the category mcp have a catalog to refresh."""

    code = "tool_is_no_mcp"


class CredentialNotFound(NotFound):
    """Credential not found."""

    code = "credential_not_found"


class CredentialUnknown(UnprocessableRequest):
    """The referenced credential does not exist."""

    code = "credential_unknown"


class CredentialHostRefused(UnprocessableRequest):
    """This credential is not allowed for this host."""

    code = "credential_host_refused"


class CredentialNameTaken(Conflict):
    """A credential with this name already exists."""

    code = "credential_name_taken"


class CredentialInUse(Conflict):
    """This credential is in use."""

    code = "credential_in_use"


class CredentialUnreadable(Conflict):
    """This credential cannot be decrypted because its encryption key is missing. Enter its secret again."""

    code = "credential_unreadable"


class ToolCallFailed(Exception):
    """A tool call failed; the message is for the model."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable
