"""What counts for each item and what does not, without an example.

Source: the PHQ-8 has eight of the nine DSM-IV criteria of a major depressive episode (Kroenke et
al. 2009, J Affect Disord 114:163-173).
"""

from collections.abc import Mapping
from typing import Final

from ai_psychiatrist.domain.phq8 import Item

DESCRIPTIONS: Final[Mapping[Item, str]] = {
    Item.NO_INTEREST: (
        "Lost interest or pleasure in hobbies, work, company or other things that used to "
        "attract the participant, including things that are still done but no longer enjoyed. "
        "Not: lack of time, money or opportunity alone, or dislike of one particular thing."
    ),
    Item.DEPRESSED: (
        "The mood itself: sad, low, empty, hopeless about the future, crying without relief. "
        "Grief counts as far as the mood is low now. Not: anger, worry or stress alone, or a "
        "diagnosis or treatment, which says nothing about the mood of the last two weeks."
    ),
    Item.SLEEP: (
        "Any change of sleep in either direction: lying awake for long, waking in the night or "
        "too early, broken or unrefreshing nights, or far more sleep than usual. Dreams count "
        "if they break the sleep. Not: nights that are short by choice or because of work or a "
        "small child, unless sleep is troubled as well."
    ),
    Item.TIRED: (
        "Lack of energy in body or mind during the day: exhaustion, heaviness, every task an "
        "effort. Bad sleep counts only if the participant also speaks of tiredness. Not: "
        "tiredness after hard work that passes with rest, or being tired of a person or a "
        "matter."
    ),
    Item.APPETITE: (
        "Any change of appetite in either direction: no wish to eat, meals left out for lack of "
        "appetite, or eating far more than usual, for comfort or without control. Not: a diet "
        "by choice, the quality of the food, or a change of weight without a word about eating."
    ),
    Item.FAILURE: (
        "How participants judge themselves: worthlessness, guilt out of proportion, shame, "
        "being a failure or having let the family down. Regret of a single act counts only if "
        "it turns against the whole person. What others say of the participant counts only if "
        "the participant believes it."
    ),
    Item.CONCENTRATING: (
        "Keeping the mind on what is being done, such as reading, a film, a conversation or "
        "work: losing the thread, reading a line again and again, forgetting what one was "
        "doing, difficulty in deciding. Not: poor memory for the distant past, or being "
        "interrupted by others."
    ),
    Item.MOVING: (
        "What others could see: moving or speaking clearly more slowly than usual, or the "
        "opposite, such as pacing, fidgeting, being unable to sit still. Not: inner tension "
        "without movement, slowness from injury, age or physical illness, or enjoying activity."
    ),
}
