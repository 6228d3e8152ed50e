"""Polarity, frequency and time of spoken clauses.

In the tables the span stands between square brackets; without brackets it is the whole text.
"""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.services.cues.answers import polarity_of_answer
from ai_psychiatrist.services.cues.clauses import WINDOW, clauses_around, clauses_of
from ai_psychiatrist.services.cues.frequency import frequency_of
from ai_psychiatrist.services.cues.lexicon import lexicon_from, words_of
from ai_psychiatrist.services.cues.polarity import polarity_of, read_turn
from ai_psychiatrist.services.cues.tense import timeframe_of

AFFIRMED = """
I can't sleep
I haven't really been eating
I don't enjoy anything these days
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
I don't think I can sleep like this
I'm not sleeping well
i dont enjoy anything
cant sleep
I don’t feel rested
I can’t concentrate
do n't feel rested
never not tired
you can't say I'm not [tired]
I can't hardly sleep
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
nobody cares about me
I don't want to do anything
I don't want to be a burden, but I am one
I couldn't care less about food
I've never been so tired
I wish I was happy
I don't feel like myself
I don't sleep like I used to
I don't feel like doing anything
I barely sleep
can barely drag myself out of bed
I eat less energy bars, I have less energy
there's no point
I can't sit still
I don't get enough sleep
my appetite is gone
sleep is not great
I can't remember the last time I felt happy
not a day goes by when I don't feel sad
I don't, i don't enjoy things
I'm not sad, just [tired]
I'm not hungry and [tired] all the time
I sleep fine though I feel [worthless]
I can't sleep i'm [exhausted]
it's been hard, I can't even [focus on a film]
I keep waking up at night
I feel so [hopeless]
well, I feel down
okay so i'm tired
well i can't say i sleep well
I had good friends once, now I feel [empty]
yes
Yeah, definitely
mm-hmm
oh yeah
I'm not saying it's easy, I'm [exhausted]
I don't get any joy out of it
it never gets better
I'm nobody
I stopped eating
no appetite
not good
I pretend to be fine
It's not that I'm not worried, I am
more often than not I feel miserable
nine days out of ten I'm exhausted
I could barely get out of the chair
a touch tired, nothing serious
not exactly the life of the party
I can't face a meal before noon
well anyway, I'm worthless
I'd give anything for one decent night
it never lets up
I keep losing my train of thought
I'm off my food
sometimes
no, no... actually, yes
this sadness, it's there every day
why can't I just be happy?
what's the point of any of it?
my wife makes me feel useless
I used to be depressed
it was fine before, but now I'm exhausted
I slept fine last year but now I can't sleep
I blame myself, you know?
I'm up and down like a yo-yo
I can't bear it
"""

DENIED = """
I don't feel hopeless
I don't [feel hopeless]
I don't feel hopeless or [worthless]
no trouble sleeping
not really sad
I'm never tired
no more than usual
I'm no more tired than anyone else
I sleep fine
my appetite is good
I've been okay
sleeping like a baby
plenty of energy
no problems at all
no
No.
nope
not at all
never
not really
No, not really.
not that I've noticed
I don't think so
I don't think I'm depressed
I wouldn't say I'm depressed
I don't feel like I'm a failure
i dont feel hopeless
I don’t feel hopeless
I'm not [sad], just tired
I haven't had any trouble concentrating
I have no trouble falling [asleep]
no i sleep great
my energy's been fine
nothing bothers me
I enjoy my work
couldn't be better
I can't complain
I haven't lost my appetite
I sleep through the night
not too bad
my sleep isn't a problem
I rarely feel sad
no thoughts of hurting myself
I get eight hours a night
I'm doing alright
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
I don't have any difficulty with that
I haven't noticed anything like that
I've got lots of energy
I don't think that I have been feeling any more tired
I can concentrate
It's not that I don't enjoy it
it's not like I've lost interest
I used to be happy
I used to sleep like a log
right as rain
my energy's picked up
I was low in spring, but I'm fine now
it was awful for a while but that's lifted
no more forgetful than anyone my age
I get tired, no more than usual
hopeless is too strong a word
depressed? no
nothing to write home about
Not once in the past week, no.
No, absolutely not.
I rarely feel guilty
I hardly ever lose track
I've been really into cooking lately
I'm getting loads done
I don't wake up early
I'm over it now
it isn't that I can't cope
I don't, you know, feel sad
I'm not, er, sad, not at home anyway
the rash has cleared up
we get on brilliantly
"""

UNCLEAR = """
I guess
maybe
I don't know
it depends
not sure
if I was depressed I'd say so
I wonder if I'm depressed
I'm not tired all the time
I'm not always sad
good days and bad days
I'm sad, but I'm fine
I should be happy
no puedo dormir
睡不着
<<<<
...
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
am I depressed
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
"""


def rows(table: str) -> list[str]:
    return table.strip().splitlines()


def span_of(row: str) -> tuple[str, int, int]:
    marked = re.search(r"\[(.*)\]", row)
    if marked is None:
        return row, 0, len(row)
    words = row.replace("[", "").replace("]", "")
    return words, marked.start(), marked.start() + len(marked[1])


@pytest.mark.parametrize("row", rows(AFFIRMED), ids=str)
def test_a_symptom_or_a_negated_function_is_affirmed(row: str) -> None:
    assert polarity_of(*span_of(row)) is Polarity.AFFIRMED


@pytest.mark.parametrize("row", rows(DENIED), ids=str)
def test_a_negated_symptom_or_wellness_is_denied(row: str) -> None:
    assert polarity_of(*span_of(row)) is Polarity.DENIED


@pytest.mark.parametrize("row", rows(UNCLEAR), ids=str)
def test_what_is_hedged_mixed_or_not_understood_is_unclear(row: str) -> None:
    assert polarity_of(*span_of(row)) is Polarity.UNCLEAR


FREQUENCIES = {
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
I'm not always tired
three nights this week
I rarely feel sad
I'm hardly ever guilty
twice this week I couldn't get up
three afternoons a week I nod off
this week there were two days where I felt low
there are days I feel low, two or three a week
most nights I sleep fine
every other day
once in a while, [I feel low]
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
I feel sad
for a couple of weeks I've been sad
I don't feel sad
I have two kids
[I can't sleep.] Every day I walk the dog.
for three days I felt off
I can barely lift my arms
the pain is a four out of ten
I'm walking normally
""",
}


@pytest.mark.parametrize(
    ("row", "frequency"),
    [
        pytest.param(row, value, id=row)
        for value, table in FREQUENCIES.items()
        for row in rows(table)
    ],
)
def test_frequency_is_read_from_the_clause(row: str, frequency: Frequency) -> None:
    assert frequency_of(*span_of(row)) is frequency


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


@pytest.mark.parametrize(
    ("row", "timeframe"),
    [
        pytest.param(row, value, id=row)
        for value, table in TIMEFRAMES.items()
        for row in rows(table)
    ],
)
def test_time_is_read_from_the_clause(row: str, timeframe: Timeframe) -> None:
    assert timeframe_of(*span_of(row)) is timeframe


SPOKEN = st.lists(
    st.sampled_from(
        [*rows(AFFIRMED), *rows(DENIED), *rows(UNCLEAR), *rows(TIMEFRAMES[Timeframe.PAST])]
    ),
    min_size=1,
    max_size=5,
).map(lambda told: re.sub(r"[\[\]]", "", ". ".join(told))[:WINDOW])


@given(SPOKEN, st.integers(0, WINDOW), st.integers(0, WINDOW))
def test_a_reading_of_the_turn_answers_like_a_reading_of_the_span(
    words: str, one: int, other: int
) -> None:
    start, end = sorted((min(one, len(words)), min(other, len(words))))
    reading = read_turn(words)
    assert reading.polarity_of(start, end) is polarity_of(words, start, end)
    assert reading.frequency_of(start, end) is frequency_of(words, start, end)
    assert reading.timeframe_of(start, end) is timeframe_of(words, start, end)


@pytest.mark.parametrize(
    ("question", "answer", "polarity"),
    [
        ("Any trouble sleeping?", "no", Polarity.DENIED),
        ("Do you sleep well?", "no", Polarity.AFFIRMED),
        ("How often do you feel low?", "most days", Polarity.AFFIRMED),
        ("How often do you sleep well?", "most nights", Polarity.DENIED),
        ("Little interest or pleasure in things?", "not at all", Polarity.DENIED),
        ("Are you sad?", "yes and no", Polarity.UNCLEAR),
        ("And at home?", "yes", Polarity.UNCLEAR),
    ],
)
def test_a_bare_answer_is_read_by_its_question(
    question: str, answer: str, polarity: Polarity
) -> None:
    assert polarity_of_answer(answer, question) is polarity


@pytest.mark.parametrize(
    ("words", "clauses"),
    [
        ("I sleep fine but I feel sad", ["I sleep fine ", "but I feel sad"]),
        ("I'm sad. I can't sleep", ["I'm sad. ", "I can't sleep"]),
        ("Most days, I feel tired", ["Most days, I feel tired"]),
        ("when I was young, I slept", ["when I was young, I slept"]),
        ("I'm sad, I can't sleep", ["I'm sad,", " I can't sleep"]),
        ("I'm so tired and so sad", ["I'm so tired and so sad"]),
        ("it was 2.5 hours", ["it was 2.5 hours"]),
        ("", []),
    ],
)
def test_clauses_end_where_a_new_statement_begins(words: str, clauses: list[str]) -> None:
    assert [words[clause.start : clause.end] for clause in clauses_of(words)] == clauses


@given(st.text(alphabet="i 'tm.,!?\nand but’睡\u200b<-", max_size=900))
def test_clauses_tile_any_text_and_stay_short(words: str) -> None:
    clauses = clauses_of(words)
    assert "".join(words[clause.start : clause.end] for clause in clauses) == words
    assert all(0 < clause.end - clause.start <= WINDOW for clause in clauses)


@given(st.text(max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_any_span_of_any_text_can_be_read(words: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(words)), min(other, len(words))))
    assert polarity_of(words, start, end) in Polarity
    assert frequency_of(words, start, end) in Frequency
    assert timeframe_of(words, start, end) in Timeframe


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("a" * 100_000, id="one_word"),
        pytest.param("i feel tired and not sad " * 4_000, id="no_punctuation"),
        pytest.param("<" * 80_000, id="angle_brackets"),
        pytest.param(", i" * 40_000, id="commas"),
        pytest.param("\n \n" * 40_000, id="blank_lines"),
    ],
)
def test_a_span_costs_the_same_in_hostile_text(words: str) -> None:
    began = time.process_time()
    for start in range(0, len(words), len(words) // 20):
        polarity_of(words, start, start + 10)
        frequency_of(words, start, start + 10)
        timeframe_of(words, start, start + 10)
    assert time.process_time() - began < 0.5


def test_a_clause_does_not_reach_beyond_the_window() -> None:
    words = "not " + "x " * WINDOW + "sad"
    (clause,) = clauses_around(words, len(words) - 3, len(words))[-1:]
    assert clause.start > 0


def test_words_keep_their_offsets_under_invisible_characters() -> None:
    text = "\ufeffI feel hope\u200bless"
    words = words_of(text)
    assert words.texts == ("i", "feel", "hopeless")
    assert [text[start:end] for start, end in words.spans] == ["I", "feel", "hope\u200bless"]


@pytest.mark.parametrize(
    ("word", "normalised"),
    [("Don’t", "dont"), ("I'm", "im"), ("I'll", "i'll"), ("we're", "we're"), ("CAN'T", "cant")],
)
def test_apostrophes_go_unless_another_word_would_appear(word: str, normalised: str) -> None:
    assert words_of(word).texts == (normalised,)


def test_the_longest_phrase_wins_and_alternatives_nest() -> None:
    cues = lexicon_from({"short": ["feel"], "long": ["(feel(|s|ing)|felt) (down|low)"]})
    found = [
        (hit.cue, hit.text) for hit in cues.find(words_of("I feel it, feeling low, felt down"))
    ]
    assert found == [("short", "feel"), ("long", "feeling low"), ("long", "felt down")]
