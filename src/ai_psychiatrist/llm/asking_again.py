"""A rejected reply as Pydantic AI's wish to ask again."""

from pydantic_ai import ModelRetry

from ai_psychiatrist.llm.rejection import ReplyRejected


class AskedAgain(ReplyRejected, ModelRetry):
    """A rejection that an agent of Pydantic AI answers by asking the model again."""


def asked_again(rejection: ReplyRejected) -> AskedAgain:
    """Return a rejection in the form that the library understands."""
    if isinstance(rejection, AskedAgain):
        return rejection
    return AskedAgain(rejection.code, str(rejection), rejection.violations)
