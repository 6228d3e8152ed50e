"""Assess one interview, with the rule baseline where no model is set."""

from pathlib import Path

import ai_psychiatrist as ap

EXAMPLES = Path(__file__).parent

result = ap.assess_sync(EXAMPLES / "interview.txt")
print(result)
scores = result.quantitative
if scores is not None and scores.items is not None:
    print(f"PHQ-8: {scores.total_score_min} to {scores.total_score_max} of 24")
    for item in scores.items.values():
        print(item.label, "unknown" if item.score is None else item.score)
