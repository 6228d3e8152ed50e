"""What systems are worth on a challenge, from their files of predictions."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.evaluation.challenge.folder import (
    SCHEMA_VERSION,
    ChallengeFolder,
    Manifest,
    read_manifest,
    read_whole,
)
from ai_psychiatrist.evaluation.challenge.prediction import ChallengePrediction
from ai_psychiatrist.evaluation.challenge.prediction_lines import read_challenge_predictions
from ai_psychiatrist.evaluation.challenge.tally import ABSTAINED, INVENTED, SET_SHARE
from ai_psychiatrist.evaluation.challenge.truth import InterviewTruth
from ai_psychiatrist.statistics.figure import Figure

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.metrics.tree import Tree

OnSystem = Callable[[int, int], None]

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

    def as_json(self) -> dict[str, object]:
        """Return it as plain values."""
        return {
            "name": self.name,
            "interviews": self.interviews,
            "answered": self.answered,
            "failed": self.failed,
            "missing": self.missing,
            **{name: _plain(branch) for name, branch in self.figures.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredChallenge:
    """All systems that were scored on one challenge."""

    manifest: Manifest
    systems: tuple[ScoredSystem, ...]

    def as_json(self) -> dict[str, object]:
        """Return it as plain values."""
        return {
            "schema_version": SCHEMA_VERSION,
            "challenge": self.manifest.model_dump(),
            "charges": {"abstained": ABSTAINED, "invented": INVENTED},
            "set_share": SET_SHARE,
            "systems": [system.as_json() for system in self.systems],
        }


def score_challenge(
    folder: ChallengeFolder,
    files: Sequence[Path],
    *,
    resamples: int | None = None,
    on_system: OnSystem = lambda _done, _of: None,
) -> ScoredChallenge:
    """Score the systems of files of predictions, named after them.

    Raises `InputError` for a folder that is no challenge, for a line that cannot be used, and for
    two files of one name; `ArtifactMismatch` for a challenge that was changed.
    """
    _require_extra()
    names = _names(files)
    texts, truth = read_whole(folder)
    given = [read_challenge_predictions(path, texts) for path in files]
    systems = []
    for name, answers in zip(names, given, strict=True):
        systems.append(_scored(name, texts, truth, answers, resamples))
        on_system(len(systems), len(names))
    return ScoredChallenge(manifest=read_manifest(folder), systems=tuple(systems))


def _scored(
    name: str,
    texts: Mapping[str, str],
    truth: "Mapping[str, InterviewTruth]",
    answers: Mapping[str, ChallengePrediction],
    resamples: int | None,
) -> ScoredSystem:
    # Optional and large: only what measures needs it.
    from ai_psychiatrist.evaluation.challenge.figures import RESAMPLES, figures_of  # noqa: PLC0415

    failed = sum(one.is_failed for one in answers.values())
    return ScoredSystem(
        name=name,
        interviews=len(texts),
        answered=len(answers) - failed,
        failed=failed,
        missing=len(texts) - len(answers),
        figures=figures_of(truth, texts, answers, resamples=resamples or RESAMPLES),
    )


def _names(files: Sequence[Path]) -> list[str]:
    names = [path.stem[:_MOST_NAMED] for path in files]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        msg = f"several files are called {repeated[0]!r}; a system is named after its file"
        raise InputError(msg, field="PREDICTIONS")
    return names


def _plain(tree: "Tree") -> object:
    if isinstance(tree, Figure):
        return asdict(tree)
    if isinstance(tree, Mapping):
        return {name: _plain(branch) for name, branch in tree.items()}
    return tree


def _require_extra() -> None:
    if find_spec("numpy") is None:
        msg = "figures need the extra `evaluation`: pip install 'ai-psychiatrist[evaluation]'"
        raise ConfigurationError(msg)
