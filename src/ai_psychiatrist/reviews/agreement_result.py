"""How far raters agree with one another and with the program, as it is shown."""

from ai_psychiatrist.results.result import Result


class FigureResult(Result):
    """A value with its 95 % interval over subjects, or the reason why there is none."""

    value: float | None
    """Null where it is not defined."""
    interval: tuple[float, float] | None
    """Null where it is not defined, or rests on too few subjects."""
    reason: str | None
    """Why the value or the interval is null."""
    n: int
    """How many pairs of answers, or of marked characters or stretches, it rests on."""


class PairCounts(Result):
    """Pairs of answers by how many of the two say something."""

    both: int
    """Both of the pair do."""
    one: int
    """One of the pair does."""
    none: int
    """Neither does."""


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

    first: str
    """Label of a rater."""
    second: str
    """Label of another rater, or `program`."""
    cases: int
    """How many cases both rated."""
    kappa: FigureResult
    """Over all items."""


class Comparison(Result):
    """Agreement over all items, by item, and by pair of raters."""

    all_items: AgreementFigures
    items: dict[str, AgreementFigures]
    """By item's key."""
    pairs: tuple[RaterPair, ...]
    """Those with most cases in common; `others` stands for all beyond them together."""


class AgreementSection(Result):
    """Agreement over some of the cases."""

    cases: int
    """How many have a rating that counts here."""
    subjects: int
    """Whose interviews these are; intervals draw them anew, with all of their cases."""
    raters: Comparison
    """Raters with raters."""
    program: Comparison
    """Raters with the program."""


class Rater(Result):
    """Who rated, without a name."""

    label: str
    """Counts raters in the order in which they come up; the same in all figures of one answer."""
    is_you: bool
    """Whether the caller is this rater."""
    blind: int
    """How many cases were committed before any score was given to this rater."""
    seen: int
    """How many after."""


class Agreement(Result):
    """How far raters agree with one another and with the program."""

    cases: int
    """How many rated cases the figures rest on."""
    withheld: int
    """Cases that others rated and the caller, who rates, did not: they count in no figure here."""
    raters: tuple[Rater, ...]
    """Everybody who committed a rating of these cases."""
    blind: AgreementSection
    """The main figures: blind ratings alone."""
    random_tenth: AgreementSection
    """Blind ratings of the cases that the queue draws whatever the program makes of them: not
    shifted towards cases that are hard."""
    seen: AgreementSection
    """Ratings by people who had been given scores of the case before."""
    mixed_pairs: int
    """Pairs of ratings of one case, one blind and one not: in no figure above."""
