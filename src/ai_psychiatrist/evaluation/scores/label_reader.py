"""Labels read into columns: quickly where all lines are as we write them, thoroughly elsewhere."""

from collections.abc import Iterable
from itertools import chain, islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, MAX_TOTAL_SCORE, Item
from ai_psychiatrist.evaluation.scores.label_columns import LabelColumns, label_columns_of
from ai_psychiatrist.evaluation.scores.labels_file import FIELD, read_labels
from ai_psychiatrist.evaluation.scores.prediction_columns import Bytes
from ai_psychiatrist.evaluation.scores.record_checks import (
    UNLIKE_OURS,
    require,
    require_types,
    whole_numbers,
)
from ai_psychiatrist.evaluation.scores.record_lines import numbered_lines

_LINES_AT_ONCE: Final = 10_000
_WIDTH: Final = 2 * len(Item) + 2
_NO_ITEMS: Final = (None,) * len(Item)

_of_line = itemgetter("unit_id", "items", "second_items", "total", "binary", "is_recovered")
_of_items = itemgetter(*(item.value for item in Item))


def read_label_columns(path: Path) -> LabelColumns:
    """Read labels; raises `InputError` as `read_labels` does."""
    try:
        return _read(path)
    except UNLIKE_OURS:
        return label_columns_of(read_labels(path))


def _read(path: Path) -> LabelColumns:
    lines = numbered_lines(path, field=FIELD)
    unit_ids: list[str] = []
    blocks = [np.empty((0, _WIDTH), dtype=np.int8)]
    while block := [orjson.loads(line) for _, line in islice(lines, _LINES_AT_ONCE)]:
        blocks.append(_block_of(block, unit_ids))
    order = np.array(sorted(range(len(unit_ids)), key=unit_ids.__getitem__), dtype=np.intp)
    table = np.concatenate(blocks)[order]
    ordered = [unit_ids[place] for place in order.tolist()]
    require(all(one != other for one, other in pairwise(ordered)))
    items, second_items, total, binary = np.split(table, (8, 16, 17), axis=1)
    return LabelColumns(
        unit_ids=ordered,
        items=np.ascontiguousarray(items),
        second_items=np.ascontiguousarray(second_items),
        total=np.ascontiguousarray(total[:, 0]),
        binary=np.ascontiguousarray(binary[:, 0]),
    )


def _block_of(records: Iterable[Any], unit_ids: list[str]) -> Bytes:
    """Return the numbers of some records, (units, 18), and add their units' ids."""
    require(set(map(len, records)) == {6})
    ids, items, second, total, binary, recovered = zip(*map(_of_line, records), strict=True)
    require_types(ids, str)
    require_types(binary, bool, type(None))
    require_types(recovered, bool)
    require("" not in ids)
    unit_ids.extend(ids)
    scores = whole_numbers(_scores_of(items) + _scores_of(second), most=MAX_ITEM_SCORE)
    flags = [None if flag is None else int(flag) for flag in binary]
    columns = (
        *scores.reshape(2, len(ids), len(Item)),
        whole_numbers(total, most=MAX_TOTAL_SCORE)[:, None],
        whole_numbers(flags)[:, None],
    )
    return np.concatenate(columns, axis=1).astype(np.int8)


def _scores_of(every: Iterable[Any]) -> list[Any]:
    require_types(every, dict)
    require(set(map(len, every)) <= {0, len(Item)})
    return [*chain.from_iterable(_of_items(items) if items else _NO_ITEMS for items in every)]
