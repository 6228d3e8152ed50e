"""What figures are measured in, and which direction of them is an improvement."""

from enum import Enum


class Better(Enum):
    """Which direction of a figure, or of a difference, is an improvement."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


class Scale(Enum):
    """What a figure is measured in: its ends, how many decimals it is read to, its unit."""

    ITEM_POINTS = (0.0, 3.0, 2, "")
    TOTAL_POINTS = (0.0, 24.0, 1, "")
    ITEMS = (0.0, 8.0, 1, "")
    """How many of the eight items."""
    SHARE = (0.0, 1.0, 0, " %")
    AGREEMENT = (-1.0, 1.0, 2, "")
    UNIT = (0.0, 1.0, 3, "")
    """Areas and scores between 0 and 1 that are no shares."""
    SIGNED_ITEM_POINTS = (-3.0, 3.0, 2, "")
    SIGNED_TOTAL_POINTS = (-24.0, 24.0, 1, "")

    @property
    def signed(self) -> "Scale":
        """The scale of differences between its points."""
        return {
            Scale.ITEM_POINTS: Scale.SIGNED_ITEM_POINTS,
            Scale.TOTAL_POINTS: Scale.SIGNED_TOTAL_POINTS,
        }.get(self, self)
