"""The words of a user's part of a request, without the marks between them."""

from pydantic_ai.messages import UserPromptPart


def user_text(part: UserPromptPart) -> str:
    """Return what the model reads of a part that holds texts and cache marks alone."""
    if isinstance(part.content, str):
        return part.content
    return "".join(piece for piece in part.content if isinstance(piece, str))
