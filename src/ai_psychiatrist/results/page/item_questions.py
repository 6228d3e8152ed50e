"""What each item asks about, in a line, for whoever scores it."""

from collections.abc import Mapping
from typing import Final

from ai_psychiatrist.domain.phq8 import Item

ITEM_QUESTIONS: Final[Mapping[Item, str]] = {
    Item.NO_INTEREST: "Little interest in things, little pleasure in doing them",
    Item.DEPRESSED: "Low, sad or hopeless mood",
    Item.SLEEP: "Trouble falling or staying asleep, or sleeping too much",
    Item.TIRED: "Tiredness, little energy",
    Item.APPETITE: "Poor appetite, or eating too much",
    Item.FAILURE: "Feeling bad about oneself, a failure, or a disappointment",
    Item.CONCENTRATING: "Trouble keeping the mind on something, such as reading",
    Item.MOVING: "Slowed movement or speech that others notice, or restlessness",
}
"""Over the last two weeks, in this project's own words."""
