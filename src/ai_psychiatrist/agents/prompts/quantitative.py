"""What the quantitative agent is asked: quotes for each item, then a score for each item."""

from typing import Final

from ai_psychiatrist.agents.prompts.item_descriptions import DESCRIPTIONS
from ai_psychiatrist.agents.prompts.shared import ITEMS, in_template
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS

__all__ = [
    "EVIDENCE",
    "EVIDENCE_FORMAT",
    "PHQ8_DOMAIN_KEYS",
    "SCORING",
    "SCORING_DESCRIBED",
    "SCORING_FORMAT",
    "SCORING_REFERENCES",
    "SCORING_SCHEMA_FORMAT",
]

EVIDENCE_FORMAT: Final = """\
Reply with one JSON object and nothing else; each item key needs a list of strings:
{"PHQ8_NoInterest": [], "PHQ8_Depressed": [], "PHQ8_Sleep": [], "PHQ8_Tired": [],
"PHQ8_Appetite": [], "PHQ8_Failure": [], "PHQ8_Concentrating": [], "PHQ8_Moving": []}
"""

EVIDENCE: Final = f"""\
Task: evidence

For each item, list the quotes that say whether the symptom is present or absent, how often or how
strongly. Give at most six for an item, the most important ones, and an empty list if the
participant does not speak about it.

{ITEMS}
{in_template(EVIDENCE_FORMAT)}"""

_OPENING: Final = """\
Task: scoring

Score each item from the transcript and from the quotes below, which were found in it word for word.

{evidence}

"""

SCORING_FORMAT: Final = """\
You may reason first. Then reply with one JSON object of all eight items between answer tags:
<answer>
{"PHQ8_NoInterest": {"evidence": ["…"], "reason": "…", "score": 1, "confidence": 3},
"PHQ8_Depressed": {"evidence": [], "reason": "…", "score": "N/A", "confidence": 2},
…}
</answer>
"""
SCORING_SCHEMA_FORMAT: Final = """\
Reply with one JSON object of all eight items and nothing else:
{"PHQ8_NoInterest": {"evidence": ["…"], "reason": "…", "score": 1, "confidence": 3},
"PHQ8_Depressed": {"evidence": [], "reason": "…", "score": "N/A", "confidence": 2},
…}
"""
"""Where the server holds the reply to a schema."""

_CLOSING: Final = f"""\
score: 0, 1, 2, 3 or N/A
0 = not at all: the participant denies the symptom or says that this is fine
1 = several days (2 to 6 of 14)
2 = more than half the days (7 to 11)
3 = nearly every day (12 to 14)
N/A = the participant does not speak about it or does not say how often

A score of 1 to 3 needs a quote that says that the symptom is present; a 0 needs a quote that denies
it. Each is about this symptom of the participant, and not about the past alone. Without such quotes
give N/A.
N/A needs a reason.
confidence: a whole number from 1 (a guess) to 5 (certain).

{in_template(SCORING_FORMAT)}"""

_REFERENCES: Final = """\
For some items, the next block has passages from interviews with other people, each with its score
for the item. Use them only to see how scores are given; they are not evidence about this
participant.

{references}

"""

_DESCRIPTIONS: Final = "\n".join(
    (
        "What counts for each item:",
        *(f"{item.value}: {text}" for item, text in DESCRIPTIONS.items()),
    )
)

SCORING: Final = f"{_OPENING}{ITEMS}\n{_CLOSING}"
SCORING_REFERENCES: Final = f"{_OPENING}{_REFERENCES}{ITEMS}\n{_CLOSING}"
SCORING_DESCRIBED: Final = f"{_OPENING}{ITEMS}\n{_DESCRIPTIONS}\n\n{_CLOSING}"
