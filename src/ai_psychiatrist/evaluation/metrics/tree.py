"""A report as a tree whose leaves are measures, and the JSON that they become."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from ai_psychiatrist.statistics.bootstrap import Bootstrap, estimate
from ai_psychiatrist.statistics.figure import Figure, Json, rounded
from ai_psychiatrist.statistics.intervals import figure_of
from ai_psychiatrist.statistics.measure import Measure

Tree: TypeAlias = (
    "Measure | Figure | Mapping[str, Tree] | Sequence[Tree] | str | int | float | bool | None"
)
Path: TypeAlias = tuple[str, ...]


def named_measures(tree: Mapping[str, Tree], path: Path = ()) -> Iterator[tuple[Path, Measure]]:
    """Yield the measures of a tree with the keys that lead to them; lists are passed over."""
    for name, branch in tree.items():
        if isinstance(branch, Measure):
            yield (*path, name), branch
        elif isinstance(branch, Mapping):
            yield from named_measures(branch, (*path, name))


def resolve(tree: Mapping[str, Tree], bootstrap: Bootstrap) -> dict[str, Json]:
    """Return the tree as JSON, each measure as its figure."""
    measures = list(_measures(tree))
    found = map(figure_of, measures, estimate(measures, bootstrap))
    by_measure = dict(zip(map(id, measures), found, strict=True))
    return {name: _as_json(branch, by_measure) for name, branch in tree.items()}


def _measures(tree: Tree) -> Iterator[Measure]:
    if isinstance(tree, Measure):
        yield tree
    elif isinstance(tree, Mapping):
        for branch in tree.values():
            yield from _measures(branch)
    elif isinstance(tree, Sequence) and not isinstance(tree, str):
        for branch in tree:
            yield from _measures(branch)


def _as_json(tree: Tree, by_measure: Mapping[int, Figure]) -> Json:
    if isinstance(tree, Measure):
        return by_measure[id(tree)].as_json()
    if isinstance(tree, Figure):
        return tree.as_json()
    if isinstance(tree, Mapping):
        return {name: _as_json(branch, by_measure) for name, branch in tree.items()}
    if isinstance(tree, Sequence) and not isinstance(tree, str):
        return [_as_json(branch, by_measure) for branch in tree]
    return rounded(tree) if isinstance(tree, float) else tree
