"""How far raters agree with one another and with the program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ai_psychiatrist.domain.review import Committed, ReviewPhase
from ai_psychiatrist.reviews.agreement_arrays import (
    ITEMS,
    PROGRAM,
    pairs_of_raters,
    pairs_with_program,
    sheets_of,
)
from ai_psychiatrist.reviews.agreement_measures import MOST_PAIRS, Compared
from ai_psychiatrist.reviews.agreement_result import (
    Agreement,
    AgreementFigures,
    AgreementSection,
    Comparison,
    FigureResult,
    PairCounts,
    Rater,
    RaterPair,
)
from ai_psychiatrist.reviews.rated_case import RatedCase
from ai_psychiatrist.statistics.bootstrap import Bootstrap, Owners, estimate, owners_of
from ai_psychiatrist.statistics.figure import Figure
from ai_psychiatrist.statistics.intervals import figure_of
from ai_psychiatrist.statistics.measure import Measure

RESAMPLES: Final = 1000
FEWEST_RESAMPLES: Final = 250
"""Of so many subjects that their intervals are narrow, and more of them would take seconds."""
_MOST_DRAWN: Final = 2_000_000
"""Subjects drawn in all resamples together, beyond the fewest."""
_SEED: Final = 8
_ALL: Final = "all"
_OTHERS: Final = "others"


def agreement(
    cases: Sequence[RatedCase], *, you: str | None = None, withheld: int = 0
) -> Agreement:
    """Return all figures over cases, for `you` to see; `withheld` is how many others there are.

    Blind ratings make the main figures; those given after the program's scores were shown stand
    apart. Every value that is not defined is null and says why.
    """
    raters = tuple(dict.fromkeys(rater for case in cases for rater in case.committed))
    labels = {rater: f"rater {number}" for number, rater in enumerate(raters, start=1)}
    blind = _rated(cases, ReviewPhase.BLIND)
    return Agreement(
        cases=sum(bool(case.committed) for case in cases),
        withheld=withheld,
        raters=tuple(_rater(cases, one, label, you) for one, label in labels.items()),
        blind=_section(blind, labels),
        random_tenth=_section([case for case in blind if case.is_random], labels),
        seen=_section(_rated(cases, ReviewPhase.SEEN), labels),
        mixed_pairs=sum(_mixed(case.committed) for case in cases),
    )


def _rated(cases: Sequence[RatedCase], phase: ReviewPhase) -> list[RatedCase]:
    """Keep the ratings of one phase, and the cases that have any."""
    kept = [
        replace(
            case,
            committed={name: one for name, one in case.committed.items() if one.phase is phase},
        )
        for case in cases
    ]
    return [case for case in kept if case.committed]


def _mixed(committed: Mapping[str, Committed]) -> int:
    blind = sum(one.phase is ReviewPhase.BLIND for one in committed.values())
    return blind * (len(committed) - blind)


def _rater(cases: Sequence[RatedCase], rater: str, label: str, you: str | None) -> Rater:
    phases = [case.committed[rater].phase for case in cases if rater in case.committed]
    return Rater(
        label=label,
        is_you=rater == you,
        blind=phases.count(ReviewPhase.BLIND),
        seen=phases.count(ReviewPhase.SEEN),
    )


def _section(cases: Sequence[RatedCase], labels: Mapping[str, str]) -> AgreementSection:
    sheets = sheets_of(cases, tuple(labels))
    owners = owners_of([case.subject for case in cases], {})
    bootstrap = Bootstrap(owners=owners, resamples=_resamples(owners), seed=_SEED)
    names = (*labels.values(), PROGRAM)
    among = Compared(sheets=sheets, pairs=pairs_of_raters(sheets), with_program=False)
    beside = Compared(sheets=sheets, pairs=pairs_with_program(sheets), with_program=True)
    return AgreementSection(
        cases=len(cases),
        subjects=bootstrap.participants,
        raters=_comparison(among, bootstrap, names),
        program=_comparison(beside, bootstrap, names),
    )


def _resamples(owners: Owners) -> int:
    subjects = int(owners.max(initial=0)) + 1
    return min(RESAMPLES, max(FEWEST_RESAMPLES, _MOST_DRAWN // subjects))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a measure belongs: its item, or all of them, or a pair of raters; and its name."""

    of: str | int
    name: str


def _comparison(compared: Compared, bootstrap: Bootstrap, names: Sequence[str]) -> Comparison:
    wanted = {_ALL: slice(None)} | {
        item.value: slice(place, place + 1) for place, item in enumerate(ITEMS)
    }
    measures = {
        _Place(of=of, name=name): measure
        for of, items in wanted.items()
        for name, measure in compared.measures(items).items()
    } | {
        _Place(of=group, name="kappa"): compared.kappa_of(group)
        for group in range(compared.group_count)
    }
    figures = _figures(measures, bootstrap)
    found = {of: _of_items(of, compared, items, figures) for of, items in wanted.items()}
    return Comparison(
        all_items=found.pop(_ALL),
        items=found,
        pairs=tuple(
            RaterPair(
                first=_OTHERS if group == MOST_PAIRS else names[compared.groups[group][0]],
                second=_OTHERS if group == MOST_PAIRS else names[compared.groups[group][1]],
                cases=int((compared.group == group).sum()),
                kappa=figures[_Place(of=group, name="kappa")],
            )
            for group in range(compared.group_count)
        ),
    )


def _figures(
    measures: Mapping[_Place, Measure], bootstrap: Bootstrap
) -> dict[_Place, FigureResult]:
    found = estimate(list(measures.values()), bootstrap)
    return {
        place: _shown(figure_of(measure, one))
        for (place, measure), one in zip(measures.items(), found, strict=True)
    }


def _shown(figure: Figure) -> FigureResult:
    return FigureResult(
        value=figure.value, interval=figure.interval, reason=figure.reason, n=figure.n
    )


def _of_items(
    of: str, compared: Compared, items: slice, figures: Mapping[_Place, FigureResult]
) -> AgreementFigures:
    counts = {name: PairCounts(**one) for name, one in compared.counts(items).items()}
    own = {place.name: figure for place, figure in figures.items() if place.of == of}
    return AgreementFigures(**own, **counts)
