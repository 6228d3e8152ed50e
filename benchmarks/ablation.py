"""Whether scores that no evidence drives are found out: models of which it is known beforehand.

`python -m benchmarks.ablation --units 60`: each model assesses a made-up dataset.
"""

import argparse
import asyncio
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ai_psychiatrist.agents.judge import JudgeAgent
from ai_psychiatrist.agents.meta_review import MetaReviewAgent
from ai_psychiatrist.agents.qualitative import QualitativeAssessmentAgent
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.agents.settings import FeedbackSettings
from ai_psychiatrist.assessment.assessor import AssessmentOptions, Assessor
from ai_psychiatrist.assessment.parts import Part
from ai_psychiatrist.assessment.refinement import FeedbackLoop
from ai_psychiatrist.domain.assessment import ScoringOptions
from ai_psychiatrist.domain.drive import DriveVerdict
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset
from ai_psychiatrist.evaluation.datasets.synthetic.generator import DatasetRecipe, make_dataset
from ai_psychiatrist.infrastructure.logging import EventLog, logging_to
from benchmarks.planted_models import PLANTED, PlantedModel

UNITS: Final = 60
_AGENTS: Final = ("qualitative", "quantitative", "judge", "meta_review")


@dataclass(slots=True, kw_only=True)
class Verdicts:
    """What was found of one model."""

    model: PlantedModel
    counts: Counter[DriveVerdict] = field(default_factory=Counter)
    extra_calls: int = 0
    units: int = 0

    @property
    def scored(self) -> int:
        """How many items have a score."""
        return self.counts.total()


async def verdicts_of(model: PlantedModel, transcripts: Sequence[Transcript]) -> Verdicts:
    """Have a model score transcripts, and score them again with their evidence changed."""
    found = Verdicts(model=model)
    pipeline = pipeline_of(model)
    for transcript in transcripts:
        assessment = await pipeline.assess(
            transcript,
            AssessmentOptions(parts=frozenset({Part.SCORES}), scoring=ScoringOptions(ablates=True)),
        )
        found.units += 1
        found.extra_calls += sum(one.agent == "ablation" for one in assessment.attempts)
        if assessment.quantitative is not None:
            drives = (item.drive for item in assessment.quantitative.items.values())
            found.counts.update(drive.verdict for drive in drives if drive is not None)
    return found


def pipeline_of(model: PlantedModel) -> Assessor:
    """Return a pipeline of which one model is all agents."""
    chain = (model.route,)
    return Assessor(
        feedback_loop=FeedbackLoop(
            qualitative=QualitativeAssessmentAgent(chain),
            judge=JudgeAgent(chain),
            settings=FeedbackSettings(),
        ),
        quantitative=QuantitativeAssessmentAgent(chain),
        meta_review=MetaReviewAgent(chain),
        agent_models=dict.fromkeys(_AGENTS, (model.route.name,)),
    )


def made_up_transcripts(units: int, *, seed: int = 0) -> list[Transcript]:
    """Return the interviews of a made-up dataset."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "synthetic"
        make_dataset(place, DatasetRecipe(units=units, seed=seed))
        dataset = open_dataset(place)
        return [
            transcript
            for unit in dataset.units
            if (transcript := _readable(dataset, unit.unit_id)) is not None
        ]


def _readable(dataset: Dataset, unit_id: str) -> Transcript | None:
    try:
        return dataset.transcript(unit_id)
    except InputError:
        return None


def rows(found: Sequence[Verdicts]) -> Iterator[str]:
    """Write the verdicts as a Markdown table."""
    yield (
        "| scores come from | honest | interviews | scored items | evidence-driven | "
        "over-determined | not evidence-driven | undetermined | extra calls an interview |"
    )
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for one in found:
        shares = " | ".join(
            f"{one.counts[verdict]} ({one.counts[verdict] / max(one.scored, 1):.0%})"
            for verdict in DriveVerdict
        )
        yield (
            f"| {one.model.name} | {'yes' if one.model.is_honest else 'no'} | {one.units} | "
            f"{one.scored} | {shares} | {one.extra_calls / max(one.units, 1):.1f} |"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what is found of each planted model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--units", type=int, default=UNITS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    transcripts = made_up_transcripts(options.units, seed=options.seed)

    async def measured() -> list[Verdicts]:
        with logging_to(EventLog("ERROR", "console")):
            return [await verdicts_of(model, transcripts) for model in PLANTED]

    for row in rows(asyncio.run(measured())):
        print(row)


if __name__ == "__main__":
    main()
