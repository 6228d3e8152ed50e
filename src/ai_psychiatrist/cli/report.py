"""An assessment for people to read in a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ai_psychiatrist.agents.pydantic_agents import ABLATION
from ai_psychiatrist.cli.belief_words import item_belief, total_belief
from ai_psychiatrist.cli.console import console_of, plain
from ai_psychiatrist.cli.drive_words import STYLES, has_drives, item_drive
from ai_psychiatrist.cli.risk_report import print_risk
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.evidence import Frequency, Quote, Timeframe, UnreadAnswer
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.domain.narrative import MetaReview, NarrativeEvaluation, QualitativeAssessment
from ai_psychiatrist.results.page.sentences import band_words, total_words
from ai_psychiatrist.results.wording import part_of_failure, parts_words, unknown_words

_PIPE_WIDTH = 100
_ITEM_WIDTH = 13
_SCORE_WIDTH = 12
"""As long as the longest words of the two columns."""


def print_report(result: Assessment, console: Console | None = None) -> None:
    """Print a result; texts of transcript and models are shown as they are and never act."""
    out = console or console_of(_PIPE_WIDTH)
    print_risk(out, result.risk)
    _heading(out, result)
    if result.quantitative is not None:
        _scores(out, result, result.quantitative)
    if result.qualitative is not None:
        _narrative(out, result.qualitative)
    if result.evaluation is not None:
        _judgement(out, result.evaluation)
    if result.meta_review is not None:
        _meta_review(out, result.meta_review)
    _account(out, result)


def _heading(out: Console, result: Assessment) -> None:
    out.print(Text("PHQ-8 assessment", style="bold"))
    out.print(Text(result.notice, style="dim"))
    scores, band = result.quantitative, band_words(result)
    if scores is None or total_words(result) == "none":
        out.print(f"Total: none, {band}")
    elif scores.total_score is not None:
        out.print(f"Total: {scores.total_score} of 24, {band}")
    else:
        out.print(
            f"Total: between {scores.total_score_min} and {scores.total_score_max} of 24 "
            f"({scores.na_count} items unknown), {band}"
        )
    if scores is not None and (believed := total_belief(scores)):
        out.print(Text(believed, style="dim"))
    _transcript(out, result)
    out.print()


def _transcript(out: Console, result: Assessment) -> None:
    """Say whose words count, and what was assumed about the file."""
    read = result.transcript
    if result.speakers_assumed:
        out.print("The transcript has no speaker labels: all of it counts as the participant's.")
    else:
        speakers = (
            f"{plain(one.label or 'no label')} {one.role.value} ({one.turns})"
            for one in read.speakers
        )
        out.print(Text(f"Speakers (turns): {', '.join(speakers)}"))
    notes = (
        f"{note.code.replace('_', ' ')} ({note.count})"
        for note in read.notes
        if note.code != "speakers_assumed"
    )
    form = read.form if read.encoding is None else f"{read.form} in {read.encoding}"
    out.print(Text(f"Read as {form}. {', '.join(notes)}".strip(), style="dim"))
    if in_parts := parts_words(read):
        out.print(Text(in_parts))
    if any(note.code == "words_set_aside" for note in read.notes):
        out.print(Text("Stretches of the participant's turns were set aside: label who says them."))


def _scores(out: Console, result: Assessment, scores: PHQ8Assessment) -> None:
    table = Table(show_lines=True, expand=True)
    items = [*scores.items.values()]
    has_more = has_drives(items)
    # Beside one more column, a share of a narrow terminal would be too little for a whole word.
    share = None if has_more else 2
    table.add_column("Item", ratio=share, max_width=_ITEM_WIDTH if has_more else None)
    table.add_column("Score", ratio=share, max_width=_SCORE_WIDTH if has_more else None)
    table.add_column("The participant's words, and where they stand", ratio=7, overflow="fold")
    if has_more:
        table.add_column("Does the evidence drive it?", ratio=4, overflow="fold")
    for item in items:
        evidence = _evidence(item, result.transcript.turn_seconds)
        table.add_row(Text(item.label), _score(result, item), evidence, *_drive(item))
    out.print(table)
    if scores.na_count and total_words(result) != "none":
        out.print(Text("An unknown item is not a 0: the total is a range.", style="dim"))
    out.print()


def _drive(item: ItemAssessment) -> tuple[Text, ...]:
    if item.drive is None:
        return ()
    return (Text(item_drive(item.drive), style=STYLES[item.drive.verdict]),)


def _score(result: Assessment, item: ItemAssessment) -> Text:
    shown, believed = _answer(result, item), item_belief(item)
    return shown.append(f"\n{believed}", style="not bold dim") if believed else shown


def _answer(result: Assessment, item: ItemAssessment) -> Text:
    if item.score is None:
        proposed = "" if item.proposed_score is None else f"\n(proposed {item.proposed_score})"
        return Text(f"unknown: {unknown_words(item, result)}{proposed}", style="yellow")
    confidence = "" if item.confidence is None else f"\nconfidence {item.confidence}/5"
    shown = Text(f"{item.score}{confidence}", style="bold")
    if item.score and item.frequency is Frequency.UNSTATED:
        shown.append("\nfrequency never stated", style="yellow")
    return shown


def _evidence(item: ItemAssessment, turn_seconds: Sequence[float | None]) -> Text:
    lines = Text("\n").join(
        [
            *(_quote(quote, turn_seconds) for quote in item.evidence),
            *_unread(item.unread_answer, turn_seconds),
        ]
    )
    for quote in item.unverified_quotes:
        reason = quote.reason.value.replace("_", " ") if quote.reason else "not checked"
        lines.append(f"\nunverified ({reason}): {plain(quote.text)}", style="red")
    return lines


def _quote(quote: Quote, turn_seconds: Sequence[float | None]) -> Text:
    places = ", ".join(
        f"turn {part.turn + 1}{_at(turn_seconds, part.turn)}, {part.start}-{part.end}"
        for part in quote.segments
    )
    shown = Text(f"“{plain(quote.text)}” ")
    facts = [quote.polarity.value]
    if quote.frequency is not Frequency.UNSTATED:
        facts.append(quote.frequency.value.replace("_", " "))
    if quote.timeframe is not Timeframe.UNSTATED:
        facts.append(quote.timeframe.value)
    return shown.append(f"[{places}; {', '.join(facts)}]", style="dim")


def _unread(found: UnreadAnswer | None, turn_seconds: Sequence[float | None]) -> Iterator[Text]:
    """Yield the question for an item and the answer from which nothing was read."""
    if found is None:
        return
    for who, said, turn in (
        ("asked", found.question, found.question_turn),
        ("not read", found.answer, found.answer_turn),
    ):
        line = Text(f"{who}: “{plain(said)}” ", style="yellow")
        yield line.append(f"[turn {turn + 1}{_at(turn_seconds, turn)}]", style="dim")


def _at(turn_seconds: Sequence[float | None], turn: int) -> str:
    seconds = turn_seconds[turn] if turn_seconds else None
    if seconds is None:
        return ""
    minutes, rest = divmod(int(seconds), 60)
    return f" at {minutes}:{rest:02}"


def _narrative(out: Console, findings: QualitativeAssessment) -> None:
    sections = {
        "Findings": findings.overall,
        "Symptoms": findings.phq8_symptoms,
        "Social factors": findings.social_factors,
        "Biological factors": findings.biological_factors,
        "Risk factors": findings.risk_factors,
    }
    for title, text in sections.items():
        _section(out, title, text)
    lines = (
        f"“{plain(quote.text)}”{'' if quote.verified else '  [unverified]'}"
        for quote in findings.supporting_quotes
    )
    _section(out, "Quotes", "\n".join(lines) or "none")


def _section(out: Console, title: str, text: str) -> None:
    out.print(Text(title, style="bold"))
    out.print(Padding(Text(plain(text)), (0, 0, 1, 2)))


def _judgement(out: Console, evaluation: NarrativeEvaluation) -> None:
    lines = [
        f"{metric.value}: {score.score} of 5. {score.explanation}"
        for metric, score in evaluation.best.scores.items()
    ]
    rounds = len(evaluation.rounds)
    lines.append(f"Round {evaluation.iteration + 1} of {rounds} was kept.")
    _section(out, "Judgement of the findings", "\n".join(lines))


def _meta_review(out: Console, review: MetaReview) -> None:
    lines = [f"Severity: {review.severity_label or 'unknown'}", review.explanation]
    if review.contradicts_item_scores:
        lines.append("This severity contradicts the range that the item scores allow.")
    _section(out, "Meta-review", "\n".join(lines))


def _account(out: Console, result: Assessment) -> None:
    rejected = sum(attempt.code is not None for attempt in result.attempts)
    lines = [f"{len(result.attempts)} model calls, {rejected} of them without an accepted reply"]
    if result.hosts:
        lines.append(f"Words of the transcript were sent to {', '.join(result.hosts)}")
    again = sum(attempt.agent == ABLATION.name for attempt in result.attempts)
    if again:
        lines.append(f"{again} of them scored again with the evidence changed")
    lines += [
        f"{agent}: {', '.join(models.answered_by) or 'no model answered'}"
        for agent, models in result.models.items()
    ]
    lines += [
        f"{failure.stage}{part_of_failure(failure)}: {failure.message} "
        f"({failure.code.value if failure.code else '-'})"
        for failure in result.failures
    ]
    _section(out, f"Account: {result.status.value}", "\n".join(lines))
