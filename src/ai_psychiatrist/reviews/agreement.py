"""How far raters agree with one another and with the program."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ai_psychiatrist.domain.review import Committed, ReviewPhase
from ai_psychiatrist.reviews.agreement_measures import (
    ITEMS,
    MOST_PAIRS,
    Coded,
    Compared,
    RatedCase,
)
from ai_psychiatrist.reviews.agreement_result import (
    Agreement,
    AgreementFigures,
    AgreementSection,
    Comparison,
    FigureResult,
    Intraclass,
    PairCounts,
    Rater,
    RaterPair,
)
from ai_psychiatrist.reviews.intraclass import intraclass, limits_of_agreement
from ai_psychiatrist.statistics.bootstrap import Bootstrap, Owners, estimate, owners_of
from ai_psychiatrist.statistics.intervals import figure_of

RESAMPLES: Final = 1000
FEWEST_RESAMPLES: Final = 250
"""Of so many subjects that their intervals are narrow, and more of them would take seconds."""
_MOST_DRAWN: Final = 2_000_000
"""Subjects drawn in all resamples together, beyond the fewest."""
_SEED: Final = 8
_OTHERS: Final = "others"
_FORMS: Final = {"icc_2_1": "ICC(2,1)", "icc_3_1": "ICC(3,1)"}


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
    coded = Coded.of(cases, tuple(labels))
    owners = owners_of([case.subject for case in cases], {})
    subjects = int(owners.max(initial=0)) + 1
    resamples = min(RESAMPLES, max(FEWEST_RESAMPLES, _MOST_DRAWN // subjects))
    bootstrap = Bootstrap(owners=owners, resamples=resamples, seed=_SEED)
    names = (*labels.values(), coded.coders[-1])
    raters, program = (
        _comparison(Compared(coded=coded, with_program=one), bootstrap, names)
        for one in (False, True)
    )
    return AgreementSection(
        cases=len(cases), subjects=bootstrap.participants, raters=raters, program=program
    )


def _comparison(compared: Compared, bootstrap: Bootstrap, names: Sequence[str]) -> Comparison:
    coded, owners = compared.coded, bootstrap.owners
    items: dict[int | None, slice] = {None: slice(None)}
    items |= {place: slice(place, place + 1) for place in range(len(ITEMS))}
    measures = [compared.measures(places) for places in items.values()]
    kappas = [compared.kappa_of(group) for group in range(compared.group_count)]
    every = [*(one for found in measures for one in found.values()), *kappas]
    estimates = zip(every, estimate(every, bootstrap), strict=True)
    figures = iter([FigureResult.model_validate(figure_of(*one)) for one in estimates])
    raters = [at for at, found in enumerate(coded.has_scores) if found.any()]
    if not compared.with_program:
        raters = [at for at in raters if at < len(names) - 1]
    by_item = [
        AgreementFigures(
            **{name: next(figures) for name in found},
            **_intraclass(coded, raters, item, owners),
            **{name: PairCounts(**one) for name, one in compared.counts(places).items()},
        )
        for (item, places), found in zip(items.items(), measures, strict=True)
    ]
    return Comparison(
        all_items=by_item[0],
        items={item.value: found for item, found in zip(ITEMS, by_item[1:], strict=True)},
        pairs=tuple(
            _pair(compared, group, next(figures), owners, names)
            for group in range(compared.group_count)
        ),
    )


def _pair(
    compared: Compared, group: int, kappa: FigureResult, owners: Owners, names: Sequence[str]
) -> RaterPair:
    cases = int((compared.group == group).sum())
    if group == MOST_PAIRS:
        nothing = dict.fromkeys((*_FORMS, "limits"))
        return RaterPair(first=_OTHERS, second=_OTHERS, cases=cases, kappa=kappa, **nothing)
    first, second = compared.groups[group]
    return RaterPair(
        first=names[first],
        second=names[second],
        cases=cases,
        kappa=kappa,
        **_intraclass(compared.coded, (first, second), None, owners),
        limits=limits_of_agreement(compared.coded.table((first, second), None)),
    )


def _intraclass(
    coded: Coded, raters: Sequence[int], item: int | None, owners: Owners
) -> dict[str, Intraclass]:
    """Return both forms over the raters. `item`: its place; `None` for totals."""
    scores = coded.table(raters, item)
    return {name: intraclass(scores, form=form, subjects=owners) for name, form in _FORMS.items()}
