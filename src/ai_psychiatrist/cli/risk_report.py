"""Signs of danger, for people to read in a terminal."""

from textwrap import shorten
from typing import Final

from rich.console import Console
from rich.text import Text

from ai_psychiatrist.cli.console import plain
from ai_psychiatrist.domain.risk import (
    Examined,
    ReaderStatus,
    ReadingStatus,
    RiskGroup,
    RiskLevel,
    RiskReport,
    RiskSignal,
    RiskSource,
)
from ai_psychiatrist.results.page.words import words
from ai_psychiatrist.results.wording import (
    danger_headline,
    read_first_words,
    sentence_parts,
    signal_groups,
)

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


def print_risk(out: Console, risk: RiskReport, *, where: str = "") -> None:
    """Print the signs of danger, what was not read for them, and whom to turn to."""
    out.print(Text(danger_headline(risk, where=where), style=_LEVEL_STYLES[risk.level]))
    for group, signals in signal_groups(risk.signals).items():
        out.print(Text(f"{words(group)} ({len(signals)})", style=_GROUP_STYLES[group]))
        for signal in signals:
            _statement(out, signal)
    if risk.signal_count > len(risk.signals):
        out.print(f"  and {risk.signal_count - len(risk.signals):,} more")
    _read_first(out, risk)
    _unexamined(out, risk.examined)
    _reading(out, risk)
    out.print(Text(risk.statement, style="dim"))
    if risk.signals or risk.level is not RiskLevel.NONE:
        out.print(Text(plain(risk.resources), style="bold"))
    out.print()


def _statement(out: Console, signal: RiskSignal) -> None:
    """Print a statement: its question, the sentence that it stands in, and what it is taken for."""
    if signal.question is not None and signal.question_turn is not None:
        asked = f"  turn {signal.question_turn + 1}, interviewer: “{plain(signal.question)}”"
        out.print(Text(asked, style="dim"))
    level = "" if signal.group is RiskGroup.DENIED else f"{signal.level.value}: "
    parts = sentence_parts(signal)
    line = Text(f"  {level}“{plain(parts.before)}")
    line.append(plain(parts.said), style="bold").append(f"{plain(parts.after)}” ")
    found_by = "" if signal.source is RiskSource.RULES else f", {words(signal.source)}"
    kind = f"{signal.kind.value.replace('_', ' ')}, {signal.polarity.value}{found_by}"
    place = f"turn {signal.turn + 1}, {signal.start}-{signal.end}"
    out.print(line.append(f"[{kind}; {place}]", style="dim"))


def _read_first(out: Console, risk: RiskReport) -> None:
    """Print the passages that the learned reader ranks highest, and whether it took part."""
    reader = risk.reader
    if reader.read_first:
        out.print(Text(read_first_words(reader)))
    for one in reader.read_first:
        line = Text(f"  “{plain(_shortened(one.text))}” ")
        out.print(line.append(f"[turn {one.turn + 1}, {one.start}-{one.end}]", style="dim"))
    style = "bold yellow" if reader.status is ReaderStatus.FAILED else "dim"
    out.print(Text(f"{words(reader.status)}.", style=style))


def _shortened(text: str) -> str:
    """Return the start of a passage, as much as a line or two hold."""
    return shorten(text, width=_PASSAGE_CHARACTERS, placeholder=" …")


def _reading(out: Console, risk: RiskReport) -> None:
    """Print that the model that reads for danger failed, or gave signs that nobody spoke of."""
    model = risk.model
    if model.status is ReadingStatus.FAILED:
        code = "" if model.code is None else f" ({model.code.value})"
        found = "these are the fixed phrases' alone"
        if model.sign_count:
            found = "a part of the interview was not read; what it found in the others is listed"
        said = f"The model that reads for danger failed{code}: {found}."
        out.print(Text(said, style="bold yellow"))
    if model.completed_count:
        said = (
            f"  {model.completed_count} signs of the model could not be read whole: what is "
            "missing of them counts as said"
        )
        out.print(Text(said, style="yellow"))
    if model.refused_count:
        said = f"  left out: {model.refused_count} signs of a model in words that nobody said"
        out.print(Text(said, style="yellow"))


def _unexamined(out: Console, examined: Examined) -> None:
    """Print which turns were not read, and what to do about it."""
    if not examined.count_not_examined:
        return
    out.print(Text(examined.statement, style="bold yellow"))
    share = "" if examined.share is None else f"; {examined.share:.0%} of the words were read"
    turns = ", ".join(
        f"{one.turn + 1} ({one.language}{'' if one.is_whole else ', in part'})"
        for one in examined.turns_not_examined
    )
    left_out = examined.count_not_examined - len(examined.turns_not_examined)
    more = f" and {left_out:,} more" if left_out else ""
    out.print(Text(f"  Turns: {turns}{more}{share}", style="yellow"))
