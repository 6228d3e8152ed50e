"""A figure as a row of the report shows it: its words, and where its mark lies on the scale."""

from dataclasses import dataclass

from ai_psychiatrist.evaluation.report.figures import Figure, Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A figure in words and positions (0-100 from the left end of its scale)."""

    value: str | None
    reason: str | None
    """Why there is no value."""
    span: str | None
    count: str | None
    dot: float | None
    low: float | None
    high: float | None
    is_wide: bool

    @property
    def spoken(self) -> str:
        """All of it as one phrase, for those who do not see the mark."""
        if self.value is None:
            return f"not defined: {self.reason}"
        parts = [self.value]
        if self.span is not None:
            parts.append(f"95 % interval {self.span}")
        if self.count is not None:
            parts.append(f"n {self.count}")
        return ", ".join(parts)


def show(figure: Figure, scale: Scale) -> Shown:
    """Show a figure on its own scale."""
    return Shown(
        value=None if figure.value is None else scale.amount(figure.value),
        reason=figure.reason,
        span=scale.span(figure),
        count=None if figure.count is None else grouped(figure.count),
        dot=None if figure.value is None else scale.position(figure.value),
        low=None if figure.low is None else scale.position(figure.low),
        high=None if figure.high is None else scale.position(figure.high),
        is_wide=scale.is_wide(figure),
    )


def show_difference(figure: Figure, scale: Scale, *, reach: float) -> Shown:
    """Show a difference between two runs around 0, which lies at 50; `reach` is either end."""
    return Shown(
        value=None if figure.value is None else scale.amount(figure.value, signed=True),
        reason=figure.reason,
        span=scale.span(figure, signed=True),
        count=None if figure.count is None else grouped(figure.count),
        dot=_around_zero(figure.value, reach),
        low=_around_zero(figure.low, reach),
        high=_around_zero(figure.high, reach),
        is_wide=False,
    )


def _around_zero(value: float | None, reach: float) -> float | None:
    if value is None:
        return None
    return round(50 + 50 * min(max(value / reach, -1.0), 1.0), 2) if reach else 50.0


def grouped(count: int) -> str:
    """Write a count with a thin space between thousands."""
    return f"{count:,}".replace(",", "\u202f")


def percent(part: int, whole: int) -> str:
    """Write a share of counts in per cent; a share that is not 0 is never written as 0."""
    if whole == 0:
        return "none asked"
    share = 100 * part / whole
    if 0 < share < 1:
        return "<\u202f1\u00a0%"
    if 99 < share < 100:
        return ">\u202f99\u00a0%"
    return f"{share:.0f}\u00a0%"


def of(part: int, whole: int) -> str:
    """Write a share with the counts that it comes from."""
    return f"{grouped(part)} of {grouped(whole)} ({percent(part, whole)})"


def words(code: str) -> str:
    """Write a code such as `zero_without_denial` as words."""
    return code.replace("_", " ")
