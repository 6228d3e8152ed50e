"""Under which path stored assessments are, and what may go wrong with them."""

from enum import Enum
from typing import Final, TypeAlias

from ai_psychiatrist.api.doors_of import requires, requires_one_of
from ai_psychiatrist.domain.access import Scope

Problems: TypeAlias = dict[int | str, dict[str, object]]

PREFIX: Final = "/v1/assessments"
TAGS: Final[list[str | Enum]] = ["stored assessments"]
PROBLEMS: Final[Problems] = {
    404: {"description": "There is no stored assessment with this id."},
    409: {"description": "The assessment has no result, or what is stored cannot be read."},
    503: {"description": "Stored assessments cannot be read or written now."},
}
OF_SCORES: Final[Problems] = {
    403: {"description": "You rate this assessment blind, and have not committed your ratings."}
}
OF_MAKING: Final[Problems] = {
    400: {"description": "The body is no valid JSON."},
    404: {"description": "No transcript is stored for this participant."},
    409: {"description": "The mode needs references, and the service has none."},
    413: {"description": "The body or the transcript is too large."},
    422: {"description": "The request names no usable transcript; the body says which field."},
    502: {"description": "No part finished, because the model backend failed."},
    503: {"description": "Too many assessments are under way, or none can be stored."},
    504: {"description": "No part finished before the deadline."},
    507: {"description": "As many assessments are stored as may be."},
}

SEEING: Final = [requires_one_of(Scope.READ, Scope.REVIEW)]
"""A rater sees transcripts, and scores once own ones are committed."""
FOLLOWING: Final = [requires_one_of(Scope.ASSESS, Scope.READ, Scope.REVIEW)]
"""Who began an assessment sees how far it is."""
RATING: Final = [requires(Scope.REVIEW)]
ERASING: Final = [requires(Scope.ADMIN)]
