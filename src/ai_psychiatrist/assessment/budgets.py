"""How the calls of one assessment are shared out among its parts."""

from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.llm.calls import CallBudget

_LEAST_SCORES: Final = 2
_LEAST_REVIEW: Final = 1
_LEAST_DANGER: Final = 1
_LEAST_NARRATIVE: Final = 1 + len(Metric)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """What each part of an assessment may spend, in calls.

    What runs at the same time has budgets of its own: which call comes first then decides nothing.
    """

    scores: CallBudget
    meta_review: CallBudget
    narrative: CallBudget
    danger: CallBudget
    """Never shared, nor are the next: they may still be in use when the meta-review begins."""
    ablation: CallBudget
    belief: CallBudget

    def grow(self, parts: int, *, evidence: int, notes: int, danger: int) -> None:
        """Add what reading an interview in so many parts may cost beyond reading it whole.

        `evidence`, `notes`, `danger`: what each costs for one part, with all retries.
        """
        self.scores.left += (parts - 1) * evidence
        self.narrative.left += parts * notes
        self.danger.left += (parts - 1) * danger

    def for_meta_review(self) -> CallBudget:
        """Return the budget of the meta-review with all that scores and narrative have left."""
        self.meta_review.take_back(self.scores)
        self.meta_review.take_back(self.narrative)
        return self.meta_review


def share_out(
    max_calls: int,
    *,
    most_scores: int,
    most_review: int,
    most_danger: int,
    most_belief: int = 0,
    most_ablation: int = 0,
) -> Budgets:
    """Share calls out: one for each step, then scores' and review's retries, then the rest.

    `most_scores`, `most_review`, `most_danger`: what evidence and scores, the review, and the
    reading for danger cost with all retries; `most_belief`: what is asked to know how sure the
    scores are; `most_ablation`: what scoring changed transcripts may cost; 0 for a part that is not
    wanted. Of the rest a quarter at most is for the reading's retries, and half of what is then
    left for belief, then for ablation; the narrative and its rounds get all else.
    """
    budget = CallBudget(max_calls)
    scores = budget.set_aside(min(_LEAST_SCORES, most_scores))
    danger = budget.set_aside(min(_LEAST_DANGER, most_danger))
    meta_review = budget.set_aside(min(_LEAST_REVIEW, most_review))
    narrative = budget.set_aside(_LEAST_NARRATIVE)
    scores.take_back(budget.set_aside(most_scores - scores.left))
    meta_review.take_back(budget.set_aside(most_review - meta_review.left))
    danger.take_back(budget.set_aside(min(most_danger - danger.left, budget.left // 4)))
    belief = budget.set_aside(min(most_belief, budget.left // 2))
    ablation = budget.set_aside(min(most_ablation, budget.left // 2))
    narrative.take_back(budget)
    return Budgets(
        scores=scores,
        meta_review=meta_review,
        narrative=narrative,
        danger=danger,
        belief=belief,
        ablation=ablation,
    )
