"""Findings, judged and refined until they are good enough; the best round is kept."""

from dataclasses import dataclass, replace

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.agents.judge import JudgeAgent
from ai_psychiatrist.agents.qualitative import QualitativeAssessmentAgent
from ai_psychiatrist.agents.settings import FeedbackSettings
from ai_psychiatrist.domain.narrative import JudgedRound, Metric, MetricScore


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackLoop:
    """Writes findings, has them judged, and refines them while a metric is weak."""

    qualitative: QualitativeAssessmentAgent
    judge: JudgeAgent
    settings: FeedbackSettings

    async def run(
        self, context: AssessmentContext, rounds: list[JudgedRound], *, is_judged: bool = True
    ) -> None:
        """Add one round after the other to `rounds`; just the first where nothing is judged.

        Findings are added before they are judged, so that nothing is lost when the loop is stopped.
        """
        findings = await self.qualitative.assess(context)
        before = None
        while findings is not None:
            rounds.append(JudgedRound(round=len(rounds), qualitative=findings, scores={}))
            if not is_judged:
                return
            scores = await self.judge.evaluate(context, findings)
            rounds[-1] = judged = replace(rounds[-1], scores=scores)
            weaknesses = self._weaknesses(judged)
            is_spent = len(rounds) > self.settings.max_iterations
            if not weaknesses or is_spent or not _is_raised(before, judged):
                return
            before = judged
            findings = await self.qualitative.refine(context, findings, weaknesses)

    def _weaknesses(self, judged: JudgedRound) -> dict[Metric, MetricScore]:
        if not self.settings.enabled:
            return {}
        threshold = self.settings.score_threshold
        return {
            metric: score for metric, score in judged.scores.items() if score.score <= threshold
        }


def _is_raised(before: JudgedRound | None, judged: JudgedRound) -> bool:
    """Return whether a round did better in any metric; one that did not promises no more."""
    if before is None:
        return True
    return any(
        metric not in before.scores or score.score > before.scores[metric].score
        for metric, score in judged.scores.items()
    )
