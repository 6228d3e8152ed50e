"""The prompts for the score distribution of an item: one character, or typed questions."""

from typing import Final

from ai_psychiatrist.agents.prompts.shared import ITEMS
from ai_psychiatrist.domain.phq8 import Item

ABOUT: Final = {
    Item(key): about
    for key, _, about in (line.partition(": ") for line in ITEMS.splitlines()[1:] if line)
}
"""Item → its symptom, as a noun phrase."""

LEVELS: Final = (
    "not at all: the words deny it, or say that this is fine",
    "several days (2 to 6 of 14)",
    "more than half the days (7 to 11)",
    "nearly every day (12 to 14)",
)
"""The scores 0 to 3."""

TOKENS: Final = f"""\
Task: belief_tokens

How often did the participant have this symptom over the last two weeks?
{{item}}
Judge by these quotes from the transcript alone:
{{evidence}}
0 = {LEVELS[0]}
1 = {LEVELS[1]}
2 = {LEVELS[2]}
3 = {LEVELS[3]}
N = the words do not say how often

Reply with one character, 0, 1, 2, 3 or N, and nothing else.
"""

HOW_OFTEN: Final = "By these words alone, how often was there {about} over the last two weeks?"
IS_TOLD: Final = "Do these words say whether there was {about} in the last two weeks?"
"""For decision models, which get the questions apart from the words."""
DECISION: Final = "\n".join((HOW_OFTEN, *LEVELS, IS_TOLD))
"""All of their wording, for its digest."""
