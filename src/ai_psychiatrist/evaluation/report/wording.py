"""Counts, shares and codes as people read them."""


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


def words(code: str) -> str:
    """Write a code such as `zero_without_denial` as words."""
    return code.replace("_", " ")
