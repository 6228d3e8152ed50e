"""What grounded quotes are read to say: of an item, or of whatever they name.

In the tables a quote stands between square brackets; without brackets it is all that is said.
"""

import re

import pytest

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Quote, Relevance, Timeframe
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.evidence_validation.support import AssertionClassifier
from ai_psychiatrist.services.evidence_validation.transcript_index import TranscriptIndex
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

AFFIRMED = """
I can't sleep
I haven't really been eating
I have no energy at all
I'm not hungry, ever
never in the mood to see people
I just lie there staring at the ceiling
no, I'm tired all the time
no i'm tired all the time
I don't know, I feel like a failure
i don't know i feel like a failure
not only am I tired, I ache
I can't help but feel sad
no doubt I'm depressed
no matter how long I sleep I'm tired
I'm not sleeping well
i dont enjoy anything
cant sleep
I don’t feel rested
I can’t concentrate
do n't feel rested
never not tired
I ain't got no energy
I don't have no motivation
I lost interest in everything
I've lost my appetite
there's a lack of energy
I have trouble sleeping
it's hard to focus
I'm too tired to enjoy anything
I can't get through a day without crying
I can't stop crying
nothing is fun anymore
I don't feel like doing anything
I eat less energy bars, I have less energy
I can't sit still
I don't get enough sleep
sleep is not great
I don't, i don't enjoy things
I'm not hungry and [tired] all the time
I sleep fine though I feel [worthless]
I can't sleep i'm [exhausted]
it's been hard, I can't even [focus on a film]
I keep waking up at night
I feel so [hopeless]
well, I feel down
okay so i'm tired
I had good friends once, now I feel [empty]
I'm not saying it's easy, I'm [exhausted]
I don't get any joy out of it
I'm nobody
I stopped eating
no appetite
more often than not I feel miserable
nine days out of ten I'm exhausted
I could barely get out of the chair
well anyway, I'm worthless
I'd give anything for one decent night
I keep losing my train of thought
I'm off my food
this sadness, it's there every day
my wife makes me feel useless
I used to be depressed
it was fine before, but now I'm exhausted
I slept fine last year but now I can't sleep
I blame myself, you know?
"""

DENIED = """
I don't feel hopeless
I don't [feel hopeless]
I don't feel hopeless or [worthless]
no trouble sleeping
not really sad
I'm never tired
I'm no more tired than anyone else
I sleep fine
my appetite is good
sleeping like a baby
plenty of energy
I don't think I'm depressed
I wouldn't say I'm depressed
I don't feel like I'm a failure
i dont feel hopeless
I don’t feel hopeless
I haven't had any trouble concentrating
I have no trouble falling [asleep]
no i sleep great
my energy's been fine
I enjoy my work
I haven't lost my appetite
I sleep through the night
my sleep isn't a problem
I rarely feel sad
I get eight hours a night
I don't, I don't feel sad
I'm not restless at all
I'm not worn out
I don't lie awake
my appetite hasn't changed
I'm neither sad nor hopeless
I don't feel guilty about anything
I'm eating as usual
[My appetite is fine.] I can't sleep.
I'm tired but I'm not [sad]
I've got lots of energy
I don't think that I have been feeling any more tired
I can concentrate
it's not like I've lost interest
I used to be happy
right as rain
my energy's picked up
no more forgetful than anyone my age
I rarely feel guilty
I hardly ever lose track
I've been really into cooking lately
I don't wake up early
I'm not, er, sad, not at home anyway
"""

UNCLEAR = """
I guess
maybe
I don't know
it depends
not sure
if I was depressed I'd say so
good days and bad days
I should be happy
my husband is always tired
my son can't sleep, he's a worrier
she's very depressed
my wife reckons I'm depressed
people say I'm lazy
they say I'm slow
if I lost my job I'd feel like a failure
I'd be sad if she left
I don't know if I'm depressed
do I seem sad to you?
what do you mean by tired?
sad how?
up and down
so so
yes and no
yes, no, yes
could be worse
it all depends on the day
I could be tired
it might be stress
I'm fine in the mornings, not after lunch
I guess? hard to tell.
I feel tired[. I don't feel hopeless]
"""


def rows(table: str) -> list[str]:
    return table.strip().splitlines()


def grounded(quote: str, text: str) -> tuple[Quote, AssertionClassifier]:
    transcript = parse_transcript(text)
    found = TranscriptIndex(transcript).ground(quote)
    assert isinstance(found, Quote), found.reason
    return found, AssertionClassifier(transcript)


def in_narrative(row: str) -> Quote:
    marked = re.search(r"\[(.*)\]", row)
    quote = row if marked is None else marked[1]
    found, reader = grounded(quote, f"Participant: {re.sub(r'[][]', '', row)}")
    return reader.for_narrative(found)


@pytest.mark.parametrize("row", rows(AFFIRMED), ids=str)
def test_a_symptom_or_a_negated_function_is_affirmed(row: str) -> None:
    assert in_narrative(row).polarity is Polarity.AFFIRMED


@pytest.mark.parametrize("row", rows(DENIED), ids=str)
def test_a_negated_symptom_or_wellness_is_denied(row: str) -> None:
    assert in_narrative(row).polarity is Polarity.DENIED


@pytest.mark.parametrize("row", rows(UNCLEAR), ids=str)
def test_what_is_hedged_mixed_or_of_others_is_unclear(row: str) -> None:
    assert in_narrative(row).polarity is Polarity.UNCLEAR


@pytest.mark.parametrize(
    ("question", "answer", "polarity"),
    [
        ("Any trouble sleeping?", "No.", Polarity.DENIED),
        ("Do you sleep well?", "No.", Polarity.AFFIRMED),
        ("Are you sleeping?", "Yes.", Polarity.DENIED),
        ("Any trouble sleeping?", "Yes and no.", Polarity.UNCLEAR),
        ("And at home?", "Yes.", Polarity.UNCLEAR),
    ],
)
def test_a_bare_answer_is_read_by_its_question(
    question: str, answer: str, polarity: Polarity
) -> None:
    found, reader = grounded(answer, f"Interviewer: {question}\nParticipant: {answer}")
    (quote,) = reader.for_item([found], Item.SLEEP)
    assert quote.polarity is polarity


@pytest.mark.parametrize(
    ("words", "frequency", "timeframe"),
    [
        ("The pain wakes me most nights", Frequency.MORE_THAN_HALF, Timeframe.UNSTATED),
        ("Years ago it was all a haze", Frequency.UNSTATED, Timeframe.PAST),
    ],
)
def test_words_of_no_item_keep_how_often_and_when_they_say(
    words: str, frequency: Frequency, timeframe: Timeframe
) -> None:
    found, reader = grounded(words, f"Participant: {words}")
    (quote,) = reader.for_item([found], Item.MOVING)
    assert quote.relevance is Relevance.UNREAD
    assert (quote.frequency, quote.timeframe) == (frequency, timeframe)


def test_a_clause_of_another_language_is_not_read_as_english() -> None:
    """German "im" looks like "I'm", and the clause denies what it speaks of."""
    words = "Seit dem Winter habe ich keine Schmerzen mehr im Knie."
    found, reader = grounded(
        "habe ich keine Schmerzen mehr im Knie",
        f"Interviewer: Und jetzt?\nParticipant: {words}",
    )
    assert reader.for_narrative(found).polarity is Polarity.UNCLEAR
