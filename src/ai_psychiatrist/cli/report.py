"""An assessment for people to read in a terminal: danger first, then scores, words, the account."""

from collections.abc import Iterator, Sequence
from textwrap import shorten
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ai_psychiatrist.agents.pydantic_agents import ABLATION
from ai_psychiatrist.cli.console import console_of, plain, say
from ai_psychiatrist.domain.assessment import Assessment, AssessmentStatus
from ai_psychiatrist.domain.drive import (
    Change,
    DriveVerdict,
    ItemDrive,
    ScoringEnd,
)
from ai_psychiatrist.domain.evidence import Frequency, Quote, Timeframe
from ai_psychiatrist.domain.items import ItemAssessment, PHQ8Assessment
from ai_psychiatrist.domain.narrative import Metric, MetricScore
from ai_psychiatrist.domain.risk import (
    ReaderStatus,
    ReadingStatus,
    RiskGroup,
    RiskLevel,
    RiskReport,
    RiskSource,
)
from ai_psychiatrist.llm.reasons import Reason
from ai_psychiatrist.results.page.sentences import band_words, believed_total, total_words
from ai_psychiatrist.results.page.words import words
from ai_psychiatrist.results.wording import (
    UNANSWERED,
    counted_words,
    danger_headline,
    part_of_failure,
    parts_words,
    read_first_words,
    sentence_parts,
    signal_groups,
    unknown_items_words,
    unknown_words,
)
from ai_psychiatrist.services.risk.answers import is_unanswered

_PIPE_WIDTH: Final = 100
_ITEM_WIDTH: Final = 13
_SCORE_WIDTH: Final = 12
"""As long as the longest words of the two columns."""

_VERDICT_STYLES: Final = {
    DriveVerdict.EVIDENCE_DRIVEN: "green",
    DriveVerdict.OVER_DETERMINED: "green",
    DriveVerdict.NOT_EVIDENCE_DRIVEN: "bold red",
    DriveVerdict.UNDETERMINED: "yellow",
}
_LEVEL_STYLES = {
    RiskLevel.NONE: "dim",
    RiskLevel.LOW: "yellow",
    RiskLevel.NOT_EXAMINED: "bold yellow",
    RiskLevel.MODERATE: "bold yellow",
    RiskLevel.HIGH: "bold red",
}

_PASSAGE_CHARACTERS: Final = 160

_GROUP_STYLES = {
    RiskGroup.READ_NOW: "bold",
    RiskGroup.FOUND_BY_WORDS_ALONE: "",
    RiskGroup.PAST_OR_OF_OTHERS: "",
    RiskGroup.DENIED: "dim",
}


def print_report(result: Assessment, console: Console | None = None) -> None:
    """Print a result; texts of transcript and models are shown as they are and never act."""
    out = console or console_of(_PIPE_WIDTH)
    print_risk(out, result.risk)
    for line in (*_heading(result), *_transcript(result), ""):
        out.print(line)
    if result.quantitative is not None:
        _scores(out, result, result.quantitative)
    for title, text in _sections(result):
        out.print(Text(title, style="bold"))
        out.print(Padding(Text(plain(text)), (0, 0, 1, 2)))


def _heading(result: Assessment) -> Iterator[str | Text]:
    yield Text("PHQ-8 assessment", style="bold")
    yield Text(result.notice, style="dim")
    scores, band = result.quantitative, band_words(result)
    if scores is None or total_words(result) == "none":
        yield f"Total: none, {band}"
    elif scores.total_score is not None:
        yield f"Total: {scores.total_score} of 24, {band}"
    else:
        yield (
            f"Total: between {scores.total_score_min} and {scores.total_score_max} of 24 "
            f"({unknown_items_words(scores.na_count)}), {band}"
        )
    if believed := believed_total(result):
        yield Text(believed, style="dim")


def _transcript(result: Assessment) -> Iterator[str | Text]:
    """Yield whose words count, and what was assumed about the file."""
    read = result.transcript
    if result.speakers_assumed:
        yield "The transcript has no speaker labels: all of it counts as the participant's."
    else:
        speakers = (
            f"{plain(one.label or 'no label')} {one.role.value} ({one.turns})"
            for one in read.speakers
        )
        yield Text(f"Speakers (turns): {', '.join(speakers)}")
    notes = (
        f"{words(note.code)} ({note.count})"
        for note in read.notes
        if note.code != "speakers_assumed"
    )
    form = read.form if read.encoding is None else f"{read.form} in {read.encoding}"
    yield Text(f"Read as {form}. {', '.join(notes)}".strip(), style="dim")
    if in_parts := parts_words(read):
        yield Text(in_parts)
    if any(note.code == "possible_dialogue" for note in read.notes):
        yield Text(
            "It looks like questions and answers: an interviewer's words may count as the "
            "participant's. Begin each line with who speaks.",
            style="bold",
        )
    if any(note.code == "words_set_aside" for note in read.notes):
        yield Text("Stretches of the participant's turns were set aside: label who says them.")


def _scores(out: Console, result: Assessment, scores: PHQ8Assessment) -> None:
    table, items = Table(show_lines=True, expand=True), [*scores.items.values()]
    has_drives = any(item.drive is not None for item in items)
    # Beside one more column, a share of a narrow terminal would be too little for a whole word.
    share = None if has_drives else 2
    table.add_column("Item", ratio=share, max_width=_ITEM_WIDTH if has_drives else None)
    table.add_column("Score", ratio=share, max_width=_SCORE_WIDTH if has_drives else None)
    table.add_column("The participant's words, and where they stand", ratio=7, overflow="fold")
    if has_drives:
        table.add_column("Does the evidence drive it?", ratio=4, overflow="fold")
    for item in items:
        evidence = _evidence(item, result.transcript.turn_seconds)
        drives = () if item.drive is None else (_drive(item.drive),)
        table.add_row(Text(item.label), _score(result, item), evidence, *drives)
    out.print(table)
    if scores.na_count and total_words(result) != "none":
        out.print(Text("An unknown item is not a 0: the total is a range.", style="dim"))
    out.print()


def _score(result: Assessment, item: ItemAssessment) -> Text:
    """Return an item's answer, the belief in it, and the set of scores that it lies in."""
    if item.score is None:
        proposed = "" if item.proposed_score is None else f"\n(proposed {item.proposed_score})"
        shown = Text(f"unknown: {unknown_words(item, result)}{proposed}", style="yellow")
    else:
        confidence = "" if item.confidence is None else f"\nconfidence {item.confidence}/5"
        shown = Text(f"{item.score}{confidence}", style="bold")
        if item.score and item.frequency is Frequency.UNSTATED:
            is_stated = any(quote.frequency is not Frequency.UNSTATED for quote in item.evidence)
            warning = "frequency not plain" if is_stated else "frequency never stated"
            shown.append(f"\n{warning}", style="yellow")
    if (belief := item.belief) is not None and belief.calibrated:
        share = belief.not_determinable if item.score is None else belief.scores[item.score]
        shown.append(f"\nbelief {share:.0%}", style="not bold dim")
        if (found := belief.set) is not None:
            span = dict.fromkeys(str(end) for end in (found.low, found.high) if end is not None)
            parts = ["-".join(span), "unknown" if found.not_determinable else ""]
            scores = " or ".join(part for part in parts if part)
            shown.append(f"\nset {scores} ({found.level:.0%})", style="not bold dim")
    return shown


def _drive(drive: ItemDrive) -> Text:
    """Return the verdict, its reason, and the score under each change."""
    lines = [f"{words(drive.verdict)}: {words(drive.reason)}"]
    for change in Change:
        found = drive.scores[change]
        code = "" if found.code is None else f" ({found.code.value})"
        end = str(found.score) if found.end is ScoringEnd.SCORED else words(found.end)
        lines.append(f"{words(change)}: {end}{code}")
    return Text("\n".join(lines), style=_VERDICT_STYLES[drive.verdict])


def _evidence(item: ItemAssessment, turn_seconds: Sequence[float | None]) -> Text:
    """Return the quotes of an item, and the answer to its question from which nothing was read."""
    parts = [_quote(quote, turn_seconds) for quote in item.evidence]
    if (unread := item.unread_answer) is not None:
        for who, said, turn in (
            ("asked", unread.question, unread.question_turn),
            ("answered", unread.answer, unread.answer_turn),
        ):
            line = Text(f"{who}: “{plain(said)}” ", style="yellow")
            parts.append(line.append(f"[turn {turn + 1}{_at(turn_seconds, turn)}]", style="dim"))
    lines = Text("\n").join(parts)
    for quote in item.unverified_quotes:
        reason = words(quote.reason) if quote.reason else "not checked"
        lines.append(f"\nunverified ({reason}): {plain(quote.text)}", style="red")
    return lines


def _quote(quote: Quote, turn_seconds: Sequence[float | None]) -> Text:
    places = ", ".join(
        f"turn {part.turn + 1}{_at(turn_seconds, part.turn)}, {part.start}-{part.end}"
        for part in quote.segments
    )
    facts = [quote.polarity.value]
    if quote.frequency is not Frequency.UNSTATED:
        facts.append(words(quote.frequency))
    if quote.timeframe is not Timeframe.UNSTATED:
        facts.append(quote.timeframe.value)
    shown = Text(f"“{plain(quote.text)}” ")
    return shown.append(f"[{places}; {', '.join(facts)}]", style="dim")


def _at(turn_seconds: Sequence[float | None], turn: int) -> str:
    seconds = turn_seconds[turn] if turn_seconds else None
    if seconds is None:
        return ""
    minutes, rest = divmod(int(seconds), 60)
    return f" at {minutes}:{rest:02}"


def _sections(result: Assessment) -> Iterator[tuple[str, str]]:
    """Yield titles and texts: the findings, their judgement, the meta-review, the account."""
    if (findings := result.qualitative) is not None:
        yield "Findings", findings.overall
        yield "Symptoms", findings.phq8_symptoms
        yield "Social factors", findings.social_factors
        yield "Biological factors", findings.biological_factors
        yield "Risk factors", findings.risk_factors
        quotes = (
            f"“{plain(quote.text)}”{'' if quote.verified else '  [unverified]'}"
            for quote in findings.supporting_quotes
        )
        yield "Quotes", "\n".join(quotes) or "none"
    if (judged := result.evaluation) is not None:
        scores = [_judged(metric, score) for metric, score in judged.best.scores.items()]
        kept = f"Round {judged.iteration + 1} of {len(judged.rounds)} was kept."
        yield "Judgement of the findings", "\n".join([*scores, kept])
    if (review := result.meta_review) is not None:
        text = f"Severity: {review.severity_label or 'unknown'}\n{review.explanation}"
        if review.contradicts_item_scores:
            text += "\nThis severity contradicts the range that the item scores allow."
        yield "Meta-review", text
    yield f"Account: {result.status.value}", "\n".join(_account(result))


def _judged(metric: Metric, score: MetricScore) -> str:
    """Return a judge's score, or what rules counted: that they find nothing wrong is no praise."""
    if counted := counted_words(score.explanation):
        return f"{metric.value}, counted by rules: {counted}"
    return f"{metric.value}: {score.score} of 5. {score.explanation}"


def _account(result: Assessment) -> Iterator[str]:
    rejected = sum(attempt.code is not None for attempt in result.attempts)
    yield f"{len(result.attempts)} model calls, {rejected} of them without an accepted reply"
    if result.hosts:
        yield f"Words of the transcript were sent to {', '.join(result.hosts)}"
    if again := sum(attempt.agent == ABLATION.name for attempt in result.attempts):
        yield f"{again} of them scored again with the evidence changed"
    for agent, models in result.models.items():
        yield f"{agent}: {', '.join(models.answered_by) or 'no model answered'}"
    for failure in result.failures:
        code = failure.code.value if failure.code else "-"
        yield f"{failure.stage}{part_of_failure(failure)}: {failure.message} ({code})"


def print_risk(out: Console, risk: RiskReport, *, where: str = "") -> None:
    """Print the signs of danger, what was not read for them, and whom to turn to."""
    out.print(Text(danger_headline(risk, where=where), style=_LEVEL_STYLES[risk.level]))
    for line in (*_statements(risk), *_read_first(risk), *_unread(risk)):
        out.print(line)
    out.print(Text(risk.statement, style="dim"))
    if risk.signals or risk.level is not RiskLevel.NONE:
        out.print(Text(plain(risk.resources), style="bold"))
    out.print()


def _statements(risk: RiskReport) -> Iterator[Text]:
    """Yield each statement: its question, the sentence it stands in, what it is taken for."""
    for group, signals in signal_groups(risk.signals).items():
        yield Text(f"{words(group)} ({len(signals)})", style=_GROUP_STYLES[group])
        for signal in signals:
            if signal.question is not None and signal.question_turn is not None:
                asked = f"turn {signal.question_turn + 1}, interviewer: “{plain(signal.question)}”"
                yield Text(f"  {asked}", style="dim")
            level = "" if signal.group is RiskGroup.DENIED else f"{signal.level.value}: "
            parts = sentence_parts(signal)
            line = Text(f"  {level}“{plain(parts.before)}")
            line.append(plain(parts.said), style="bold").append(f"{plain(parts.after)}” ")
            found_by = "" if signal.source is RiskSource.RULES else f", {words(signal.source)}"
            spoken_of = UNANSWERED if is_unanswered(signal) else signal.polarity.value
            kind = f"{signal.kind.value.replace('_', ' ')}, {spoken_of}{found_by}"
            place = f"turn {signal.turn + 1}, {signal.start}-{signal.end}"
            yield line.append(f"[{kind}; {place}]", style="dim")
    if risk.signal_count > len(risk.signals):
        yield Text(f"  and {risk.signal_count - len(risk.signals):,} more")


def _read_first(risk: RiskReport) -> Iterator[Text]:
    """Yield the passages that the learned reader ranks highest, and whether it took part."""
    reader = risk.reader
    if reader.read_first:
        yield Text(read_first_words(reader))
    for one in reader.read_first:
        passage = shorten(one.text, width=_PASSAGE_CHARACTERS, placeholder=" …")
        line = Text(f"  “{plain(passage)}” ")
        yield line.append(f"[turn {one.turn + 1}, {one.start}-{one.end}]", style="dim")
    style = "bold yellow" if reader.status is ReaderStatus.FAILED else "dim"
    yield Text(f"{words(reader.status)}.", style=style)


def _unread(risk: RiskReport) -> Iterator[Text]:
    """Yield which turns were not read, and what is missing of a model's reading."""
    examined, model = risk.examined, risk.model
    if examined.count_not_examined:
        yield Text(examined.statement, style="bold yellow")
        share = "" if examined.share is None else f"; {examined.share:.0%} of the words were read"
        turns = ", ".join(
            f"{one.turn + 1} ({one.language}{'' if one.is_whole else ', in part'})"
            for one in examined.turns_not_examined
        )
        left_out = examined.count_not_examined - len(examined.turns_not_examined)
        more = f" and {left_out:,} more" if left_out else ""
        yield Text(f"  Turns: {turns}{more}{share}", style="yellow")
    if model.status is ReadingStatus.FAILED:
        code = "" if model.code is None else f" ({model.code.value})"
        found = "these are of the fixed phrases only"
        if model.sign_count:
            found = "a part of the interview was not read; what it found in the others is listed"
        said = f"The model that reads for danger failed{code}: {found}."
        yield Text(said, style="bold yellow")
    if model.completed_count:
        said = (
            f"  {model.completed_count} signs of the model could not be read whole: what is "
            "missing of them counts as said"
        )
        yield Text(said, style="yellow")
    if model.refused_count:
        said = f"  left out: {model.refused_count} signs of a model in words that were not said"
        yield Text(said, style="yellow")


def tell_causes(status: AssessmentStatus, causes: Sequence[Reason]) -> None:
    """Name the models and addresses that were tried, the codes and the cures; nothing if whole."""
    if status is AssessmentStatus.COMPLETE:
        return
    for cause in causes:
        tried = cause.model if cause.address is None else f"{cause.model} at {cause.address}"
        status_code = "" if cause.http_status is None else f", HTTP {cause.http_status}"
        words = f"{tried}: {cause.code.value}{status_code}\n  {cause.cure}"
        say(plain(words))
    for model in dict.fromkeys(cause.model for cause in causes):
        tell_doctor(model)


def tell_doctor(model: str) -> None:
    """Name the command that looks closer."""
    say(plain(f"For a closer look: ai-psychiatrist doctor --model {model}"))
