"""Puts the interviews of a challenge to the assessment, and writes what it says."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from ai_psychiatrist.assessment.assessor import AssessmentOptions, Assessor
from ai_psychiatrist.assessment.parts import Part
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.belief import ScoreSet
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.evidence import Quote, Relevance, Timeframe
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.evaluation.challenge.prediction import (
    ChallengePrediction,
    GivenQuote,
    ItemAnswer,
    read_challenge_predictions,
)
from ai_psychiatrist.infrastructure.private_files import make_file, write_whole, writing_to
from ai_psychiatrist.infrastructure.tasks import work_together
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

_MEASURED: Final = frozenset({Part.SCORES})
"""What a challenge looks at, danger besides; nothing else is paid for."""
_CARRYING: Final = frozenset({Relevance.ABOUT, Relevance.UNREAD})


async def answer_challenge(
    assessor: Assessor,
    texts: Mapping[str, str],
    out: Path,
    *,
    system: str,
    concurrency: int,
    before: Mapping[str, ChallengePrediction],
    on_answer: Callable[[ChallengePrediction], None] = lambda _: None,
) -> dict[str, ChallengePrediction]:
    """Assess all interviews but those answered `before`, and write every answer to `out`.

    Each answer is in the file as soon as it is there, so that a stop loses none; at the end they
    stand in the order of the interviews. `system`: what each names as what answered. Returns all
    answers, those from before among them.
    """
    done = dict(before)
    waiting = iter([unit_id for unit_id in texts if unit_id not in before])
    write_whole(out, (one.to_line() for one in before.values()))
    with out.open("ab") as file:

        async def work() -> None:
            for unit_id in waiting:
                transcript = read_transcript(texts[unit_id])
                assessment = await assessor.assess(transcript, AssessmentOptions(parts=_MEASURED))
                said = prediction_of(assessment, unit_id, transcript.text)
                prediction = said.model_copy(update={"system": system})
                file.write(prediction.to_line())
                file.flush()
                done[unit_id] = prediction
                on_answer(prediction)

        await work_together(min(concurrency, len(texts) - len(before)), work)
    write_whole(out, (done[unit_id].to_line() for unit_id in texts))
    return done


def answers_before(
    out: Path, texts: Mapping[str, str], *, system: str, is_resumed: bool
) -> dict[str, ChallengePrediction]:
    """Return the answers that a file holds from before, without those that failed.

    Raises `InputError` for a file that is there without `is_resumed`, and for one of other
    interviews or another system.
    """
    with writing_to(out, field="--out"):
        try:
            if not is_resumed:
                os.close(make_file(out))
                return {}
            _cut_torn_line(out)
            if out.stat().st_size == 0:
                return {}
        except FileExistsError:
            msg = f"{out.name!r} already exists; name a new file, or continue with --resume"
            raise InputError(msg, field="--out") from None
    found = read_challenge_predictions(out, texts)
    other = next(iter(found.values())).system
    if other != system:
        msg = f"{out.name!r} holds answers of {other or 'another system'}, not of {system}"
        raise InputError(msg, field="--out")
    return {unit_id: one for unit_id, one in found.items() if not one.is_failed}


def _cut_torn_line(path: Path) -> None:
    """Take away a last line that a stop left half written."""
    content = path.read_bytes()
    if not content.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)


def prediction_of(assessment: Assessment, unit_id: str, text: str) -> ChallengePrediction:
    """Return what an assessment says; without scores it counts as failed."""
    scores = assessment.quantitative
    items = scores.items.items() if scores is not None and scores.has_answers else ()
    level = assessment.risk.level
    return ChallengePrediction(
        unit_id=unit_id,
        items={key: _answer(found, text) for key, found in items},
        # Unknown where words were not read.
        danger=None if level is RiskLevel.NOT_EXAMINED else level.is_urgent,
        calls=len(assessment.attempts),
    )


def _answer(found: ItemAssessment, text: str) -> ItemAnswer:
    belief = found.belief
    quotes = (given for quote in found.evidence for given in _quotes(quote, text))
    return ItemAnswer.model_validate(
        {
            "score": found.score,
            "quotes": tuple(quotes),
            "probabilities": None if belief is None else belief.probabilities,
            "set": None if belief is None or belief.set is None else _outcomes(belief.set),
        }
    )


def _outcomes(found: ScoreSet) -> tuple[int | None, ...]:
    """Return what a set holds, `None` in it for not determinable."""
    scores = () if found.low is None or found.high is None else range(found.low, found.high + 1)
    return (*scores, None) if found.not_determinable else tuple(scores)


def _quotes(quote: Quote, text: str) -> Iterator[GivenQuote]:
    """Yield the stretches of a quote that carries something of the item for the present."""
    if quote.relevance not in _CARRYING or quote.timeframe is Timeframe.PAST:
        return
    for segment in quote.segments:
        yield GivenQuote(
            text=text[segment.start : segment.end],
            start=segment.start,
            end=segment.end,
            polarity=quote.polarity,
        )
