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
Reply with one JSON object and nothing else, each value a list of strings:
{"PHQ8_NoInterest": [], "PHQ8_Depressed": [], "PHQ8_Sleep": [], "PHQ8_Tired": [],
"PHQ8_Appetite": [], "PHQ8_Failure": [], "PHQ8_Concentrating": [], "PHQ8_Moving": []}
"""

EVIDENCE: Final = f"""\
Task: evidence

For each item, list the participant's own words that say whether the symptom is there, how often or
how strongly, or that it is absent. Copy them letter by letter, one unbroken stretch of one turn
each, long enough to be understood without the question. At most six per item. An item that the
participant does not speak about gets an empty list.

{ITEMS}
{in_template(EVIDENCE_FORMAT)}"""

_OPENING: Final = """\
Task: scoring

Score each item from the transcript and from the quotes below, which were found in it word by word.

{evidence}

"""

SCORING_FORMAT: Final = """\
Think first if you need to. Then reply with one JSON object of all eight items between answer tags:
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
0 = not at all: the participant denies it or says that this is fine
1 = on several days
2 = on more than half of the days
3 = nearly every day
N/A = the participant does not speak about it, or how often cannot be told

A score of 1 to 3 needs words of the participant that say that the symptom is there; a 0 needs words
that deny it. Words about the past alone carry no score. Without such words the score is N/A.
confidence: 1 (a guess) to 5 (certain).

{in_template(SCORING_FORMAT)}"""

_REFERENCES: Final = """\
For some items there are stretches of interviews with other people, each with the score that it was
given for the item. They show how scores are given. They say nothing of this participant: no word of
them is evidence here.

{references}

"""

_DESCRIPTIONS: Final = "\n".join(f"{item.value}: {text}" for item, text in DESCRIPTIONS.items())

SCORING: Final = f"{_OPENING}{ITEMS}\n{_CLOSING}"
SCORING_REFERENCES: Final = f"{_OPENING}{_REFERENCES}{ITEMS}\n{_CLOSING}"
SCORING_DESCRIBED: Final = f"{_OPENING}{ITEMS}\nIn more words:\n{_DESCRIPTIONS}\n\n{_CLOSING}"
