"""How each part of an assessment is made, and kept from taking the others with it."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

from ai_psychiatrist.agents.case import Case
from ai_psychiatrist.agents.danger import DangerAgent
from ai_psychiatrist.agents.meta_review import MetaReviewAgent
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.assessment.ablation import drives_of
from ai_psychiatrist.assessment.feedback_loop import FeedbackLoop, narrative_of
from ai_psychiatrist.assessment.part import OnFinished, Part
from ai_psychiatrist.assessment.progress import Progress
from ai_psychiatrist.assessment.spending import NARRATIVE_SHARE_OF_TIME
from ai_psychiatrist.assessment.telling import ListenerFailed
from ai_psychiatrist.assessment.unfinished import record_defect, record_skipped
from ai_psychiatrist.domain.assessment import JudgedRound, PHQ8Assessment
from ai_psychiatrist.llm.replies import PartialOutput

Ask: TypeAlias = Callable[[PHQ8Assessment], None]
Work: TypeAlias = Callable[[], Awaitable[None]]
"""Called no sooner than it is made: one that is broken off before leaves nothing behind."""


async def narrate(
    loop: FeedbackLoop,
    case: Case,
    parts: frozenset[Part],
    progress: Progress,
    on_finished: OnFinished,
) -> None:
    """Make the findings, and have them judged and refined where that is wanted."""
    if Part.JUDGEMENT in parts:
        await loop.run(case, progress.rounds)
    else:
        findings = await loop.qualitative.assess(case)
        if findings is not None:
            progress.rounds.append(JudgedRound(round=0, findings=findings, scores={}))
    if progress.rounds:
        on_finished(Part.FINDINGS)
    elif Part.JUDGEMENT in parts:
        record_skipped(Part.JUDGEMENT.value)


async def score(
    agent: QuantitativeAssessmentAgent,
    case: Case,
    progress: Progress,
    on_finished: OnFinished,
    ask: Ask,
) -> None:
    """Make the scores; what has evidence only is kept should they not come."""

    def keep(unscored: PHQ8Assessment) -> None:
        progress.quantitative = unscored

    progress.quantitative = await agent.assess(case, on_evidence=keep, on_scoring=ask)
    if progress.quantitative is not None and progress.quantitative.is_accepted:
        on_finished(Part.SCORES)


async def ablate(
    agent: QuantitativeAssessmentAgent, scoring: asyncio.Task[None], case: Case, progress: Progress
) -> None:
    """Score again once there are scores; nothing but the result waits for it."""
    await asyncio.wait([scoring])
    if progress.quantitative is not None and progress.quantitative.has_scores:
        progress.drives = await drives_of(agent, case, progress.quantitative)


async def review(
    agent: MetaReviewAgent, case: Case, progress: Progress, on_finished: OnFinished
) -> None:
    """Make the meta-review, of what there is; without scores there is none."""
    if progress.quantitative is None or not progress.quantitative.is_scored:
        record_skipped(Part.META_REVIEW.value)
        return
    narrative = narrative_of(progress.rounds)
    findings = None if narrative is None else narrative.best.findings
    progress.meta_review = await agent.review(case, findings, progress.quantitative)
    if progress.meta_review is not None and progress.meta_review.is_whole:
        on_finished(Part.META_REVIEW)


def asking(beside: asyncio.TaskGroup, case: Case, progress: Progress) -> Ask:
    """Return what has beliefs asked for while the items are scored, and the meta-review made."""

    def ask(found: PHQ8Assessment) -> None:
        if progress.beliefs is not None:
            request = guarded(partial(progress.beliefs.ask, case, found))
            try:
                beside.create_task(request)
            except RuntimeError:
                # All is being broken off, and takes no further part.
                request.close()

    return ask


async def read_for_danger(agent: DangerAgent, case: Case, progress: Progress) -> None:
    """Have a model read for danger."""

    def keep(signs: PartialOutput) -> None:
        progress.kept_danger = signs

    progress.danger = await agent.read(case, on_kept=keep)


async def in_time(work: Work, case: Case, parts: frozenset[Part], progress: Progress) -> None:
    """End the narrative while there is time for the meta-review, which can do without it."""
    deadline = case.calls.deadline
    if deadline is None or Part.META_REVIEW not in parts:
        await work()
        return
    seconds = (deadline - asyncio.get_running_loop().time()) * NARRATIVE_SHARE_OF_TIME
    try:
        async with asyncio.timeout(seconds):
            await work()
    except TimeoutError:
        progress.late = parts & {Part.FINDINGS, Part.JUDGEMENT}
        progress.record_deadline(progress.late)


async def guarded(part: Work) -> None:
    """Keep a defect in one part from taking the others with it."""
    try:
        await part()
    except ListenerFailed:
        raise
    except Exception as error:  # noqa: BLE001  whatever it is, the finished parts are kept
        record_defect(error)
