"""An interview for people to read in a terminal: its questions, and what came out of it."""

from rich.console import Console
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from ai_psychiatrist.agents.interview.outputs import AnalysisReply
from ai_psychiatrist.api.interview_models import (
    DangerResult,
    InterviewReportResult,
    ItemOutcomeResult,
    TotalResult,
)
from ai_psychiatrist.cli.console import plain
from ai_psychiatrist.domain.interview import Question
from ai_psychiatrist.domain.interview_items import (
    ItemSource,
    Proposal,
    ProposalOutcome,
    ProposalSource,
)
from ai_psychiatrist.domain.phq8 import MAX_TOTAL_SCORE, Severity
from ai_psychiatrist.domain.risk import ReadingStatus, RiskSource
from ai_psychiatrist.results.wording import unknown_items_words


def print_question(out: Console, question: Question, *, with_hint: bool) -> None:
    """Print a question with its lettered answers, and how to answer."""
    out.print(Text(plain(question.text), style="bold"))
    for letter, option in question.lettered.items():
        out.print(Text(f"   {letter}  {plain(option.text)}"))
    if with_hint:
        words = "a letter, or your own words" if question.allows_free_text else "a letter"
        out.print(Text(f"   Type {words}; stop ends the interview.", style="dim"))


def print_answer(out: Console, line: str) -> None:
    """Print an answer that came from a file or a pipe."""
    out.print(Text(f"> {plain(line)}", style="dim"))


def print_spoken(out: Console, text: str) -> None:
    """Print what is said between the questions."""
    if text:
        out.print(Text(plain(text)))
        out.print()


def print_interview_report(out: Console, report: InterviewReportResult) -> None:
    """Print the signs of danger, and the updated items or the analysis."""
    if report.danger is not None:
        _danger(out, report.danger)
    for one in report.reopenings:
        at = f"{one.at:%Y-%m-%d %H:%M} UTC"
        out.print(Text(f"Reopened {at} by {plain(one.author)}: {plain(one.reason)}"))
    if report.items is not None and report.total is not None:
        _items(out, report.items, report.total)
        _proposals(out, report.proposals)
    if report.analysis is not None:
        _analysis(out, report, report.analysis)
    if answers := ", ".join(f"{one.turn} ({one.language})" for one in report.not_examined):
        out.print(
            Text(
                f"Not examined: answers {answers}. Only English is read, so signs of danger in "
                "them are not found. A person who knows the language has to read them.",
                style="bold yellow",
            )
        )
    unread = [one for one in report.danger_readings if one.status is ReadingStatus.FAILED]
    if answers := ", ".join(f"{one.turn} ({one.code})" for one in unread):
        words = f"The model that reads for danger failed at answers {answers}: the rules read them."
        out.print(Text(words, style="yellow"))
    if report.end_reason is not None:
        out.print(f"Ended: {report.end_reason.value.replace('_', ' ')}")
    out.print(Text(report.notice, style="dim"))


def _danger(out: Console, danger: DangerResult) -> None:
    kinds = ", ".join(category.value.replace("_", " ") for category in danger.categories)
    by_model = ", found by a model" if danger.source is RiskSource.MODEL else ""
    out.print(Text(f"Signs of danger: {danger.level.value} ({kinds}{by_model})", style="bold red"))
    for one in danger.statements:
        out.print(Text(f"  answer {one.turn}, to “{plain(one.question)}”:"))
        out.print(Text(f"    “{plain(one.sentence)}”"))
    out.print(Text(danger.statement, style="dim"))
    out.print()


def _items(out: Console, items: dict[str, ItemOutcomeResult], total: TotalResult) -> None:
    columns = Column("Item", ratio=2), Column("Score", ratio=2)
    source = Column("Where it comes from", ratio=6)
    table = Table(*columns, source, show_lines=True, expand=True)
    for item in items.values():
        table.add_row(Text(item.label), _score(item), Text(_source(item)))
    out.print(table)
    out.print(Text(_total(total), style="bold"))


def _score(item: ItemOutcomeResult) -> Text:
    if item.score is not None:
        return Text(str(item.score), style="bold")
    reason = item.unknown_reason.value.replace("_", " ") if item.unknown_reason else ""
    return Text(f"unknown: {reason}", style="yellow")


def _source(item: ItemOutcomeResult) -> str:
    match item.source:
        case ItemSource.TRANSCRIPT:
            return "\n".join(["transcript", *(f"“{plain(quote)}”" for quote in item.evidence)])
        case ItemSource.ANSWER | ItemSource.EARLIER_ANSWER:
            earlier = "" if item.interview is None else "an earlier interview, "
            quote = f": “{plain(item.quote.text)}”" if item.quote else ""
            confirmed = f"\nread back, confirmed in answer {item.confirmed_turn}"
            more = "" if item.confirmed_turn is None else confirmed
            return f"{earlier}answer {item.answer_turn}{quote}{more}"
        case ItemSource.NONE:
            return ""


def _proposals(out: Console, proposals: tuple[Proposal, ...]) -> None:
    """Print what answers were read as that was not confirmed."""
    for one in proposals:
        if one.outcome is not ProposalOutcome.CONFIRMED:
            reader = "a model" if one.source is ProposalSource.MODEL else "the rules"
            score = "" if one.score is None else f"read by {reader} as {one.score}, "
            code = "" if one.failure is None else f" ({one.failure.value})"
            outcome = one.outcome.value.replace("_", " ")
            out.print(Text(f"Answer {one.turn}, {one.item.label}: {score}{outcome}{code}"))


def _total(total: TotalResult) -> str:
    if total.total_score is not None:
        return f"Total: {total.total_score} of {MAX_TOTAL_SCORE}, {total.severity_label}"
    bounds = (total.severity_lower_bound, total.severity_upper_bound)
    span = " to ".join(dict.fromkeys(Severity(bound).label for bound in bounds))
    return (
        f"Total: between {total.total_score_min} and {total.total_score_max} of {MAX_TOTAL_SCORE} "
        f"({unknown_items_words(total.na_count)}), {span}"
    )


def _analysis(out: Console, report: InterviewReportResult, analysis: AnalysisReply) -> None:
    verdict = analysis.verdict
    sections = {
        "What was to be found out, and how sure it is": [
            f"{goal.confidence:>3} %  {goal.text}" for goal in report.goals
        ],
        "Timeline": [f"{entry.time}: {entry.event}" for entry in analysis.timeline],
        "Key facts": analysis.key_facts,
        "Gaps": analysis.gaps,
        "Verdict, as a model sees it after one interview": [
            f"{verdict.primary_responsibility}: {verdict.percentage} %",
            verdict.reasoning,
            f"Also: {verdict.contributing_factors}",
            f"Drama: {verdict.drama_rating} of 10. {verdict.drama_rating_explanation}",
            *(f"{share.name}: {share.percentage} %" for share in verdict.shares),
        ],
    }
    for title, lines in sections.items():
        out.print(Text(title, style="bold"))
        body = "\n".join(plain(line) for line in lines if line) or "none"
        out.print(Padding(Text(body), (0, 0, 1, 2)))
