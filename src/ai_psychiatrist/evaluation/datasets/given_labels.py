"""Labels from a file that is given next to a run, for the units that the run has."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Cost, IssueCode, Labels
from ai_psychiatrist.evaluation.datasets.label_files import LabelFiles
from ai_psychiatrist.evaluation.datasets.label_tables import read_label_table
from ai_psychiatrist.evaluation.datasets.names import without_folders
from ai_psychiatrist.evaluation.datasets.options import LabelOptions
from ai_psychiatrist.evaluation.datasets.texts import FileDigest, content_of

FIELD: Final = "--labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLabels:
    """What a file says of a run's units."""

    name: str
    digest: str
    """SHA-256 over the file and the options of its reading; hexadecimal."""
    labels: Mapping[str, Labels]
    others: int
    """Units of the file that the run does not have."""
    lost: int
    """Units of the run whose labels in the file cannot be used, or in part."""
    odd: tuple[str, ...] = ()
    """What is odd about the file, and what helps, a sentence each."""

    def as_json(self) -> dict[str, object]:
        """Return which labels these are and how many."""
        return {
            "file": self.name,
            "digest": self.digest,
            "units": len(self.labels),
            "other_units": self.others,
            "lost": self.lost,
        }

    def __str__(self) -> str:
        """Write it as a sentence."""
        return (
            f"labels of {self.name} (digest {self.digest[:12]}): {len(self.labels)} units, "
            f"{self.lost} with labels that cannot be used as a whole, {self.others} of no unit here"
        )


def read_given_labels(path: Path, units: Collection[str], options: LabelOptions) -> GivenLabels:
    """Read a file of labels, and keep those of some units.

    Raises `InputError` for a file that cannot be used, with the option that helps, and for one that
    names none of the units.
    """
    content, digest = content_of(path), FileDigest()
    digest.add("labels", hashlib.sha256(content).digest())
    table = read_label_table(
        content,
        where=path.name,
        unit_id=lambda written: _unit_of(written, units),
        is_unit=lambda unit_id: unit_id in units,
    )
    files = LabelFiles([table], options, units)
    for issue in files.issues:
        if issue.hint is not None and issue.code.cost is Cost.LABEL:
            msg = f"{path.name!r}: {issue.code.action}; {issue.hint}"
            raise InputError(msg, field=FIELD)
    read = {unit: files.labels_of(unit) for unit in files.rows if unit in units}
    if not any(labels for labels, _ in read.values()):
        hint = f"; {files.missing_hint}" if files.missing_hint else ""
        msg = f"{path.name!r} has no label of a unit of the run{hint}"
        raise InputError(msg, field=FIELD)
    return GivenLabels(
        name=path.name,
        digest=digest.whole(options.digested()),
        odd=_odd(files, read.values()),
        labels={unit: labels for unit, (labels, _) in sorted(read.items()) if labels is not None},
        others=len(files.rows.keys() - set(units)),
        lost=sum(any(code.cost is Cost.LABEL for code in codes) for _, codes in read.values()),
    )


def _odd(
    files: LabelFiles, read: Iterable[tuple[Labels | None, Sequence[IssueCode]]]
) -> tuple[str, ...]:
    """Say of what costs labels how many units it is of, and what of the file is not used."""
    codes = Counter(code for _, found in read for code in found if code.cost is Cost.LABEL)
    of_units = [
        (f"{count} unit{'' if count == 1 else 's'}: {code.action}", files.hint(code))
        for code, count in codes.items()
    ]
    of_file = [(one.code.action, one.hint) for one in files.issues]
    return tuple(f"{said}; {hint}" if hint else said for said, hint in (*of_units, *of_file))


def _unit_of(written: str, units: Collection[str]) -> str:
    """Return the unit that an identifier means: its name, that without its ending, its number."""
    name = without_folders(written.strip())
    spellings = (name, PurePath(name).stem, name.removesuffix("_P"), name.removesuffix(".0"))
    known = (spelling for spelling in spellings if spelling in units)
    return next(known, name)
