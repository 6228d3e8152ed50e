"""How good models are on interviews with known answers, compared with the built-in baseline."""

import time
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Final

from rich.table import Column
from rich.text import Text

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.cli.console import console_of, plain, table_of
from ai_psychiatrist.cli.progress import unit_progress
from ai_psychiatrist.cli.settings import overridden
from ai_psychiatrist.config import Settings, with_model
from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.failures import Attempt, AttemptOutcome
from ai_psychiatrist.evaluation.pricing.prices import PriceList, possible_tokens
from ai_psychiatrist.evaluation.quality.counts import (
    LabelledInterview,
    QualityCounts,
    Share,
    chance_points,
)
from ai_psychiatrist.evaluation.report.wording import money
from ai_psychiatrist.infrastructure.tasks import work_together
from ai_psychiatrist.interface.application import Application, open_application

_ROWS: Final = {
    "quotes_grounded": "quotes grounded",
    "items_right": "items right",
    "scores_right": "… of those that the words show",
    "unknown_right": "… of those that they do not show",
    "polarity_errors": "polarity errors",
    "dangers_found": "dangers found",
    "false_alarms": "… false alarms",
    "replies_rejected": "replies rejected",
    "calls_failed": "calls failed",
    "incomplete": "interviews not answered in whole",
}
_WIDTH: Final = 100


async def quality_of(
    settings: Settings, interviews: Sequence[LabelledInterview]
) -> list[QualityCounts]:
    """Assess the interviews as it is set, and by the baseline; that alone where nothing else is.

    Raises `ConfigurationError` for settings that nothing can serve.
    """
    async with open_application(settings) as app:
        chains = app.services.agent_models.values()
        names = dict.fromkeys(name for chain in chains for name in chain)
        found = [await _counted(app, ", ".join(names), interviews)]
    if set(names) != {BASELINE}:
        alone = with_model(overridden(settings, "model", fallbacks=()), BASELINE)
        async with open_application(alone) as app:
            found.append(await _counted(app, BASELINE, interviews))
    return found


async def _counted(
    app: Application, name: str, interviews: Sequence[LabelledInterview]
) -> QualityCounts:
    counts, waiting = QualityCounts(name=name), iter(interviews)
    price = partial(_usd, PriceList(addresses=app.services.connections.addresses))
    started = time.perf_counter()
    with unit_progress(plain(name), requested=len(interviews), done=0) as on_end:

        async def work() -> None:
            for interview in waiting:
                result = await app.assess(interview.transcript)
                counts.add(interview, result, price)
                is_whole = result.status is AssessmentStatus.COMPLETE
                on_end(None if is_whole else result.status.value)

        await work_together(min(app.settings.model.max_concurrency, len(interviews)), work)
    counts.seconds = time.perf_counter() - started
    return counts


def _usd(prices: PriceList, attempt: Attempt) -> Decimal | None:
    """Return what a call cost; one that failed is free."""
    if attempt.outcome is AttemptOutcome.FAILED:
        return Decimal(0)
    if attempt.model != BASELINE and attempt.input_tokens is None:
        return None
    tokens = possible_tokens(
        sent=attempt.input_tokens or 0,
        written=attempt.output_tokens or 0,
        cache_read=0,
        cache_write=0,
    )
    return prices.usd(attempt.model, tokens)


def quality_as_json(found: Sequence[QualityCounts]) -> dict[str, object]:
    """Return all figures, and in words what they mean."""
    return {"systems": [one.as_json() for one in found], "words": list(quality_words(found))}


def print_quality(found: Sequence[QualityCounts]) -> None:
    """Print a column for each system, and in words what it means."""
    columns = [Column(Text(plain(one.name)), overflow="fold") for one in found]
    rows = [
        *([words, *(_cell(one.shares[name]) for one in found)] for name, words in _ROWS.items()),
        ["seconds, in all", *(f"{one.seconds:,.1f}" for one in found)],
        ["tokens in, out", *map(_tokens, found)],
        ["price", *(money(None if one.usd is None else float(one.usd)) for one in found)],
    ]
    out = console_of(_WIDTH, widest=_WIDTH)
    out.print(Text(f"Quality on {found[0].interviews} interviews of ours", style="bold"))
    out.print(table_of(["", *columns], rows, header_style="bold"))
    for line in quality_words(found):
        out.print(Text(plain(line)))


def _cell(share: Share) -> str:
    if share.value is None or share.interval is None:
        return "–"
    low, high = share.interval
    counts = f"{share.part}/{share.whole}"
    return f"{counts:<8} {share.value:4.0%} [{100 * low:.0f}, {100 * high:.0f}]"


def _tokens(one: QualityCounts) -> str:
    if not (one.input_tokens or one.output_tokens):
        return "not reported"
    more = f", {one.uncounted} calls not reported" if one.uncounted else ""
    return f"{one.input_tokens:,}, {one.output_tokens:,}{more}"


def quality_words(found: Sequence[QualityCounts]) -> Iterator[str]:
    """Yield what the figures mean, and how little so few interviews tell."""
    model, baseline = found[0], found[-1]
    points = chance_points(model.interviews)
    if model is baseline:
        yield "Only the built-in baseline is configured, so it is shown without a model."
    else:
        ours, theirs = (one.shares["items_right"].value or 0 for one in (model, baseline))
        difference = 100 * (ours - theirs)
        told = "may be chance" if abs(difference) < points else "is more than chance"
        yield (
            f"Items right: {abs(difference):.0f} points {'more' if difference >= 0 else 'fewer'} "
            f"than the baseline, which {told}."
        )
    items, unknown = model.shares["items_right"].whole, model.shares["unknown_right"].whole
    yield (
        "An item is right with the exact score if the words show it, and as unknown if they "
        f"do not: a model that never scores gets {unknown} of {items} right."
    )
    yield (
        "A polarity error is a problem that is denied and scored as present, or the reverse; it "
        "misleads more than a wrong frequency."
    )
    yield (
        "Quotes that are not grounded were not said, and are not used. The fixed phrases read for "
        "danger with every model."
    )
    yield (
        f"[a, b] is a 95 % interval (Wilson). {model.interviews} interviews of ours are few: a "
        f"difference under {points} points may be chance. They are plainer than most; your own, "
        "labelled, show more: ai-psychiatrist evaluate run --help."
    )
