"""How far raters agree with one another and with the program, as it is shown."""

from pydantic import Field

from ai_psychiatrist.results.frozen_table import FrozenTable
from ai_psychiatrist.results.result import Result


class FigureResult(Result):
    """A value with its 95 % interval over subjects, or the reason why there is none."""

    value: float | None = Field(examples=[0.71])
    """Null where it is not defined."""
    interval: tuple[float, float] | None = Field(examples=[[0.62, 0.79]])
    """Null where it is not defined, or rests on too few subjects."""
    reason: str | None = Field(examples=[None])
    """Why the value or the interval is null."""
    n: int = Field(examples=[412])
    """How many pairs of answers, or of marked characters or stretches, it rests on."""


class PairCounts(Result):
    """Pairs of answers by how many of the two say something."""

    both: int = Field(examples=[380])
    one: int = Field(examples=[24])
    none: int = Field(examples=[8])


class AgreementFigures(Result):
    """Agreement on one item, or on all."""

    kappa: FigureResult
    """Quadratic weighted kappa of the pairs in which both give a score: the mean over pairs of
    raters, each weighted by how many such pairs of answers they have."""
    alpha: FigureResult
    """Krippendorff's alpha, ordinal, over everybody at once; cannot tell is a missing value."""
    exact: FigureResult
    """Share of pairs with the same answer. Cannot tell, and unknown, is an answer of its own."""
    exact_scored: FigureResult
    """The same of the pairs in which both give a score."""
    span_characters: FigureResult
    """F1 of marked evidence by characters: those that both marked, twice, among all marked."""
    span_overlap: FigureResult
    """F1 of marked evidence by stretches: those that meet one of the other side, among all."""
    answers: PairCounts
    """Pairs in which both, one or neither gives a score."""
    marks: PairCounts
    """Pairs in which both, one or neither marks evidence."""


class RaterPair(Result):
    """Two raters by themselves, or a rater and the program."""

    first: str = Field(examples=["rater 1"])
    second: str = Field(examples=["rater 2"])
    cases: int = Field(examples=[52])
    """How many cases both rated."""
    kappa: FigureResult
    """Over all items."""


class Comparison(Result):
    """Agreement over all items, by item, and by pair of raters."""

    all_items: AgreementFigures
    items: FrozenTable[str, AgreementFigures]
    """By item's key."""
    pairs: tuple[RaterPair, ...]
    """Those with most cases in common; `others` stands for all beyond them together."""


class AgreementSection(Result):
    """Agreement over some of the cases."""

    cases: int = Field(examples=[120])
    """How many have a rating that counts here."""
    subjects: int = Field(examples=[97])
    """Whose interviews these are; intervals draw them anew, with all of their cases."""
    raters: Comparison
    """Raters with raters."""
    program: Comparison
    """Raters with the program."""


class Rater(Result):
    """Who rated, without a name."""

    label: str = Field(examples=["rater 1"])
    is_you: bool = Field(examples=[False])
    blind: int = Field(examples=[60])
    """How many cases were committed before any score was given to this rater."""
    seen: int = Field(examples=[2])
    """How many after."""


class Agreement(Result):
    """How far raters agree with one another and with the program."""

    cases: int = Field(examples=[122])
    """How many rated cases the figures rest on."""
    withheld: int = Field(examples=[0])
    """Cases that others rated and the caller, who rates, did not: they count in no figure here."""
    raters: tuple[Rater, ...]
    blind: AgreementSection
    """The main figures: blind ratings alone."""
    random_tenth: AgreementSection
    """Blind ratings of the cases that the queue draws whatever the program makes of them: not
    shifted towards cases that are hard."""
    seen: AgreementSection
    """Ratings by people who had been given scores of the case before."""
    mixed_pairs: int = Field(examples=[1])
    """Pairs of ratings of one case, one blind and one not: in no figure above."""
