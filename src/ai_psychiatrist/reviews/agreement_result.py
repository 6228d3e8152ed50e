"""How far raters agree with one another and with the program, as JSON and as rows of a table."""

from collections.abc import Iterator, Mapping
from typing import Final

from ai_psychiatrist.results.result import Result
from ai_psychiatrist.results.tables import Cell, Row, as_row
from ai_psychiatrist.store.person_names import PersonNames


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


class Intraclass(Result):
    """An intraclass correlation of single scores, with its 95 % interval by the F distribution."""

    form: str
    """`ICC(2,1)` (two-way random, absolute agreement) or `ICC(3,1)` (two-way mixed,
    consistency)."""
    value: float | None
    """Null where it is not defined."""
    interval: tuple[float, float] | None
    """Null where it is not defined, or a participant has several cases."""
    reason: str | None
    """Why the value or the interval is null."""
    raters: int
    """How many raters it is about, the program counted as one where it is compared."""
    subjects: int
    """How many cases all of them scored."""
    incomplete: int
    """Cases that are left out because a score of one of them is missing or unknown."""


class Limits(Result):
    """Limits of agreement of two coders' totals: 95 % of the differences lie between them."""

    mean: float | None = None
    """Of the first one's total less the second one's; null for fewer than two cases."""
    lower: float | None = None
    """The mean less 1.96 standard deviations of the differences."""
    upper: float | None = None
    """The mean and 1.96 standard deviations of the differences."""
    n: int
    """How many cases have a total of both."""
    incomplete: int
    """Cases that are left out because a total is missing or unknown."""
    reason: str | None
    """Why there are no limits."""


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
    icc_2_1: Intraclass
    """Of the item's scores, or over all items of the totals; of all raters who scored at once."""
    icc_3_1: Intraclass
    """The same, where a constant difference between raters is no disagreement."""
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
    icc_2_1: Intraclass | None
    """Of the totals of these two; null for `others`."""
    icc_3_1: Intraclass | None
    """The same, where a constant difference between them is no disagreement."""
    limits: Limits | None
    """Of the totals of these two; null for `others`."""


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


AGREEMENT_COLUMNS: Final = (
    *("section", "compared", "first", "second", "item", "figure"),
    *("value", "low", "high", "n", "raters", "incomplete", "reason"),
    *("first_name", "second_name"),
)
_ALL: Final = "all"


def agreement_rows(
    found: Agreement, raters: Mapping[str, str], names: PersonNames
) -> Iterator[Row]:
    """Yield each figure as a row. `raters`: their ids by their labels, for those who may know."""

    def called(column: str, label: str) -> dict[str, Cell]:
        rater = raters.get(label)
        name = None if rater is None else names.known(rater)
        return {column: rater or label, f"{column}_name": name}

    for one in found.raters:
        for section, cases in (("blind", one.blind), ("seen", one.seen)):
            about = {"section": section, **called("first", one.label), "figure": "cases"}
            yield as_row(AGREEMENT_COLUMNS, **about, value=cases)
    sections = {"blind": found.blind, "random_tenth": found.random_tenth, "seen": found.seen}
    for section, figures in sections.items():
        for compared, by in (("raters", figures.raters), ("program", figures.program)):
            about = {"section": section, "compared": compared}
            for item, of_item in {_ALL: by.all_items, **by.items}.items():
                yield from _rows({**about, "item": item}, of_item)
            for pair in by.pairs:
                both = called("first", pair.first) | called("second", pair.second)
                yield from _rows({**about, **both, "item": _ALL}, pair)


def _rows(about: Mapping[str, Cell], figures: Result) -> Iterator[Row]:
    for name, figure in figures:
        match figure:
            case FigureResult(value=value, reason=reason, n=n, interval=ends):
                cells: dict[str, Cell] = {"value": value, "n": n, "reason": reason}
            case Intraclass(value=value, reason=reason, subjects=n, interval=ends):
                cells = {"value": value, "n": n, "reason": reason}
                cells |= {"raters": figure.raters, "incomplete": figure.incomplete}
            case Limits(mean=value, lower=low, upper=high, n=n, reason=reason):
                ends = None if low is None or high is None else (low, high)
                cells = {"value": value, "n": n, "reason": reason, "incomplete": figure.incomplete}
            case PairCounts():
                for said, count in figure:
                    row = {**about, "figure": f"{name}_{said}", "value": count}
                    yield as_row(AGREEMENT_COLUMNS, **row)
                continue
            case _:
                continue
        low, high = ends or (None, None)
        yield as_row(AGREEMENT_COLUMNS, **about, figure=name, **cells, low=low, high=high)
