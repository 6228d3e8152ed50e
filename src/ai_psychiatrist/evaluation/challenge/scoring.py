"""What systems are worth on a challenge, from their files of predictions."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.evaluation.challenge.folder import (
    SCHEMA_VERSION,
    Manifest,
    read_challenge,
    read_manifest,
)
from ai_psychiatrist.evaluation.challenge.prediction import read_challenge_predictions
from ai_psychiatrist.evaluation.challenge.tally import ABSTAINED, INVENTED, SET_SHARE

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.metrics.tree import Tree

_MOST_NAMED: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSystem:
    """One system: what it answered, and its figures."""

    name: str
    interviews: int
    answered: int
    failed: int
    """Answered without any item."""
    missing: int
    """Not in the file at all; like those that failed they count as unknown."""
    figures: "dict[str, Tree]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredChallenge:
    """All systems that were scored on one challenge."""

    manifest: Manifest
    systems: tuple[ScoredSystem, ...]

    def as_json(self) -> dict[str, object]:
        """Return it as plain values; the figures of a system stand next to its counts."""
        systems = [
            {
                "name": system.name,
                "interviews": system.interviews,
                "answered": system.answered,
                "failed": system.failed,
                "missing": system.missing,
                **asdict(system)["figures"],
            }
            for system in self.systems
        ]
        return {
            "schema_version": SCHEMA_VERSION,
            "challenge": self.manifest.model_dump(),
            "charges": {"abstained": ABSTAINED, "invented": INVENTED},
            "set_share": SET_SHARE,
            "systems": systems,
        }


def score_challenge(
    folder: Path,
    files: Sequence[Path],
    *,
    resamples: int | None = None,
    on_system: Callable[[int, int], None] = lambda _done, _of: None,
) -> ScoredChallenge:
    """Score the systems of files of predictions, named after them.

    Raises `InputError` for a folder that is no challenge, for a line that cannot be used, and for
    two files of one name; `ArtifactMismatch` for a challenge that was changed.
    """
    if find_spec("numpy") is None:
        msg = "figures need the extra `evaluation`: pip install 'ai-psychiatrist[evaluation]'"
        raise ConfigurationError(msg)
    # Optional and large: only what measures needs it.
    from ai_psychiatrist.evaluation.challenge.figures import RESAMPLES, figures_of  # noqa: PLC0415

    names = _names(files)
    texts, truth = read_challenge(folder)
    given = [read_challenge_predictions(path, texts) for path in files]
    systems = []
    for name, answers in zip(names, given, strict=True):
        failed = sum(one.is_failed for one in answers.values())
        systems.append(
            ScoredSystem(
                name=name,
                interviews=len(texts),
                answered=len(answers) - failed,
                failed=failed,
                missing=len(texts) - len(answers),
                figures=figures_of(truth, texts, answers, resamples=resamples or RESAMPLES),
            )
        )
        on_system(len(systems), len(names))
    return ScoredChallenge(manifest=read_manifest(folder), systems=tuple(systems))


def _names(files: Sequence[Path]) -> list[str]:
    names = [path.stem[:_MOST_NAMED] for path in files]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        msg = f"several files are called {repeated[0]!r}; a system is named after its file"
        raise InputError(msg, field="PREDICTIONS")
    return names
