"""The evidence check alone: which quotes are the participant's words, where, and why others not."""

from collections.abc import Iterable
from typing import get_args

from ai_psychiatrist.domain.errors import require
from ai_psychiatrist.domain.evidence import Match, Quote, QuoteRejection, Segment, UnverifiedQuote
from ai_psychiatrist.interface.given import (
    GivenLabels,
    GivenTranscript,
    forgetting_causes,
    read_given,
)
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.services.evidence_validation.quote_search import similarity_package
from ai_psychiatrist.services.evidence_validation.transcript_index import (
    DEFAULT_FUZZY_THRESHOLD,
    GroundingMode,
    TranscriptIndex,
)


class GroundedQuote(Result):
    """What became of one quote."""

    quote: str
    """As it was given."""
    verified: bool
    """Whether the participant said it."""
    text: str | None
    """As it was said; null for a quote that was not."""
    match: Match | None
    """How it was found."""
    segments: tuple[Segment, ...]
    """Where it stands, in code points of the transcript."""
    reason: QuoteRejection | None
    """Why it is refused."""


class GroundedQuotes(Result):
    """What became of quotes, in the order in which they were given."""

    quotes: tuple[GroundedQuote, ...]
    verified_count: int
    rejected_count: int
    speakers_assumed: bool
    """True when the transcript has no speaker labels, so that all of it counts as the patient's."""
    transcript_text: str | None
    """The text that offsets count in, where it was made from a file; null for a text as given."""


def ground(
    quotes: Iterable[str],
    transcript: GivenTranscript,
    *,
    participant: GivenLabels = (),
    interviewer: GivenLabels = (),
    mode: GroundingMode = "substring",
    fuzzy_threshold: float = DEFAULT_FUZZY_THRESHOLD,
) -> GroundedQuotes:
    """Look for quotes in what the participant said, as the assessment does; no model is asked.

    `participant`, `interviewer`: whose labels are whose, where the transcript does not tell.
    `mode`: "substring" for the same words, "fuzzy" for contractions written out, too, of a
    similarity of at least `fuzzy_threshold`, 0-1. Raises `InputError` for a transcript that cannot
    be used and for what are no quotes, and `ConfigurationError` for "fuzzy" without rapidfuzz.
    Whether a quote denies what it is quoted for is not looked at here.
    """
    wanted = _wanted(quotes)
    modes, is_share = get_args(GroundingMode), 0 <= fuzzy_threshold <= 1
    require(mode in modes, f"mode has to be one of {', '.join(modes)}", field="mode")
    require(is_share, "fuzzy_threshold has to be from 0 to 1", field="fuzzy_threshold")
    if mode == "fuzzy":
        similarity_package()
    with forgetting_causes():
        read = read_given(transcript, participant, interviewer)
    index = TranscriptIndex(read)
    found = tuple(
        _grounded(quote, index.ground(quote, mode=mode, fuzzy_threshold=fuzzy_threshold))
        for quote in wanted
    )
    verified = sum(quote.verified for quote in found)
    return GroundedQuotes(
        quotes=found,
        verified_count=verified,
        rejected_count=len(found) - verified,
        speakers_assumed=read.speakers_assumed,
        transcript_text=read.text if read.source.is_rendered else None,
    )


def _wanted(quotes: Iterable[str]) -> tuple[str, ...]:
    is_list = not isinstance(quotes, str | bytes)
    require(is_list, "a list of quotes is wanted, and not one text", field="quotes")
    several = tuple(quotes)
    for number, quote in enumerate(several, start=1):
        problem = f"quote {number} is no text but {type(quote).__name__}"
        require(isinstance(quote, str), problem, field="quotes")
    return several


def _grounded(quote: str, found: Quote | UnverifiedQuote) -> GroundedQuote:
    if isinstance(found, UnverifiedQuote):
        return GroundedQuote(
            quote=quote, verified=False, text=None, match=None, segments=(), reason=found.reason
        )
    return GroundedQuote(
        quote=quote,
        verified=True,
        text=found.text,
        match=found.match,
        segments=found.segments,
        reason=None,
    )
