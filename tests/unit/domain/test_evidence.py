from ai_psychiatrist.domain.evidence import (
    Frequency,
    Match,
    Polarity,
    Quote,
    Segment,
    Timeframe,
    distinct_quotes,
    stated_frequency,
)


def quote(
    polarity: Polarity,
    start: int = 0,
    timeframe: Timeframe = Timeframe.UNSTATED,
    frequency: Frequency = Frequency.UNSTATED,
) -> Quote:
    return Quote(
        text="words",
        segments=(Segment(turn=0, start=start, end=start + 5),),
        match=Match.EXACT,
        polarity=polarity,
        timeframe=timeframe,
        frequency=frequency,
    )


AFFIRMED = quote(Polarity.AFFIRMED, start=0)
DENIED = quote(Polarity.DENIED, start=10)
UNCLEAR = quote(Polarity.UNCLEAR, start=20)
PAST = quote(Polarity.AFFIRMED, start=30, timeframe=Timeframe.PAST)


def test_quote_of_the_same_place_counts_once() -> None:
    assert distinct_quotes([AFFIRMED, DENIED, AFFIRMED]) == (AFFIRMED, DENIED)


def test_the_highest_frequency_of_affirming_words_about_the_present_is_stated() -> None:
    some = quote(Polarity.AFFIRMED, 0, frequency=Frequency.SEVERAL_DAYS)
    most = quote(Polarity.AFFIRMED, 10, frequency=Frequency.MORE_THAN_HALF)
    denied = quote(Polarity.DENIED, 20, frequency=Frequency.NEARLY_EVERY_DAY)
    past = quote(Polarity.AFFIRMED, 30, Timeframe.PAST, Frequency.NEARLY_EVERY_DAY)

    assert stated_frequency([most, some, denied, past]) is Frequency.MORE_THAN_HALF
    assert stated_frequency([denied, past]) is Frequency.UNSTATED
