import pytest

from ai_psychiatrist.validation.reply.tags import has_unclosed_tag, tagged_block


@pytest.mark.parametrize(
    ("reply", "block"),
    [
        pytest.param("<note>a</note>", "a", id="plain"),
        pytest.param("<NOTE> a \n</Note>", "a", id="other_case_and_space"),
        pytest.param("<note>a</note><note>b</note>", "b", id="last_one_counts"),
        pytest.param("in <note> tags: <note>a</note>", "a", id="mentioned_before"),
        pytest.param("<note><note>a</note>", "a", id="opened_twice"),
        pytest.param("<note>a<b>c</b></note>", "a<b>c</b>", id="other_tags_inside"),
        pytest.param("<note></note>", "", id="empty"),
        pytest.param("İ <note>a</note>", "a", id="letter_that_lower_case_lengthens"),
        pytest.param("a</note>", None, id="never_opened"),
        pytest.param("<note>a", None, id="never_closed"),
        pytest.param("<notes>a</notes>", None, id="longer_name"),
        pytest.param("</note><note>", None, id="wrong_way_round"),
        pytest.param("", None, id="empty_reply"),
    ],
)
def test_last_innermost_block_of_a_tag_is_found(reply: str, block: str | None) -> None:
    assert tagged_block(reply, "note") == block


@pytest.mark.parametrize(
    ("reply", "is_unclosed"),
    [
        pytest.param("<note>a", True, id="open"),
        pytest.param("<note>a</note> <NOTE>b", True, id="opened_again"),
        pytest.param("<note>a</note>", False, id="closed"),
        pytest.param("a", False, id="no_tag"),
    ],
)
def test_tag_of_a_reply_that_was_cut_off_is_unclosed(reply: str, is_unclosed: bool) -> None:
    assert has_unclosed_tag(reply, "note") is is_unclosed
