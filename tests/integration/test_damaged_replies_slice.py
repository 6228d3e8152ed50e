"""A slice of the damaged replies: none is read wrongly, most are read."""

from tests.fuzz.damaged_replies import ENOUGH_READ, KINDS, run_damaged_replies, share_read, total


def test_damaged_replies_are_read_right_or_refused() -> None:
    tallies = run_damaged_replies(range(12 * len(KINDS)))

    assert total(tallies).wrong_replies == []
    assert share_read(tallies) >= ENOUGH_READ
    assert sum(tallies["none"].ours.values()) == tallies["none"].ours["right"] == 12
