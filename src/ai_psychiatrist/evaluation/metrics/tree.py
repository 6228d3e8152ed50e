"""Measures in a tree of sections, and the figures that they become."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ai_psychiatrist.statistics.bootstrap import Bootstrap, estimate
from ai_psychiatrist.statistics.figure import Figure
from ai_psychiatrist.statistics.intervals import figure_of
from ai_psychiatrist.statistics.measure import Measure

Tree: TypeAlias = (
    "Measure | Figure | Mapping[str, Tree] | list[Tree] | str | int | float | bool | None"
)
Path: TypeAlias = tuple[str, ...]


def named_measures(tree: Mapping[str, Tree], path: Path = ()) -> Iterator[tuple[Path, Measure]]:
    """Yield the measures of a tree with the keys that lead to them, those of the top first.

    Lists are passed over.
    """
    for name, branch in tree.items():
        if isinstance(branch, Measure):
            yield (*path, name), branch
    for name, branch in tree.items():
        if isinstance(branch, Mapping):
            yield from named_measures(branch, (*path, name))


def resolve(tree: Mapping[str, Tree], bootstrap: Bootstrap) -> dict[str, Tree]:
    """Return the tree with each measure as its figure; all of them see the same resamples."""
    measures = list(_measures(tree))
    figures = map(figure_of, measures, estimate(measures, bootstrap))
    return {name: _filled(branch, figures) for name, branch in tree.items()}


def _measures(tree: Tree) -> Iterator[Measure]:
    if isinstance(tree, Measure):
        yield tree
    elif isinstance(tree, Mapping | list):
        for branch in tree.values() if isinstance(tree, Mapping) else tree:
            yield from _measures(branch)


def _filled(tree: Tree, figures: Iterator[Figure]) -> Tree:
    """Put the next figure, in the order of `_measures`, in the place of each measure."""
    if isinstance(tree, Measure):
        return next(figures)
    if isinstance(tree, Mapping):
        return {name: _filled(branch, figures) for name, branch in tree.items()}
    if isinstance(tree, list):
        return [_filled(branch, figures) for branch in tree]
    return tree
