"""How often and when it was so, by the clauses that a span lies in.

In the tables the span stands between square brackets; without brackets it is the whole text.
"""

import re
from collections.abc import Mapping

import pytest
from _pytest.mark import ParameterSet
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.services.language.timeline import timeline_of

AFFIRMED = {
    Frequency.NEARLY_EVERY_DAY: """
I'm tired every day
pretty much every night I lie awake
I can't sleep, like, all the time
I'm always tired
I never sleep
I never feel happy
every single day
six nights a week I'm up
twelve of the last fourteen days
I'm tired 24/7
I'm exhausted all day
I haven't slept well once this week
nearly every day
""",
    Frequency.MORE_THAN_HALF: """
I'm tired most days
most of the time I feel low
more days than not
four or five nights a week I can't sleep
I often feel sad
ten out of the past fourteen days
Most nights, [I lie awake]
I rarely sleep well
I hardly ever feel rested
four days out of six I'm worn out
eleven days out of the fourteen I felt sad
most weeks I feel low
usually I'm down
""",
    Frequency.SEVERAL_DAYS: """
sometimes I feel down
a couple of nights I couldn't sleep
every now and then I'm sad
not every day but I feel down
two or three days a week I'm tired
on and off I feel sad
it comes and goes
three nights this week
twice this week I couldn't get up
three afternoons a week I nod off
this week there were two days where I felt low
there are days I feel low, two or three a week
every other day
once in a while, [I feel low]
""",
    Frequency.UNSTATED: """
I feel sad
for a couple of weeks I've been sad
I have two kids
[I can't sleep.] Every day I walk the dog.
for three days I felt off
I can barely lift my arms
the pain is a four out of ten
I'm walking normally
""",
}

DENIED = {
    Frequency.SEVERAL_DAYS: """
I'm not always tired
I rarely feel sad
I'm hardly ever guilty
most nights I sleep fine
""",
    Frequency.NOT_AT_ALL: """
never
I never feel sad
not at all
not once
I haven't felt low once this week
I haven't been restless at all this week
I sleep fine every night
not a single day
""",
    Frequency.UNSTATED: """
I don't feel sad
""",
}

TIMEFRAMES = {
    Timeframe.PAST: """
I used to be depressed
I was really down when I was younger
years ago I couldn't sleep
back in college I felt hopeless
I've been hospitalised in the past
growing up I was always sad
When I was a kid, [I felt worthless]
when my dad was dying I couldn't eat
in the navy I barely slept
in nursing school I was anxious
during the divorce I felt worthless
before the operation I slept well
after my mum died I cried every day
in 2014 I was low
that was in the eighties, I was depressed
When I was a student, and this is going back, [I couldn't focus]
Back at the factory it was bad, [I couldn't sleep]
[I was crying every day], that was years ago
I was in pieces, but that's all behind me
[I had a lot of energy in my twenties], now I'm tired
my first marriage, [I felt worthless]
[I used to be tired] but not anymore
""",
    Timeframe.RECENT: """
lately I'm tired
I've been sleeping badly
these days I can't focus
the past two weeks I've felt low
in the past few weeks I've been sad
I haven't been eating
I don't enjoy anything anymore
since last year I've been down
I still feel sad
I didn't sleep last night
I was sick years ago but [lately I'm down]
I used to cook every day, [now I just have toast]
[since the accident I can't sleep]
this past fortnight I've been low
for the last 48 hours I've been restless
""",
    Timeframe.UNSTATED: """
I'm tired
I can't sleep
I'm used to it
I don't sleep like I used to
I don't enjoy the things I used to
I got used to feeling tired
I was sad
now and then I feel low
I can't sit still
I've got no energy
I've lost my appetite
I've never been a worrier
I'm in the army and I can't sleep
when I try to read I drift off
after lunch I feel tired
""",
}


def rows(tables: Mapping[Frequency, str] | Mapping[Timeframe, str]) -> list[ParameterSet]:
    return [
        pytest.param(row, expected, id=row)
        for expected, table in tables.items()
        for row in table.strip().splitlines()
    ]


def span_of(row: str) -> tuple[str, int, int]:
    marked = re.search(r"\[(.*)\]", row)
    if marked is None:
        return row, 0, len(row)
    words = row.replace("[", "").replace("]", "")
    return words, marked.start(), marked.start() + len(marked[1])


def frequency_in(row: str, polarity: Polarity) -> Frequency:
    words, start, end = span_of(row)
    return timeline_of(words).frequency_of(start, end, polarity)


@pytest.mark.parametrize(("row", "frequency"), rows(AFFIRMED))
def test_how_often_a_symptom_is_there(row: str, frequency: Frequency) -> None:
    assert frequency_in(row, Polarity.AFFIRMED) is frequency


@pytest.mark.parametrize(("row", "frequency"), rows(DENIED))
def test_how_often_what_is_denied_is_there(row: str, frequency: Frequency) -> None:
    assert frequency_in(row, Polarity.DENIED) is frequency


@pytest.mark.parametrize(("row", "timeframe"), rows(TIMEFRAMES))
def test_time_is_read_from_the_clause(row: str, timeframe: Timeframe) -> None:
    words, start, end = span_of(row)
    assert timeline_of(words).timeframe_of(start, end) is timeframe


@given(st.text(max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_any_span_of_any_text_can_be_read(words: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(words)), min(other, len(words))))
    times = timeline_of(words)
    assert times.frequency_of(start, end, Polarity.UNCLEAR) in Frequency
    assert times.timeframe_of(start, end) in Timeframe
