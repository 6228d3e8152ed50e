"""The lines of the table, and what each says of its bar."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One measured figure."""

    figure: str
    measured: str
    bar: str
    is_met: bool
    note: str = ""

    def __str__(self) -> str:
        """Return a line of the table."""
        word = "ok" if self.is_met else "MISSED"
        return f"{word:7} {self.figure:52} {self.measured:>14}  {self.bar:14} {self.note}".rstrip()


def at_most(figure: str, measured: float, bar: float, unit: str = "", *, note: str = "") -> Verdict:
    """Return the verdict on a figure that may not be larger than its bar."""
    return Verdict(
        figure=figure,
        measured=f"{measured:,.0f} {unit}" if bar >= 10 else f"{measured:,.2f} {unit}",
        bar=f"≤ {bar:,.0f} {unit}".rstrip() if bar >= 10 else f"≤ {bar:,.1f} {unit}".rstrip(),
        is_met=measured <= bar,
        note=note,
    )


def all_of(figure: str, count: int, wanted: int, *, note: str = "") -> Verdict:
    """Return the verdict on something that has to hold each time."""
    return Verdict(
        figure=figure,
        measured=f"{count} of {wanted}",
        bar="all",
        is_met=count == wanted,
        note=note,
    )
