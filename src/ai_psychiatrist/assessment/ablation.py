"""Whether the cited evidence drives the scores: they are asked for again after changes of it."""

import asyncio
from collections.abc import Mapping
from typing import Final, TypeAlias

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.domain.drive import (
    Change,
    ChangedScore,
    ItemDrive,
    ScoringEnd,
    drive_of,
)
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.items import PHQ8Assessment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.infrastructure.off_loop import work_on_text
from ai_psychiatrist.services.counterfactuals.changed_transcripts import (
    ChangedTranscript,
    CitedItem,
    changed_transcripts,
)

MOST_CALLS: Final = 20
"""How many calls are set aside for it: seldom more than ten are made, and some asked again."""

Scores: TypeAlias = Mapping[tuple[Item, Change], ChangedScore]


async def drives_of(
    agent: QuantitativeAssessmentAgent, context: AssessmentContext, scores: PHQ8Assessment
) -> Mapping[Item, ItemDrive]:
    """Return a verdict on each score; the calls are made at the same time."""
    cited = [
        CitedItem(item=one.item, score=one.score, quotes=one.evidence)
        for one in scores.items.values()
    ]
    changed = await work_on_text(
        context.transcript.text,
        changed_transcripts,
        context.transcript,
        cited,
        context.assertions.unread,
    )
    with context.apart(len(changed)) as contexts:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_scored(agent, own, one))
                for own, one in zip(contexts, changed, strict=True)
            ]
    return _verdicts(scores, {key: score for task in tasks for key, score in task.result().items()})


def open_drives(scores: PHQ8Assessment, code: FailureCode) -> Mapping[Item, ItemDrive]:
    """Return open verdicts, because the calls came to nothing."""
    failed = ChangedScore(end=ScoringEnd.FAILED, code=code)
    return _verdicts(
        scores, {(one.item, change): failed for one in scores.items.values() for change in Change}
    )


def _verdicts(scores: PHQ8Assessment, found: Scores) -> Mapping[Item, ItemDrive]:
    return {
        one.item: drive_of(
            one.score,
            {change: score for (item, change), score in found.items() if item == one.item},
        )
        for one in scores.items.values()
        if one.score is not None
    }


async def _scored(
    agent: QuantitativeAssessmentAgent, context: AssessmentContext, changed: ChangedTranscript
) -> Scores:
    again = context.changed_to(changed.transcript)
    outcome = await agent.score_changed(again, changed.evidence)
    if outcome.output is None:
        code = outcome.failure or FailureCode.OUTPUT_REJECTED
        failed = ChangedScore(end=ScoringEnd.FAILED, code=code)
        return {(item, changed.change): failed for item in changed.items}
    said = outcome.output.items
    return {(item, changed.change): _score(said[item.value].score) for item in changed.items}


def _score(score: int | None) -> ChangedScore:
    end = ScoringEnd.NOT_DETERMINABLE if score is None else ScoringEnd.SCORED
    return ChangedScore(end=end, score=score)
