"""Signs of danger, for people to read in a terminal."""

from rich.console import Console
from rich.text import Text

from ai_psychiatrist.cli.plain_text import plain
from ai_psychiatrist.domain.risk import ReadingStatus, RiskLevel, RiskSource
from ai_psychiatrist.results.risk_result import ExaminedResult, RiskResult

_LEVEL_STYLES = {
    RiskLevel.NONE: "dim",
    RiskLevel.LOW: "yellow",
    RiskLevel.NOT_EXAMINED: "bold yellow",
    RiskLevel.MODERATE: "bold yellow",
    RiskLevel.HIGH: "bold red",
}


def print_risk(out: Console, risk: RiskResult, *, where: str = "") -> None:
    """Print the signs of danger, what was not read for them, and whom to turn to."""
    level = risk.level.value.replace("_", " ")
    out.print(Text(f"Signs of danger{where}: {level}", style=_LEVEL_STYLES[risk.level]))
    for signal in risk.signals:
        by_model = ", found by a model" if signal.source is RiskSource.MODEL else ""
        kind = f"{signal.kind.value.replace('_', ' ')}, {signal.polarity.value}{by_model}"
        line = Text(f"  {signal.level.value}: “{plain(signal.text)}” ")
        place = f"[{kind}; turn {signal.turn + 1}, {signal.start}-{signal.end}]"
        out.print(line.append(place, style="dim"))
    if risk.signal_count > len(risk.signals):
        out.print(f"  and {risk.signal_count - len(risk.signals):,} more")
    _unexamined(out, risk.examined)
    _reading(out, risk)
    out.print(Text(risk.statement, style="dim"))
    if risk.level is not RiskLevel.NONE:
        out.print(Text(plain(risk.resources), style="bold"))
    out.print()


def _reading(out: Console, risk: RiskResult) -> None:
    """Print that the model that reads for danger failed, or gave signs that nobody spoke of."""
    model = risk.model
    if model.status is ReadingStatus.FAILED:
        code = "" if model.code is None else f" ({model.code.value})"
        words = f"The model that reads for danger failed{code}: these are the fixed phrases' alone."
        out.print(Text(words, style="bold yellow"))
    if model.completed_count:
        words = (
            f"  {model.completed_count} signs of the model could not be read whole: what is "
            "missing of them counts as said"
        )
        out.print(Text(words, style="yellow"))
    if model.refused_count:
        words = f"  left out: {model.refused_count} signs of a model in words that nobody said"
        out.print(Text(words, style="yellow"))


def _unexamined(out: Console, examined: ExaminedResult) -> None:
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
