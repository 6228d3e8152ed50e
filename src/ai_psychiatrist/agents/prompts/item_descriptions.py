"""What each item is about, in more words than its line says, and without an example."""

from collections.abc import Mapping
from typing import Final

from ai_psychiatrist.domain.phq8 import Item

DESCRIPTIONS: Final[Mapping[Item, str]] = {
    Item.NO_INTEREST: (
        "Whether hobbies, work, company or other things that used to attract the participant still "
        "do, and whether doing them still gives pleasure. Things that are done as before but no "
        "longer enjoyed count, and so does no longer starting them. Lack of time, money or "
        "opportunity alone does not, nor does a dislike of one particular thing."
    ),
    Item.DEPRESSED: (
        "The mood itself: sadness, lowness, emptiness, hopelessness about what is to come, crying "
        "without relief. Anger, worry or stress alone are other moods and do not count. Grief "
        "counts as far as the mood is low now. A diagnosis or a treatment names no mood of the "
        "last two weeks."
    ),
    Item.SLEEP: (
        "Any change of sleep in either direction: long to fall asleep, waking in the night or too "
        "early, broken or unrefreshing nights, or far more sleep than is usual. Short nights that "
        "are chosen, or that work or a small child brings about, count only where sleep is "
        "troubled as well. Dreams count where they break the sleep."
    ),
    Item.TIRED: (
        "Lack of energy in body or mind by day: exhaustion, heaviness, everything being an effort. "
        "It is apart from the night: bad sleep says nothing of it unless tiredness is spoken of. "
        "Being tired after hard work, and rested again afterwards, does not count; being tired of "
        "a person or of a matter does not either."
    ),
    Item.APPETITE: (
        "Any change of appetite in either direction: no wish to eat, meals left out for lack of "
        "it, or eating far more than is usual, for comfort or without control. A chosen diet, the "
        "quality of the food, or a change of weight without a word on eating does not count."
    ),
    Item.FAILURE: (
        "How the participant judges the own person: worthlessness, guilt beyond the occasion, "
        "shame, seeing oneself as a failure or as having let the family down. Regret of a single "
        "act counts only where it turns against the whole person. What others say of the "
        "participant counts where the participant takes it for true."
    ),
    Item.CONCENTRATING: (
        "Keeping the mind on what is being done, such as reading, a film, a talk or work: losing "
        "the thread, reading a line again and again, forgetting what one was about, deciding with "
        "difficulty. A poor memory for times long past does not count, nor does being kept from "
        "a task by others."
    ),
    Item.MOVING: (
        "What others could see of the body: moving or speaking clearly slower than is usual, or "
        "the contrary, pacing, fidgeting, not being able to sit still. Inner tension without "
        "movement does not count, nor does slowness from injury, age or a bodily illness, nor a "
        "liking for activity."
    ),
}
