"""Whose interview a file is: its body has no room to say so, and an address would be logged."""

from typing import Annotated, Final, TypeAlias
from urllib.parse import unquote

from fastapi import Depends, Header

from ai_psychiatrist.domain.errors import InputError

MOST_CHARACTERS: Final = 200


async def subject_of_header(
    x_subject: Annotated[
        str | None,
        Header(
            description="For a file: what `subject` of a JSON body says, percent-encoded in UTF-8."
        ),
    ] = None,
) -> str | None:
    """Return the subject; raises `InputError` for what can be none."""
    if x_subject is None:
        return None
    try:
        subject = unquote(x_subject, errors="strict").strip()
    except UnicodeDecodeError:
        subject = ""
    if not 1 <= len(subject) <= MOST_CHARACTERS:
        msg = f"X-Subject has to be 1-{MOST_CHARACTERS} characters, percent-encoded in UTF-8"
        raise InputError(msg, field="subject")
    return subject


SubjectOfHeader: TypeAlias = Annotated[str | None, Depends(subject_of_header)]
