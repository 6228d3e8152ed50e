"""Lies and truths by the hundred thousand about what real people said, and what is accepted.

There must be no lie among those that are accepted.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from rapidfuzz import fuzz

from ai_psychiatrist.domain.evidence import Quote, UnverifiedQuote
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.evidence_validation import normalize_for_quote_match
from ai_psychiatrist.services.evidence_validation.transcript_index import (
    GroundingMode,
    TranscriptIndex,
)
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from benchmarks.conversations import Utterance, conversations, utterances
from benchmarks.lies import (
    BEHIND_FILLER,
    IN_CONTRACTION,
    LIES,
    SOUNDS,
    bare,
    core,
    is_ending,
    joined,
    once,
    only_leaves_out_repetitions,
    spoken_words,
    without_pronouns_said_again,
    written_out,
)
from benchmarks.truths import TRUTHS, WRITTEN_OUT

MODES: Final[tuple[GroundingMode, ...]] = ("substring", "fuzzy")
OUTCOMES: Final = ("accepted", "elsewhere", "refused")
FEWEST_WORDS: Final = 6
MOST_WORDS: Final = 16
EMPTY: Final = frozenset(
    "sometimes something anything everything definitely certainly somewhat usually thousand "
    "hundred seventeen fourteen fifteen nineteen thirteen eighteen sixteen eleven seventy actually "
    "constantly absolutely you're they're weren't couldn't wouldn't "
    "shouldn't haven't doesn't eightysix twentyone slightly".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lie:
    """A quote that was not said, about one conversation."""

    kind: str
    conversation: int
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """A faithful quote of a small transcript, and the characters that it stands for."""

    kind: str
    transcript: str
    quote: str
    start: int
    end: int


def lies(count: int, *, seed: int = 0) -> Iterator[Lie]:
    """Yield lies of all kinds in turn.

    Each is checked by plain word search to be absent even when sounds and repetitions are left out:
    a change that only moves an "um" is no lie.
    """
    choose = random.Random(seed)  # noqa: S311 - repeatable
    said_by = [_own_words(transcript) for transcript in conversations()]
    everything = utterances()
    makers: dict[str, Callable[[Utterance], str | None]] = {
        kind: partial(_changed, change=change, choose=choose) for kind, change in LIES.items()
    }
    makers[BEHIND_FILLER] = lambda said: _lie_of(said, LIES[BEHIND_FILLER], choose)
    makers["interviewer's words"] = lambda said: _interviewers(said, choose)
    makers["spliced over speakers"] = lambda said: _spliced(said, choose)
    makers["another conversation"] = lambda _: _cut(choose.choice(everything), choose)
    makers["stop words"] = lambda _: choose.choice(["i", "and the", "it was", "so I", "of a", "7"])
    checks = {BEHIND_FILLER: _was_said_so, IN_CONTRACTION: _was_said_in_this_form}
    made = 0
    while made < count:
        for kind, make in makers.items():
            said = choose.choice(everything)
            quote = make(said)
            was_said = checks.get(kind, _was_said)
            if not quote or was_said(said_by[said.conversation], quote):
                continue
            yield Lie(kind=kind, conversation=said.conversation, quote=quote)
            made += 1


def truths(count: int, *, seed: int = 1) -> Iterator[Truth]:
    """Yield faithful quotes of all kinds in turn."""
    choose = random.Random(seed)  # noqa: S311 - repeatable
    everything = utterances()
    made = 0
    while made < count:
        for kind, make in TRUTHS.items():
            words = choose.choice(everything).words.split()
            start, end = _bounds(words, choose)
            truth = make(words[start:end], choose)
            if truth is None or not _is_quotable(words[start:end]):
                continue
            before, after = " ".join(words[:start]), " ".join(words[end:])
            head = f"Interviewer: Go on.\nParticipant: {before}{' ' if before else ''}"
            yield Truth(
                kind=kind,
                transcript=f"{head}{truth.spoken} {after}\nInterviewer: Thank you.",
                quote=truth.quote,
                start=len(head),
                end=len(head) + len(truth.spoken),
            )
            made += 1


def _is_quotable(words: Sequence[str]) -> bool:
    """Whether a cut begins and ends with words, holds no tag, and says something."""
    first, last = bare(words[0]), bare(words[-1])
    if not first or not last or any("<" in word for word in words):
        return False
    if first in {"know", "mean"} or last in {"you", "i"}:
        return False  # half of an aside
    return any(len(bare(word)) > 6 and bare(word) not in EMPTY for word in words)


def _bounds(words: Sequence[str], choose: random.Random) -> tuple[int, int]:
    length = choose.randint(FEWEST_WORDS, min(MOST_WORDS, len(words)))
    start = choose.randint(0, len(words) - length)
    end = start + length
    # Some transcribers write "do n't", which is one word.
    while start and is_ending(words[start]):
        start -= 1
    while end < len(words) and is_ending(words[end]):
        end += 1
    return start, end


def _cut(said: Utterance, choose: random.Random) -> str:
    words = said.words.split()
    start, end = _bounds(words, choose)
    return " ".join(words[start:end])


def _changed(
    said: Utterance,
    change: Callable[[list[str], random.Random], list[str] | None],
    choose: random.Random,
) -> str | None:
    changed = change(_cut(said, choose).split(), choose)
    return None if changed is None else " ".join(changed)


def _lie_of(
    said: Utterance,
    change: Callable[[list[str], random.Random], list[str] | None],
    choose: random.Random,
) -> str | None:
    changed = change(said.words.split(), choose)
    return None if changed is None else " ".join(changed)


def _interviewers(said: Utterance, choose: random.Random) -> str | None:
    transcript = conversations()[said.conversation]
    turns = [
        words
        for turn in transcript.turns
        if turn.speaker is Speaker.INTERVIEWER
        and len(words := transcript.words(turn).split()) >= FEWEST_WORDS
    ]
    return " ".join(choose.choice(turns)[:MOST_WORDS]) if turns else None


def _spliced(said: Utterance, choose: random.Random) -> str | None:
    transcript = conversations()[said.conversation]
    following = transcript.turns[said.turn + 1 : said.turn + 2]
    if not following or following[0].speaker is Speaker.PARTICIPANT:
        return None
    others = transcript.words(following[0]).split()
    own, length = said.words.split(), choose.randint(2, 5)
    return " ".join([*own[-length:], *others[:length]]) if len(others) >= length else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _OwnWords:
    """All that the participant says, in the forms in which a quote may be found there."""

    forms: tuple[str, ...]
    whole: str
    beside_sounds: str
    spoken: list[str]


def _own_words(transcript: Transcript) -> _OwnWords:
    texts = [transcript.words(turn) for turn in transcript.participant_turns()]
    # Where a turn begins or ends, nothing can be hidden behind a filler.
    words = " ".join(texts).split()
    return _OwnWords(
        forms=_forms(words),
        whole=_whole(words),
        beside_sounds=_with_sounds(" um ".join(["", *texts, ""]).split()),
        spoken=spoken_words(joined(words)),
    )


def _whole(words: Sequence[str]) -> str:
    """Return words without sounds and repetitions, and with contractions written out."""
    return _joined(written_out(once(without_pronouns_said_again(spoken_words(joined(words))))))


def _was_said_so(said: _OwnWords, quote: str) -> bool:
    return _with_sounds(quote.split()) in said.beside_sounds


def _with_sounds(words: Sequence[str]) -> str:
    """Return words with each filler as "um"."""
    spoken = filter(None, map(bare, joined(words)))
    return _joined(["um" if word in SOUNDS else word for word in spoken])


def _was_said(said: _OwnWords, quote: str) -> bool:
    words = quote.split()
    return (
        _was_said_in_this_form(said, quote)
        or _whole(words) in said.whole
        or only_leaves_out_repetitions(spoken_words(joined(words)), said.spoken)
    )


def _was_said_in_this_form(said: _OwnWords, quote: str) -> bool:
    forms = zip(_forms(quote.split()), said.forms, strict=True)
    return any(form in spoken for form, spoken in forms)


def _forms(words: Sequence[str]) -> tuple[str, ...]:
    """Return words with and without asides, and both with repetitions and without."""
    words = joined(words)
    plain = [word for word in map(bare, words) if word and word not in SOUNDS]
    smooth = spoken_words(words)
    return tuple(map(_joined, (plain, once(plain), smooth, once(smooth))))


def _joined(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def check_lies(count: int) -> Counter[tuple[str, str]]:
    """Return how many lies of each kind are refused, and how many accepted."""
    indexes = [TranscriptIndex(transcript) for transcript in conversations()]
    found: Counter[tuple[str, str]] = Counter()
    for lie in lies(count):
        for mode in MODES:
            result = indexes[lie.conversation].ground(lie.quote, mode=mode)
            found[lie.kind, "accepted" if isinstance(result, Quote) else "refused"] += 1
    return found


def check_truths(count: int) -> Counter[tuple[str, str]]:
    """Return how many truths of each kind are accepted in their place, elsewhere, or refused.

    Contractions are written out in fuzzy mode alone; all others are checked in both modes, and
    count as the worse of the two says.
    """
    found: Counter[tuple[str, str]] = Counter()
    for truth in truths(count):
        index = TranscriptIndex(parse_transcript(truth.transcript))
        outcomes = {
            _outcome(index.ground(truth.quote, mode=mode), truth)
            for mode in MODES
            if mode == "fuzzy" or truth.kind not in WRITTEN_OUT
        }
        found[truth.kind, max(outcomes, key=OUTCOMES.index)] += 1
    return found


def _outcome(result: Quote | UnverifiedQuote, truth: Truth) -> str:
    if isinstance(result, UnverifiedQuote):
        return "refused"
    return "accepted" if _is_there(result, truth) else "elsewhere"


def _is_there(quote: Quote, truth: Truth) -> bool:
    """Whether a quote lies in its place and holds its words, all but sounds and repetitions."""
    start, end = quote.segments[0].start, quote.segments[-1].end
    if start < truth.start or end > truth.end:
        return False
    found = core(truth.transcript[start:end].split())
    return found == core(truth.transcript[truth.start : truth.end].split())


def speed_rows(count: int) -> list[str]:
    """Time our check and two common ones on the same quotes, half of them lies."""
    choose = random.Random(2)  # noqa: S311 - repeatable
    everything = utterances()
    said = [choose.choice(everything) for _ in range(count // 2)]
    true = [(one.conversation, _cut(one, choose)) for one in said]
    false = [(lie.conversation, lie.quote) for lie in lies(count - len(true), seed=3)]
    characters = sum(len(transcript.text) for transcript in conversations())
    rows = [f"| check | s per {count:,} quotes | truths accepted | lies accepted |"]
    rows.append("| --- | ---: | ---: | ---: |")
    for name, check in (
        (f"ours, indexing {characters / 1e6:.1f} M characters included", _ours),
        ("plain substring", _substring),
        ("rapidfuzz partial_ratio ≥ 85 (a hundredth of the quotes, extrapolated)", _rapidfuzz),
    ):
        share = 100 if check is _rapidfuzz else 1
        start = time.perf_counter()
        accepted = check([*true[::share], *false[::share]])
        taken = (time.perf_counter() - start) * share
        kept = len(true[::share])
        right, wrong = sum(accepted[:kept]), sum(accepted[kept:])
        rows.append(
            f"| {name} | {taken:.1f} | {right / kept:.2%} | {wrong / len(false[::share]):.2%} |"
        )
    return rows


Quotes = Sequence[tuple[int, str]]


def _ours(quotes: Quotes) -> list[bool]:
    indexes = [TranscriptIndex(transcript) for transcript in conversations()]
    return [isinstance(indexes[number].ground(quote), Quote) for number, quote in quotes]


def _substring(quotes: Quotes) -> list[bool]:
    texts = [normalize_for_quote_match(transcript.text) for transcript in conversations()]
    return [normalize_for_quote_match(quote) in texts[number] for number, quote in quotes]


def _rapidfuzz(quotes: Quotes) -> list[bool]:
    texts = [normalize_for_quote_match(transcript.text) for transcript in conversations()]
    return [
        fuzz.partial_ratio(normalize_for_quote_match(quote), texts[number]) >= 85
        for number, quote in quotes
    ]


def table(found: Counter[tuple[str, str]], outcomes: Sequence[str]) -> Iterator[str]:
    """Write one row per kind and the sum."""
    yield f"| kind | {' | '.join(outcomes)} |"
    yield f"| --- |{' ---: |' * len(outcomes)}"
    for kind in dict.fromkeys(kind for kind, _ in found):
        yield f"| {kind} | {' | '.join(f'{found[kind, outcome]:,}' for outcome in outcomes)} |"
    sums = Counter(outcome for _, outcome in found.elements())
    yield f"| all | {' | '.join(f'{sums[outcome]:,}' for outcome in outcomes)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="grounding_volume", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    count = parser.parse_args(arguments).count
    print("\n".join(table(check_lies(count), ("refused", "accepted"))), "\n")
    print("\n".join(table(check_truths(count), OUTCOMES)), "\n")
    print("\n".join(speed_rows(count)))


if __name__ == "__main__":
    main()
