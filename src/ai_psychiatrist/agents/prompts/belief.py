"""What models are asked to say how sure an item's score is: one character, or typed questions."""

from typing import Final

from ai_psychiatrist.agents.prompts.shared import ITEMS
from ai_psychiatrist.domain.phq8 import Item

ABOUT: Final = {
    Item(key): about
    for key, _, about in (line.partition(": ") for line in ITEMS.splitlines()[1:] if line)
}
"""What each item is about."""

LEVELS: Final = (
    "not at all: the words deny it, or say that this is fine",
    "on several days",
    "on more than half of the days",
    "nearly every day",
)
"""The scores 0 to 3."""

TOKENS: Final = f"""\
Task: belief_tokens

How often over the last two weeks did the participant have what this item is about?
{{item}}
These words, found in the transcript, are the evidence:
{{evidence}}
0 = {LEVELS[0]}
1 = {LEVELS[1]}
2 = {LEVELS[2]}
3 = {LEVELS[3]}
N = the words do not tell how often

Reply with this one character, 0, 1, 2, 3 or N, and nothing else.
"""

HOW_OFTEN: Final = "By these words alone: how often, over the last two weeks, was there {about}?"
IS_TOLD: Final = "Do these words tell whether, in the last two weeks, there was {about}?"
"""For decision models, whose questions stand apart from the words."""
DECISION: Final = "\n".join((HOW_OFTEN, *LEVELS, IS_TOLD))
"""All that they are asked."""
