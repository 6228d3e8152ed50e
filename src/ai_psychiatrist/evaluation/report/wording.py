"""Figures, counts, shares and codes as people read them."""

from typing import Final

from ai_psychiatrist.evaluation.metrics.run_metrics import Scale
from ai_psychiatrist.statistics.figure import Figure

NO_PRICE: Final = "no price known"


def as_shown(value: float, scale: Scale, *, finer: int = 0) -> float:
    """Round a value to the digits that are shown, a share in per cent; `finer`: further digits."""
    return round(value * (100 if scale is Scale.SHARE else 1), scale.value[2] + finer) + 0.0


def number(value: float, scale: Scale, *, signed: bool = False, finer: int = 0) -> str:
    """Write a value, a share in per cent; a true minus sign, and no minus before zero."""
    shown = as_shown(value, scale, finer=finer)
    sign = "\u2212" if shown < 0 else "+" if signed and shown > 0 else ""
    return f"{sign}{abs(shown):.{scale.value[2] + finer}f}"


def amount(value: float, scale: Scale, *, signed: bool = False, finer: int = 0) -> str:
    """Write a value with its unit; a difference of shares is one of percentage points."""
    unit = " pp" if signed and scale is Scale.SHARE else scale.value[3]
    return number(value, scale, signed=signed, finer=finer) + unit.replace(" ", "\u00a0")


def span(figure: Figure, scale: Scale, *, signed: bool = False, finer: int = 0) -> str | None:
    """Write the interval of a figure, or `None` when it has none."""
    if figure.interval is None:
        return None
    low, high = figure.interval
    start = number(low, scale, signed=signed, finer=finer)
    return f"{start} to {amount(high, scale, signed=signed, finer=finer)}"


def grouped(count: float) -> str:
    """Write a whole number with a thin space between thousands."""
    return f"{count:,.0f}".replace(",", "\u202f")


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


def in_words(code: str) -> str:
    """Write a code such as `zero_without_denial` as words."""
    return code.replace("_", " ")


def money(usd: object) -> str:
    """Write an amount in USD, or that none is known."""
    if not isinstance(usd, int | float):
        return NO_PRICE
    return f"USD {usd:,.2f}" if usd >= 1 or usd == 0 else f"USD {usd:.4f}"
