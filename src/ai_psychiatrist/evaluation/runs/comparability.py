"""Whether two runs may be compared: they have to have read the same words under the same labels."""

from collections.abc import Iterator

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.units_file import read_units
from ai_psychiatrist.evaluation.scores.labels_file import read_labels

_SHOWN_DIGITS = 12


def refuse_incomparable(first: RunFolder, second: RunFolder) -> None:
    """Raise `ArtifactMismatch` that says in what two runs differ beside what was to be compared.

    Datasets and texts are told by their digests, texts and labels unit by unit; that both have the
    same identifiers says nothing. Raises `InputError` for a folder that is no run.
    """
    differences = [
        *_datasets(first, second),
        *_shards(first, second),
        *_units(first, second),
    ]
    if differences:
        msg = (
            f"{first.path.name!r} and {second.path.name!r} cannot be compared: "
            f"{'; '.join(differences)}"
        )
        raise ArtifactMismatch(msg)


def _datasets(first: RunFolder, second: RunFolder) -> Iterator[str]:
    """Compare what the digest of a dataset covers: its files and the options of reading."""
    records = [folder.require_run().get("dataset") for folder in (first, second)]
    one, other = (record if isinstance(record, dict) else {} for record in records)
    if one.get("digest") == other.get("digest"):
        return
    digests = " and ".join(str(each.get("digest"))[:_SHOWN_DIGITS] for each in (one, other))
    yield f"their datasets differ (digests {digests})"
    if one.get("speakers") != other.get("speakers"):
        yield f"they read other speakers ({one.get('speakers')} and {other.get('speakers')})"


def _shards(first: RunFolder, second: RunFolder) -> Iterator[str]:
    """Compare parts: what is in the one alone would count as failed in the other."""
    for name in ("shard", "missing_shards"):
        one, other = (folder.require_run().get(name) for folder in (first, second))
        if one != other:
            yield (
                f"they are of different parts of the dataset ({one or 'no'} and {other or 'no'} "
                f"{name.replace('_', ' ')}); put shards together with evaluate merge"
            )


def _units(first: RunFolder, second: RunFolder) -> Iterator[str]:
    one, other = read_units(first.units), read_units(second.units)
    labels, other_labels = read_labels(first.labels), read_labels(second.labels)
    # Runs of an earlier version list no units.
    shared = (one or labels).keys() & (other or other_labels).keys()
    if one and other and not shared:
        yield "they share no unit"
    texts = sum(
        one[unit].text_digest != other[unit].text_digest
        for unit in shared & one.keys() & other.keys()
    )
    if texts:
        yield f"the texts of {texts} of {len(shared)} shared units differ"
    differing = sum(labels.get(unit) != other_labels.get(unit) for unit in shared)
    if differing:
        yield f"the labels of {differing} of {len(shared)} shared units differ"
