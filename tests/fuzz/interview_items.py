"""Interview about items in process: people, and every other time models, that say anything."""

import asyncio
import io
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.interview import AnswerKind
from ai_psychiatrist.domain.interview_items import (
    ItemOutcome,
    ItemSource,
    Proposal,
    ProposalSource,
)
from ai_psychiatrist.infrastructure.logging import setup_logging
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.phq8.free_answers import ReadingKind, read_answer
from ai_psychiatrist.interview.protocol import load_protocol
from ai_psychiatrist.interview.service import AnswerSubmission, InterviewService
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from tests.fakes.interview_stores import open_interviews
from tests.fakes.participant import answer_texts
from tests.fuzz.hostile import REMARKS, unicode_text
from tests.fuzz.interview_models import InterviewSession, session
from tests.fuzz.interview_setups import SETUPS, service_of
from tests.fuzz.invariants import InvariantBroken
from tests.fuzz.mutations import cut, mutated_bytes
from tests.fuzz.tally import Tally

_MOST_TURNS: Final = 81
_MOST_ASKS: Final = 3
_MOST_REFUSED: Final = 20
_HOSTILITY: Final = 0.2
"""Share of the models' replies that break the contract."""
_AGREEING: Final = 0.5
"""Share of the questions whether something is right that are answered by a yes."""
_PIECE_CHARACTERS: Final = 16


def draw_words(draw: Random) -> str:
    """Return what a person may type: damaged, joined or doubled answers, or no words at all."""
    return draw.choice(_WORDS)(draw)


def _damaged(draw: Random) -> str:
    return draw.choice((mutated_bytes, cut))(draw, _answer(draw))


def _joined(draw: Random) -> str:
    joint = draw.choice((" but ", " and ", " or ", "… ", "\n"))
    return f"{_answer(draw)}{joint}{_answer(draw)}"


def _distorted(draw: Random) -> str:
    said = _answer(draw)
    return draw.choice((said.upper(), said.swapcase(), " ".join(said), said * 9))


def _random(draw: Random) -> str:
    return unicode_text(draw, draw.choice((1, 40, 900)), surrogates=draw.random() < 0.1)


def _remarked(draw: Random) -> str:
    return f"{draw.choice(REMARKS)} {_answer(draw)}"


def _number(draw: Random) -> str:
    number = draw.choice((draw.randrange(20), -1, 3.5, 10**30, "٣", "½", "1e9", "⅔"))
    return f"{number}{draw.choice(('', ' days', ' of 14', '/14', ' nights a week', ' %'))}"


def _answer(draw: Random) -> str:
    texts = answer_texts()
    scores = draw.choice(list(draw.choice((texts.colloquial, texts.corrected)).values()))
    plain = (texts.contradictory, texts.ambiguous, texts.evasive, texts.off_topic, texts.refusing)
    return draw.choice(draw.choice((*scores.values(), *plain)))


_WORDS: Final[tuple[Callable[[Random], str], ...]] = (
    _answer,
    _damaged,
    _damaged,
    _joined,
    _distorted,
    _random,
    _remarked,
    _number,
)


async def _lead(service: InterviewService, seed: int, tally: Tally) -> list[str]:
    """Lead one interview and return all that was said."""
    draw = Random(f"items/{seed}")  # noqa: S311 - repeatable, no secret
    session.set(InterviewSession(seed=seed, hostility=_HOSTILITY))
    shown = await service.create("phq8")
    taken: dict[int, str] = {}
    refused = 0
    while shown.question is not None:
        assert refused < _MOST_REFUSED
        words = draw_words(draw)
        is_asked_back = any(one.kind is AnswerKind.CONFIRM for one in shown.question.options)
        if is_asked_back and draw.random() < _AGREEING:
            words = "Yes."
        try:
            after = await service.answer(shown.id, _submission(shown, words))
        except InputError as error:
            _check_silent(str(error), [words])
            refused += 1
            continue
        taken[after.turn] = words
        _check(after, taken)
        shown = after
    tally.turns += len(taken)
    tally.interviews += 1
    tally.count("interview state", shown.state.value)
    for proposal in shown.proposals:
        tally.count("model's reading", proposal.outcome.value)
    for outcome in shown.items:
        reason = outcome.unknown_reason
        tally.count("item asked", f"score {outcome.score}" if reason is None else reason.value)
    await service.make_report(shown.id)
    return list(taken.values())


def _submission(shown: InterviewSnapshot, words: str) -> AnswerSubmission:
    assert shown.question is not None
    return AnswerSubmission(
        question_id=shown.question.id,
        idempotency_key=f"key-{shown.version}",
        version=shown.version,
        text=words,
    )


def _check(shown: InterviewSnapshot, taken: dict[int, str]) -> None:
    of_model = [one for one in shown.proposals if one.source is ProposalSource.MODEL]
    assert shown.spent.calls == session.get().call_count == len(of_model)
    assert len({one.item for one in of_model}) == len(of_model)
    assert shown.turn == len(taken) <= _MOST_TURNS
    assert all(goal.asks <= _MOST_ASKS for goal in shown.goals)
    assert len(shown.items) == 8
    for outcome in shown.items:
        for said in outcome.said:
            assert said.words in taken[said.turn]
        if outcome.score is None:
            continue
        assert outcome.score in range(4)
        assert outcome.source is ItemSource.ANSWER
        assert outcome.quote is not None
        assert outcome.answer_turn is not None
        words = taken[outcome.answer_turn]
        assert outcome.quote.text
        assert words[outcome.quote.start : outcome.quote.end] == outcome.quote.text
        if outcome.confirmed_turn is None:
            is_said = read_answer(outcome.item, outcome.quote.text)
            assert is_said.kind is ReadingKind.ANCHOR
        else:
            assert any(_is_of(proposal, outcome) for proposal in shown.proposals)


def _is_of(proposal: Proposal, outcome: ItemOutcome) -> bool:
    """Return whether an item has the score that was read back, by the same words."""
    proposed = (proposal.score, proposal.quote, proposal.turn, proposal.settled_turn)
    return proposed == (outcome.score, outcome.quote, outcome.answer_turn, outcome.confirmed_turn)


def _check_silent(text: str, said: list[str]) -> None:
    for words in said:
        piece = words[:_PIECE_CHARACTERS]
        if len(piece) == _PIECE_CHARACTERS and len(set(piece)) > 3:
            assert piece not in text


def run_item_interviews(seeds: Iterable[int], state_dir: Path) -> Tally:
    """Lead the interviews of these seeds; raises `InvariantBroken`."""

    async def run(store: InterviewStore, log: io.StringIO) -> Tally:
        tally = Tally()
        alone = InterviewService({"phq8": load_protocol("phq8")}, store)
        led = [service_of(setup, store) for setup in SETUPS.values()]
        for seed in seeds:
            service = led[seed // 4 % len(led)] if seed // 2 % 2 else alone
            setup_logging("DEBUG", "json" if seed % 2 else "console")
            try:
                _check_silent(log.getvalue(), await _lead(service, seed, tally))
            except Exception as error:
                detail = f"{type(error).__name__}: {error}"
                raise InvariantBroken(seed, "item_interviews_are_sound", detail) from error
            log.seek(0)
            log.truncate()
        return tally

    log = io.StringIO()
    with TemporaryDirectory(dir=state_dir) as folder, redirect_stderr(log):
        store = open_interviews(Path(folder))
        try:
            return asyncio.run(run(store, log))
        finally:
            store.close()
